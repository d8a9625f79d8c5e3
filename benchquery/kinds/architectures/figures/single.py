"""Pictures of one table of architectures; its kind names them. Each returns a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import has_figures, known_part, left_out
from benchquery.figures.epochs import draw_learning
from benchquery.figures.style import (
    COLOURS,
    GREY,
    draw_matrix,
    finish,
    label,
    log_scale,
    new_figure,
    specks,
    title,
    without,
)
from benchquery.kinds.architectures.analysis.distribution import (
    METRICS,
    correlated_part,
    metric_correlations,
)
from benchquery.kinds.architectures.analysis.frequency import link_frequencies, op_frequencies
from benchquery.kinds.architectures.analysis.importance import decompose, node_importance
from benchquery.kinds.architectures.analysis.learning import seed_noise, settling
from benchquery.kinds.architectures.analysis.smoothness import smoothness
from benchquery.kinds.architectures.arch import NODES, Arch
from benchquery.kinds.architectures.space import get_space
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure
    import numpy as np
else:
    np = LazyModule("numpy")


def pareto(
    table: ArchTable, better: str = "valid_perf", cheaper: str = "latency"
) -> mpl_figure.Figure:
    """Draw all architectures and the front of those that none beats in both columns.

    Args:
        table: The table.
        better: The column to maximise.
        cheaper: The column to minimise.

    Raises:
        QueryError: If no architecture has a figure in both.
    """
    known = known_part(table, better, cheaper)
    front = known.pareto(better, cheaper).top(len(known), cheaper)
    figure = new_figure()
    axes = figure.subplots()
    axes.scatter(
        known.column(cheaper), known.column(better), color=GREY, rasterized=True,
        label=f"{len(known):,} architectures", **specks(len(known)),
    )  # fmt: skip
    axes.plot(
        front.column(cheaper), front.column(better), "o-", color=COLOURS[1], markersize=5,
        drawstyle="steps-post", label=f"Pareto front: {len(front)}",
    )  # fmt: skip
    log_scale(axes, table.described(cheaper).unit)
    axes.set(xlabel=label(table, cheaper), ylabel=label(table, better))
    axes.legend(loc="lower right")
    finish(axes, title(table, "Pareto front") + without(len(table) - len(known)))
    return figure


def distribution(table: ArchTable) -> mpl_figure.Figure:
    """Draw how performance, latency and parameters are spread (Figure 2).

    Raises:
        QueryError: If no architecture has a figure in any of them.
    """
    if not any(has_figures(table, name).any() for name in METRICS):
        known_part(table, *METRICS)
    figure = new_figure(9, 3)
    for axes, name, colour in zip(figure.subplots(1, 3), METRICS, COLOURS, strict=False):
        known = has_figures(table, name)
        axes.hist(table.column(name)[known], bins=60, color=colour)
        axes.set(xlabel=label(table, name), ylabel="architectures")
        finish(axes, without(int((~known).sum())).strip())
    figure.suptitle(title(table, "Distribution"), fontsize=10)
    return figure


def correlations(table: ArchTable) -> mpl_figure.Figure:
    """Draw Pearson's correlation between performance, latency and parameters (Figure 9)."""
    figure = new_figure(4.6, 3.6)
    axes = figure.subplots()
    draw_matrix(axes, metric_correlations(table), METRICS, METRICS, least=-1)
    missing = left_out(table, *METRICS)
    wrong = len(table) - len(correlated_part(table)) - missing
    said = f"\n{wrong:,} with a wrong count of parameters left out" if wrong > 0 else ""
    axes.set_title(title(table, "Correlations") + without(missing) + said, fontsize=9)
    return figure


def frequency(table: ArchTable, share: float = 0.05, by: str = "perf") -> mpl_figure.Figure:
    """Draw which links and operations the best use (Figures 3 and 10), and all: dashes."""
    figure = new_figure(9, 3.2)
    left, right = figure.subplots(1, 2)
    links = link_frequencies(table, share, by)
    left.bar(list(links), list(links.values()), color=COLOURS[0])
    base = link_frequencies(table, 1.0, by)
    left.plot(list(base), list(base.values()), "_", color="black", markersize=14, label="all")
    left.tick_params(axis="x", labelsize=8)
    left.legend()
    left.set(xlabel="link list", ylabel=f"share of the top {share:.0%} by {by}")
    parts = [("on the input", True, COLOURS[1]), ("deeper", False, COLOURS[2])]
    for offset, (name, first, colour) in zip((-0.2, 0.2), parts, strict=True):
        ops = op_frequencies(table, share, by, first=first)
        places = np.arange(len(ops)) + offset
        right.bar(places, list(ops.values()), 0.4, label=name, color=colour)
        everywhere = op_frequencies(table, 1.0, by, first=first)
        right.plot(places, list(everywhere.values()), "_", color="black", markersize=8)
    right.set_xticks(range(len(ops)), list(ops), fontsize=8)
    right.set(xlabel="operation", ylabel="share of the nodes")
    right.legend()
    for axes in (left, right):
        finish(axes)
    figure.suptitle(title(table, "Choices of the best") + without(left_out(table, by)), fontsize=10)
    return figure


