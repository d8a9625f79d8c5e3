"""Pictures of searches: the best so far over the budget, with its standard error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import left_out
from benchquery.errors import QueryError
from benchquery.figures.page import check_picture, save
from benchquery.figures.style import COLOURS, new_figure
from benchquery.search.chance import random_search_exactly
from benchquery.search.contests import MeanRanks, mean_ranks
from benchquery.search.summary import CHANCE, Contest, Measure, aggregate, group
from benchquery.search.trace import Trace

if TYPE_CHECKING:
    import matplotlib.artist as mpl_artist
    import matplotlib.axes as mpl_axes
    import matplotlib.ticker as mpl_ticker
    import numpy as np
else:
    np = LazyModule("numpy")
    mpl_ticker = LazyModule("matplotlib.ticker", extra="plot")

Searches = Mapping[str, Sequence[Trace]]
"""The traces of each strategy in one contest."""

_DASHES = ("-", "--", "-.", ":")
_COLUMNS = 3
_POINTS = 60
_SKIPPED = 0.02
"""The share of a curve at its start that may leave the picture, as it rises too steeply."""


def plot_search(traces: Sequence[Trace], path: Path, measure: Measure = "reward") -> None:
    """Draw the best so far of each strategy: mean over the seeds, standard error shaded.

    There is one panel for each contest, as in Figure 8 of the NAS-Bench-Graph paper: a table,
    protocol, budget and number of workers, which its title names.

    Args:
        traces: The traces.
        path: The picture to write: .png, .svg, .pdf or .html.
        measure: The incumbent's ``reward``, or its test metric ``perf``.

    Raises:
        QueryError: If the picture can't be written there, there are no traces, or a strategy has
            a seed twice in a contest.
    """
    check_picture(path)
    if not traces:
        raise QueryError("there are no traces to draw")
    panels: dict[Contest, dict[str, list[Trace]]] = {}
    for (contest, strategy), members in group(traces).items():
        panels.setdefault(contest, {})[strategy] = members
    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    figure = new_figure(4.6 * columns + 1, 3.4 * rows)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    styles = {name: style for style, name in enumerate(dict.fromkeys(t.strategy for t in traces))}
    legend: dict[str, mpl_artist.Artist] = {}
    for panel, (contest, searches) in zip(axes, panels.items(), strict=False):
        _draw_panel(panel, contest, searches, measure, styles)
        panel.set_title(_heading(contest, searches, panels), fontsize=10)
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            legend.setdefault(label, handle)
    for empty in axes[len(panels) :]:
        empty.set_axis_off()
    figure.legend(
        list(legend.values()), list(legend), loc="outside lower center", ncols=4, fontsize=9
    )
    save(figure, path)


def _heading(contest: Contest, searches: Searches, panels: Mapping[Contest, Searches]) -> str:
    """Return the title of a panel; it names the checksum where two tables have one name."""
    name = _table_name(searches)
    others = {other.table_sha256 for other in panels if _table_name(panels[other]) == name}
    which = f" {contest.table_sha256[:8]}" if len(others) > 1 else ""
    return f"{name}{which}, rewarded: {contest.protocol}\n{contest.terms}"


def _table_name(searches: Searches) -> str:
    """Return the name and the origin of the table of some searches."""
    first = next(iter(searches.values()))[0]
    return f"{first.dataset} ({first.origin})"


def _draw_panel(
    axes: mpl_axes.Axes,
    contest: Contest,
    searches: Searches,
    measure: Measure,
    styles: Mapping[str, int],
) -> None:
    """Draw the strategies in one contest; where an incumbent has no figure there is no line."""
    lowest, highest = [], []
    for strategy, members in searches.items():
        average = aggregate(members, measure)
        error = np.nan_to_num(average.error)
        known = average.mean[~np.isnan(average.mean)]
        if known.size:
            lowest.append(known[int(len(known) * _SKIPPED)])
            highest.append(np.nanmax(average.mean + error))
        style = styles[strategy]
        colour = COLOURS[style % len(COLOURS)]
        axes.plot(
            average.at, average.mean, drawstyle="steps-post", color=colour, linewidth=1.4,
            linestyle=_DASHES[style // len(COLOURS) % len(_DASHES)],
            label=f"{strategy} ({average.count} seeds)",
        )  # fmt: skip
        axes.fill_between(
            average.at, average.mean - error, average.mean + error,
            step="post", color=colour, alpha=0.2, linewidth=0,
        )  # fmt: skip
    _draw_chance(axes, contest, next(iter(searches.values()))[0], measure)
    if highest and max(highest) > min(lowest):
        margin = 0.05 * (max(highest) - min(lowest))
        axes.set_ylim(min(lowest) - margin, max(highest) + margin)
    axes.yaxis.set_major_locator(mpl_ticker.MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(mpl_ticker.PercentFormatter(1, decimals=1, symbol=""))
    split = "validation" if (measure, contest.protocol) == ("reward", "validation") else "test"
    axes.set(xlabel=f"budget [{contest.budget.unit}]", ylabel=f"{split} metric of the best [%]")
    axes.grid(alpha=0.25)


def _draw_chance(axes: mpl_axes.Axes, contest: Contest, search: Trace, measure: Measure) -> None:
    """Draw what random search finds on average, exactly, where budgets are queries."""
    if not contest.knows_chance:
        return
    table = search.searched()
    most = min(int(contest.budget.amount), len(table) - left_out(table, "valid_perf", "perf"))
    if not most:
        return
    budgets = np.unique(np.geomspace(1, most, _POINTS).round().astype(int))
    exact = random_search_exactly(table, budgets, contest.protocol)
    values = exact.reward if measure == "reward" else exact.perf
    axes.plot(budgets, values, color="black", linewidth=1, label=CHANCE)


def plot_ranks(traces: Sequence[Trace], path: Path) -> None:
    """Draw the mean ranks of strategies over contests, with the critical difference.

    A bar joins strategies whose mean ranks are within the critical difference of each other, so
    that Nemenyi's test can't tell them apart. A dashed line is where exact random search would
    stand: what is left of it is better. There is one panel for each protocol.

    Args:
        traces: The traces.
        path: The picture to write: .png, .svg, .pdf or .html.

    Raises:
        QueryError: If the picture can't be written there, or no protocol has two strategies.
    """
    check_picture(path)
    found = mean_ranks(traces)
    if not found:
        raise QueryError("mean ranks need at least two strategies of one protocol")
    figure = new_figure(7, sum(1.2 + 0.28 * len(one.ranks) for one in found))
    for axes, one in zip(figure.subplots(len(found), 1, squeeze=False)[:, 0], found, strict=True):
        _draw_ranks(axes, one)
    save(figure, path)


def _draw_ranks(axes: mpl_axes.Axes, found: MeanRanks) -> None:
    """Draw a line for each strategy, the best on top, and bars for what can't be told apart."""
    places = list(found.ranks.values())
    lines = range(len(places))
    axes.plot(places, lines, "o", color=COLOURS[0])
    for line, (name, place) in enumerate(found.ranks.items()):
        axes.annotate(f"{name} {place:.2f}", (place, line), (6, -3), textcoords="offset points",
                      fontsize=8)  # fmt: skip
    for start, end in _indistinct(places, found.critical):
        axes.plot([places[start]] * 2, [start, end], color=COLOURS[1], linewidth=3, alpha=0.5)
        axes.plot(places[start : end + 1 : end - start], [end, end], color=COLOURS[1],
                  linewidth=3, alpha=0.5)  # fmt: skip
    if found.chance is not None:
        axes.axvline(found.chance, color="black", linestyle="--", linewidth=1, label=CHANCE)
        axes.legend(loc="upper right", fontsize=7)
    axes.set_ylim(len(places) - 0.5, -0.7)
    axes.set_yticks([])
    axes.set(xlabel="mean rank by test metric, 1 is the best", xlim=(0.4, len(places) + 0.6))
    axes.set_title(
        f"rewarded: {found.protocol}, {found.contests} contests, critical difference "
        f"{found.critical:.2f} at {found.level:g}",
        fontsize=9,
    )
    axes.grid(alpha=0.25)


def _indistinct(places: Sequence[float], critical: float) -> list[tuple[int, int]]:
    """Return the longest runs of ascending places that are within the critical difference."""
    runs: list[tuple[int, int]] = []
    for start, place in enumerate(places):
        end = max(i for i, other in enumerate(places) if other - place <= critical)
        if end > start and (not runs or end > runs[-1][1]):
            runs.append((start, end))
    return runs
