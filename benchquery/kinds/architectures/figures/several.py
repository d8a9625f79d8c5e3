"""Pictures that compare several tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import left_out, too_few
from benchquery.errors import QueryError
from benchquery.figures.style import COLOURS, GREY, draw_matrix, finish, new_figure, title, without
from benchquery.kinds.architectures.analysis import datasets
from benchquery.kinds.architectures.analysis.agreement import agreement_matrix
from benchquery.kinds.architectures.analysis.fidelity import FIGURES, seed_figures
from benchquery.kinds.architectures.analysis.transfer import transfer_matrix
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure
    import numpy as np
    from scipy.cluster import hierarchy
else:
    np = LazyModule("numpy")
    hierarchy = LazyModule("scipy.cluster.hierarchy", extra="analysis")

_PANELS = {"pearson": "Pearson", "kendall": "Kendall", "top_overlap": "overlap of the top 5%"}


def agreement(tables: Mapping[str, ArchTable], by: str = "perf") -> mpl_figure.Figure:
    """Draw how alike tables rank architectures, by three measures (Figure 4)."""
    figure = new_figure(13, 4.6)
    names = list(tables)
    for axes, (measure, heading) in zip(figure.subplots(1, 3), _PANELS.items(), strict=True):
        draw_matrix(axes, agreement_matrix(tables, measure, by), names, names)
        axes.set_title(f"{heading} of {by}", fontsize=10)
    _say_left_out(figure, tables, by)
    return figure


def transfer(tables: Mapping[str, ArchTable], by: str = "perf") -> mpl_figure.Figure:
    """Draw how often one table's best architecture beats the others elsewhere (Figure 11)."""
    figure = new_figure(5.6, 5)
    axes = figure.subplots()
    names = list(tables)
    draw_matrix(axes, transfer_matrix(tables, by), names, names)
    axes.set(xlabel="judged on", ylabel="best architecture of")
    axes.set_title(f"Transfer of the best by {by}", fontsize=10)
    _say_left_out(figure, tables, by)
    return figure


def dataset_map(tables: Mapping[str, ArchTable], by: str = "perf") -> mpl_figure.Figure:
    """Draw which datasets rank architectures alike: a map, and how they join into groups."""
    found = datasets.dataset_map(tables, by)
    figure = new_figure(10, 4.4)
    left, right = figure.subplots(1, 2)
    for name, place, group in zip(found.names, found.places, found.groups, strict=True):
        left.plot(*place, "o", color=COLOURS[(group - 1) % len(COLOURS)])
        left.annotate(name, place, (5, 4), textcoords="offset points", fontsize=8)
    left.set_aspect("equal", adjustable="datalim")
    left.margins(0.18)
    left.set(xlabel="the two directions in which rankings differ most")
    finish(left, f"{found.explained:.0%} of the squared distances, by {by}")
    hierarchy.dendrogram(
        found.joins, ax=right, labels=list(found.names), orientation="right",
        link_color_func=lambda _: GREY,
    )  # fmt: skip
    right.axvline(1 - found.least, color=COLOURS[1], linestyle="--", linewidth=1)
    ticks = np.arange(0, 1.01, 0.2)
    right.set_xticks(ticks, [f"{1 - tick:.1f}" for tick in ticks])
    right.set(xlabel="mean correlation at which groups join (Spearman)")
    finish(right, f"groups: {found.least:g} or more (dashed)")
    _say_left_out(figure, tables, by)
    return figure


def _say_left_out(figure: mpl_figure.Figure, tables: Mapping[str, ArchTable], by: str) -> None:
    """Say above a picture how many architectures of each table have no figure, if any."""
    counts = {name: left_out(table, by) for name, table in tables.items()}
    said = ", ".join(f"{count:,} of {name}" for name, count in counts.items() if count)
    if said:
        figure.suptitle(f"left out, without a figure: {said}", fontsize=9)


def fidelity(tables: Mapping[str, ArchTable]) -> mpl_figure.Figure:
    """Draw the figures of a built table against those of a reference.

    Each architecture is a point, and a line from its least seed to its greatest. Those without
    a figure in one of the tables are left out.

    Args:
        tables: The built table, then the reference.

    Raises:
        QueryError: If there are not two, the first has no figures of single seeds, or no
            architecture has figures in both.
    """
    if len(tables) != 2:
        raise QueryError(
            f"'fidelity' compares two tables, the built one and its reference, not {len(tables)}"
        )
    (name, built), (other, reference) = tables.items()
    figure = new_figure(9, 4.4)
    for axes, by in zip(figure.subplots(1, len(FIGURES)), FIGURES, strict=True):
        expected, seeds = reference.lookup(built.hashes, by), seed_figures(built, by)
        known = ~(np.isnan(expected) | np.isnan(seeds).all(axis=1))
        if not known.any():
            what = f"architectures that the tables {name!r} and {other!r} share"
            raise too_few(0, len(built), what, (by,), 1)
        expected, seeds = expected[known], seeds[known]
        axes.axline((0.5, 0.5), slope=1, color=GREY, linewidth=1)
        axes.vlines(
            expected, np.nanmin(seeds, axis=1), np.nanmax(seeds, axis=1), color=COLOURS[5],
            linewidth=1,
        )  # fmt: skip
        axes.plot(expected, built.column(by)[known], "o", markersize=3, color=COLOURS[0])
        axes.set(xlabel=f"{by} of {other}", ylabel=f"{by} of {name}")
        finish(axes, without(int((~known).sum())).strip())
    figure.suptitle(
        title(built, f"{len(built)} architectures, least to greatest seed"), fontsize=10
    )
    return figure
