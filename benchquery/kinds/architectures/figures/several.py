"""Pictures that compare several tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.figures.style import COLOURS, GREY, draw_matrix, finish, new_figure, title
from benchquery.kinds.architectures.analysis.agreement import agreement_matrix
from benchquery.kinds.architectures.analysis.fidelity import FIGURES, seed_figures
from benchquery.kinds.architectures.analysis.transfer import transfer_matrix
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure
    import numpy as np
else:
    np = LazyModule("numpy")

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


def fidelity(tables: Mapping[str, ArchTable]) -> mpl_figure.Figure:
    """Draw the figures of a built table against those of a reference.

    Each architecture is a point, and a line from its least seed to its greatest.

    Args:
        tables: The built table, then the reference.

    Raises:
        QueryError: If there are not two, or the first has no figures of single seeds.
    """
    if len(tables) != 2:
        raise QueryError(
            f"'fidelity' compares two tables, the built one and its reference, not {len(tables)}"
        )
    (name, built), (other, reference) = tables.items()
    figure = new_figure(9, 4.4)
    for axes, by in zip(figure.subplots(1, len(FIGURES)), FIGURES, strict=True):
        expected, seeds = reference.lookup(built.hashes, by), seed_figures(built, by)
        axes.axline((0.5, 0.5), slope=1, color=GREY, linewidth=1)
        axes.vlines(
            expected, np.nanmin(seeds, axis=1), np.nanmax(seeds, axis=1), color=COLOURS[5],
            linewidth=1,
        )  # fmt: skip
        axes.plot(expected, built.column(by), "o", markersize=3, color=COLOURS[0])
        axes.set(xlabel=f"{by} of {other}", ylabel=f"{by} of {name}")
        finish(axes)
    figure.suptitle(
        title(built, f"{len(built)} architectures, least to greatest seed"), fontsize=10
    )
    return figure
