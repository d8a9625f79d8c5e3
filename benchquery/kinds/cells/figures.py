"""The picture of a table of cell networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery.analysis.known import known_part, left_out
from benchquery.figures.style import (
    COLOURS,
    finish,
    label,
    log_scale,
    new_figure,
    specks,
    title,
    without,
)
from benchquery.kinds.cells.columns import ACCURACIES
from benchquery.kinds.cells.table import CellTable

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure


def accuracies(table: CellTable) -> mpl_figure.Figure:
    """Draw the accuracy of every network on each dataset against the number of its weights."""
    figure = new_figure(9.5, 3.4)
    panels = figure.subplots(1, len(ACCURACIES))
    for axes, (column, dataset), colour in zip(panels, ACCURACIES.items(), COLOURS, strict=False):
        known = known_part(table, column)
        axes.scatter(
            known.column("parameters"), known.column(column), color=colour, rasterized=True,
            **specks(len(known)),
        )  # fmt: skip
        log_scale(axes)
        axes.set(xlabel=label(table, "parameters"), ylabel=label(table, column))
        finish(axes, dataset + without(left_out(table, column)))
    figure.suptitle(title(table, "Accuracy by size"), fontsize=10)
    return figure
