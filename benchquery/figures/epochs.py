"""Pictures over epochs: what a training or a condensation was like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.figures.style import COLOURS, finish, new_figure
from benchquery.table.schema import CURVE_COLUMNS

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure
    import numpy as np

    from benchquery._typing import Array
else:
    np = LazyModule("numpy")


def draw_epochs(
    panels: Sequence[tuple[Mapping[str, Array], str]], epochs: Array, below: str
) -> mpl_figure.Figure:
    """Draw lines over epochs, one panel beside the other."""
    figure = new_figure(max(6.6, 4.5 * len(panels)), 3.2)
    for axes, (lines, said) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
    ):
        marker = "o" if len(epochs) < 50 else ""
        for (name, values), colour in zip(lines.items(), COLOURS, strict=False):
            axes.plot(epochs, values, marker=marker, markersize=3, color=colour, label=name)
        axes.set(xlabel=below, ylabel=said)
        axes.legend(fontsize=8)
        finish(axes)
    return figure


def draw_learning(values: Array, metric: str, below: str = "epoch") -> mpl_figure.Figure:
    """Draw a learning curve: metric and loss on all three parts of the data.

    Args:
        values: (epochs, 7), the columns as `CURVE_COLUMNS`; epochs without any figure are left out.
        metric: What the metric is called.
        below: What the epochs are called.

    Raises:
        QueryError: If no epoch has a figure.
    """
    known = np.flatnonzero(~np.isnan(values).all(axis=1))
    if not known.size:
        raise QueryError("there is no figure in this learning curve")
    shown = {column.name: values[known, i] for i, column in enumerate(CURVE_COLUMNS)}
    panels = [
        ({f"{part}_{what}": shown[f"{part}_{what}"] for part in ("train", "valid", "test")}, said)
        for what, said in (("perf", f"{metric} [fraction]"), ("loss", "loss [nat]"))
    ]
    return draw_epochs(panels, known, below)
