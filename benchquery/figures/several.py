"""Pictures that compare several tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from benchquery.analysis.agreement import agreement_matrix
from benchquery.analysis.transfer import transfer_matrix
from benchquery.figures.style import draw_matrix, new_figure
from benchquery.table import ArchTable

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure

_PANELS = {"pearson": "Pearson", "kendall": "Kendall", "top_overlap": "overlap of the top 5%"}


def agreement(tables: Mapping[str, ArchTable], by: str = "perf") -> mpl_figure.Figure:
    """Draw how alike tables rank architectures, by three measures (Figure 4)."""
    figure = new_figure(13, 4.6)
    names = list(tables)
    for axes, (measure, heading) in zip(figure.subplots(1, 3), _PANELS.items(), strict=True):
        draw_matrix(axes, agreement_matrix(tables, measure, by), names, names)
        axes.set_title(f"{heading} of {by}", fontsize=10)
    return figure


def transfer(tables: Mapping[str, ArchTable], by: str = "perf") -> mpl_figure.Figure:
    """Draw how often one table's best architecture beats the others elsewhere (Figure 11)."""
    figure = new_figure(5.6, 5)
    axes = figure.subplots()
    names = list(tables)
    draw_matrix(axes, transfer_matrix(tables, by), names, names)
    axes.set(xlabel="judged on", ylabel="best architecture of")
    axes.set_title(f"Transfer of the best by {by}", fontsize=10)
    return figure


SEVERAL_FIGURES: Mapping[str, Callable[[Mapping[str, ArchTable]], mpl_figure.Figure]] = {
    "agreement": agreement,
    "transfer": transfer,
}