def changes(table: ArchTable, by: str = "perf") -> mpl_figure.Figure:
    """Draw the mean difference against the number of changes (Figure 5)."""
    result = smoothness(table, by)
    figure = new_figure(5.6, 3.6)
    axes = figure.subplots()
    for (name, means), colour in zip(
        (("operations", result.ops), ("links", result.links)), COLOURS, strict=False
    ):
        axes.plot(list(means), list(means.values()), "o-", color=colour, label=name)
    axes.axhline(result.random, color=COLOURS[3], linestyle="--", label="two random architectures")
    axes.set_xticks(range(1, NODES + 1))
    axes.set(
        xlabel="number of changes", ylabel=f"mean difference of {label(table, by)}", ylim=(0, None)
    )
    axes.legend()
    finish(axes, title(table, "Smoothness") + without(result.left_out))
    return figure


def importance(table: ArchTable, by: str = "perf") -> mpl_figure.Figure:
    """Draw which choices explain the variance, exactly, and the first and last nodes (Figure 6).

    The exact shares need a figure of every architecture of the space; without them only the nodes
    are drawn, with what as many groups explain of pure chance taken off. Dashed lines are as in
    the paper, where it is not.
    """
    whole = has_figures(table, by).sum() == len(get_space(table.manifest.space))
    figure = new_figure(9.6 if whole else 5.6, 3.6)
    *exact, axes = figure.subplots(1, 2 if whole else 1, squeeze=False)[0]
    for left in exact:
        rows = decompose(table, by).rows()
        left.bar([row["choice"] for row in rows], [row["share"] for row in rows], color=COLOURS[2])
        left.set(ylabel=f"share of the variance of {by}", ylim=(0, 1))
        finish(left, "choices, over all raw forms: exact")
    lengths = np.arange(1, NODES + 1)
    plain = node_importance(table, by)
    for (name, shares), colour in zip(
        node_importance(table, by, adjusted=True).items(), COLOURS, strict=False
    ):
        axes.plot(lengths, shares, "o-", color=colour, label=name)
        axes.plot(lengths, plain[name], "--", color=colour, linewidth=0.8)
    axes.set_xticks(lengths)
    axes.set(xlabel="number of nodes", ylabel=f"eta squared of {by}", ylim=(0, 1))
    axes.legend()
    finish(axes, "nodes, less chance (dashed: as in the paper)")
    heading = title(table, "Importance") + without(left_out(table, by))
    figure.suptitle(heading, fontsize=10)
    return figure


def learning(table: ArchTable) -> mpl_figure.Figure:
    """Draw how early the ranking settles and how much seeds differ, from the curves."""
    figure = new_figure(9, 3.2)
    left, right = figure.subplots(1, 2)
    found = settling(table)
    lines = {
        "the epoch's figure": found.current,
        "best so far": found.best_so_far,
        "one seed, by the others' end": found.one_seed,
        f"best so far, best {found.share:.0%}": found.among_best,
    }
    for (name, values), colour in zip(lines.items(), COLOURS, strict=False):
        left.plot(np.arange(1, len(values) + 1), values, color=colour, label=name)
    left.legend(fontsize=7)
    left.set(xlabel="epoch", ylabel="Spearman's correlation with the end")
    noise = seed_noise(table)
    right.plot(np.arange(1, len(noise) + 1), noise, color=COLOURS[1])
    right.set(xlabel="epoch", ylabel="standard deviation over seeds")
    for axes in (left, right):
        finish(axes)
    missing = without(found.left_out, "curves") + _partly(found.archs - found.whole)
    figure.suptitle(title(table, "Learning curves") + missing, fontsize=10)
    return figure


def curve(table: ArchTable, key: int | None = None) -> mpl_figure.Figure:
    """Draw the learning curve of one architecture, the mean over its seeds.

    Args:
        table: The table.
        key: Its hash; None for the best by validation.

    Raises:
        QueryError: If the table has no curves, or there is no figure to draw.
        UnknownHashError: If it has none of this architecture.
    """
    best = known_part(table, "valid_perf").top(1) if key is None else [key]
    number = int(next(iter(best)))
    arch = Arch.from_hash(number)
    figure = draw_learning(table.curves.curve(number), table.manifest.metric)
    named = f"{number:05}: {' '.join(arch.ops)}, link {''.join(map(str, arch.link))}"
    figure.suptitle(title(table, named), fontsize=9, wrap=True)
    return figure


def _partly(count: int) -> str:
    """Return the line of a heading that says how many curves have gaps; empty if none has."""
    return f"\n{count:,} without whole curves left out of the epoch's figure" if count else ""
