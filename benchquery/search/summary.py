"""Many traces at once: the mean and standard error over seeds, and comparisons."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from benchquery._imports import LazyModule
from benchquery.analysis.known import has_figures
from benchquery.errors import QueryError
from benchquery.kinds.architectures.analysis.noise import best_again, known_seed_errors
from benchquery.kinds.architectures.table import ArchTable
from benchquery.search.budget import Budget
from benchquery.search.chance import EXACT, find_chances
from benchquery.search.trace import SearchReport, Trace

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Floats
else:
    np = LazyModule("numpy")

Measure = Literal["reward", "perf"]
Axis = Literal["spent", "time"]

CHANCE = "random search, exactly"
"""The name under which random search without a search stands beside strategies."""


@dataclasses.dataclass(frozen=True)
class Contest:
    """What searches must have in common to be compared.

    Two tables of one name are told apart by their checksum, as are a table and a part of it; one
    table that goes by two names is one.

    Attributes:
        table_sha256: The checksum of the table's figures; see `benchquery.search.trace.table_id`.
        protocol: What the reward was.
        budget: How much might be asked.
        workers: How many simulated workers there were.
    """

    table_sha256: str
    protocol: str
    budget: Budget
    workers: int

    @classmethod
    def of(cls, trace: Trace) -> Contest:
        """Return the contest that a search took part in."""
        return cls(trace.table_sha256, trace.protocol, trace.budget, trace.workers)

    @property
    def knows_chance(self) -> bool:
        """Whether what random search finds is known exactly (`benchquery.search.chance`)."""
        return self.budget.unit == "queries" and self.protocol in EXACT

    @property
    def terms(self) -> str:
        """The budget and the workers, for people."""
        free = ", repeats free" if self.budget.repeats == "free" else ""
        workers = f"{self.workers} worker{'' if self.workers == 1 else 's'}"
        return f"{self.budget.amount:,.12g} {self.budget.unit}{free}, {workers}"


@dataclasses.dataclass(frozen=True, eq=False)
class Average:
    """A best-so-far curve, averaged over traces.

    Attributes:
        at: Points of the budget, or of simulated time.
        mean: The mean over the traces at each.
        error: Its standard error; NaN for a single trace.
        count: How many traces there are.
    """

    at: Floats
    mean: Floats
    error: Floats
    count: int


@dataclasses.dataclass(frozen=True)
class Standing:
    """How a strategy did over its seeds, by the reports of its traces.

    Attributes:
        strategy: The strategy.
        dataset: The name of the table that was searched.
        origin: Whether the table's figures are published, measured or synthetic.
        table_sha256: The checksum of the table's figures; see `benchquery.search.trace.table_id`.
        protocol: What the reward was.
        budget: How much might be asked.
        workers: How many simulated workers there were.
        seeds: How many traces there are; 0 for exact random search.
        valid_perf: The mean validation metric of the finds.
        perf: Their mean test metric; NaN if a find has none, as its training failed.
        perf_error: Its standard error; NaN for a single trace.
        perf_median: Their median test metric.
        regret: Their mean regret.
        regret_error: Its standard error.
        regret_median: Their median regret.
        beyond_noise: Their mean regret against the set that can't be told from the best
            (`benchquery.analysis.noise`); NaN where no seeds say how large noise is.
        rank: Their mean rank by test metric. A few bad finds move it far: see the median.
        rank_error: Its standard error.
        rank_median: Their median rank.
    """

    strategy: str
    dataset: str
    origin: str
    table_sha256: str
    protocol: str
    budget: Budget
    workers: int
    seeds: int
    valid_perf: float
    perf: float
    perf_error: float
    perf_median: float
    regret: float
    regret_error: float
    regret_median: float
    beyond_noise: float
    rank: float
    rank_error: float
    rank_median: float

    @property
    def contest(self) -> Contest:
        """The contest that it took part in."""
        return Contest(self.table_sha256, self.protocol, self.budget, self.workers)


def standard_error(values: Sequence[float] | Floats) -> float:
    """Return the standard error of a mean; NaN for a single value."""
    if len(values) < 2:
        return math.nan
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))


def aggregate(
    traces: Iterable[Trace], measure: Measure = "reward", over: Axis = "spent"
) -> Average:
    """Average the best-so-far curves of one strategy's traces.

    Between its queries a search has what it had; the curve starts where all have something.

    Args:
        traces: Traces of one strategy in one contest (table, protocol, budget and workers), with
            different seeds.
        measure: The incumbent's ``reward``, or its test metric ``perf``.
        over: The budget ``spent``, or the simulated ``time``.

    Raises:
        QueryError: If there are none, they are not of one strategy and contest, or have a seed
            twice.
    """
    traces = list(traces)
    groups = group(traces)
    if len(groups) != 1:
        said = "; ".join(
            f"{strategy} on {members[0].dataset} ({contest.table_sha256[:8]}), "
            f"{contest.protocol}, {contest.terms}"
            for (contest, strategy), members in groups.items()
        )
        raise QueryError(
            "only traces of one strategy, table, protocol, budget and number of workers can be "
            f"averaged, not {said or 'none'}"
        )
    curves = [trace.report().curve for trace in traces]
    start = max(curve[over][0] for curve in curves)
    points = np.unique(np.concatenate([curve[over] for curve in curves]))
    points = points[points >= start]
    values = np.stack(
        [curve[measure][np.searchsorted(curve[over], points, side="right") - 1] for curve in curves]
    )
    error = np.full(len(points), math.nan)
    if len(traces) > 1:
        error = values.std(axis=0, ddof=1) / math.sqrt(len(traces))
    return Average(points, values.mean(axis=0), error, len(traces))


def group(traces: Iterable[Trace]) -> Mapping[tuple[Contest, str], list[Trace]]:
    """Sort traces by contest and strategy, in order of first appearance.

    Raises:
        QueryError: If a strategy has a seed twice in a contest: a search that is counted several
            times makes an error smaller than it is.
    """
    groups: dict[tuple[Contest, str], list[Trace]] = {}
    for trace in traces:
        groups.setdefault((Contest.of(trace), trace.strategy), []).append(trace)
    for (contest, strategy), members in groups.items():
        seeds = [trace.seed for trace in members]
        twice = sorted({seed for seed in seeds if seeds.count(seed) > 1})
        if twice:
            raise QueryError(
                f"there are several traces of {strategy!r} on {members[0].dataset!r} "
                f"({contest.protocol}, {contest.terms}) with seed {', '.join(map(str, twice))}; "
                "give each search once, and strategies that differ different names"
            )
    return groups


def compare(traces: Iterable[Trace], *, chance: bool = True) -> list[Standing]:
    """Set strategies side by side: one row each in a contest, the best first.

    Best is the mean test metric. Contests stay apart: another table, budget or number of workers
    is another task, and a search that saw the test set can't be held against one that did not.

    Args:
        traces: The traces.
        chance: Whether exact random search stands among them, as `CHANCE`, where it is known.

    Raises:
        QueryError: If a strategy has a seed twice in a contest.
    """
    traces = list(traces)
    groups = group(traces)
    searched = {contest: members[0] for (contest, _), members in groups.items()}
    margins = {contest: _margin(trace.searched()) for contest, trace in searched.items()}
    rows = [
        _standing(contest, [trace.report() for trace in members], margins[contest])
        for (contest, _), members in groups.items()
    ]
    return sorted([*rows, *(chance_standings(traces) if chance else ())], key=_place)


def chance_standings(traces: Iterable[Trace]) -> list[Standing]:
    """Return how random search stands in each contest, exactly: no seed, and no error.

    Contests whose budget is training time have none: how much random search may ask there is
    itself a matter of chance. Nor have those whose rewards are drawn, or whose table has no row
    with both figures.
    """
    searched = {Contest.of(trace): trace for trace in traces}
    return [
        _chance(contest, trace)
        for contest, trace in searched.items()
        if contest.knows_chance and has_figures(trace.searched(), "valid_perf", "perf").any()
    ]


def _place(row: Standing) -> tuple[object, ...]:
    """Return where a row stands: contests by name and size, then the best first, unknown last."""
    budget = row.budget
    contest = (row.dataset, row.table_sha256, row.protocol, budget.unit, budget.amount)
    unknown = math.isnan(row.perf)
    return (*contest, budget.repeats, row.workers, unknown, 0.0 if unknown else -row.perf)


def _margin(table: ArchTable) -> float:
    """Return how far below the best a test metric may be by noise; NaN if that is not known."""
    measured = known_seed_errors(table, "perf")
    return math.nan if measured is None else measured.margin


def beyond_noise(regret: Sequence[float] | Floats, table: ArchTable) -> Floats:
    """Return regrets against the set that can't be told from the best; NaN if noise is unknown."""
    return _beyond(np.asarray(regret, dtype=float), _margin(table))


def say_curse(table: ArchTable) -> str | None:
    """Say how much of every regret is the luck of the best figure; None if noise is unknown."""
    found = best_again(table, "perf")
    if found is None:
        return None
    best, again = found
    return (
        f"{table.name}: the best perf, {best:.4f}, is expected at {again:.4f} if it is run again, "
        f"so {best - again:.4f} of every regret is its luck"
    )


def _beyond(regret: Floats, margin: float) -> Floats:
    """Return how much regrets are above a margin."""
    return np.maximum(regret - margin, 0.0)


def _chance(contest: Contest, search: Trace) -> Standing:
    """Return how random search stands in one contest."""
    table = search.searched()
    known, chances = find_chances(table, contest.budget.amount, contest.protocol)
    drawn = has_figures(table, "valid_perf", "perf")
    ranks, regrets = (figures[drawn] for figures in table.standing("perf"))
    figures = {"perf": known.column("perf"), "regret": regrets, "rank": ranks}
    means = {name: float(chances @ values) for name, values in figures.items()}
    medians = {f"{name}_median": _middle(values, chances) for name, values in figures.items()}
    return Standing(
        strategy=CHANCE,
        dataset=search.dataset,
        origin=search.origin,
        table_sha256=contest.table_sha256,
        protocol=contest.protocol,
        budget=contest.budget,
        workers=contest.workers,
        seeds=0,
        valid_perf=float(chances @ known.column("valid_perf")),
        perf_error=0.0,
        regret_error=0.0,
        rank_error=0.0,
        beyond_noise=float(chances @ _beyond(regrets, _margin(table))),
        **means,
        **medians,
    )


def _middle(values: Array, chances: Floats) -> float:
    """Return the least value that at least half of the chances are at or below."""
    order = np.argsort(values, kind="stable")
    half = np.searchsorted(np.cumsum(chances[order]), 0.5 - 1e-12)
    return float(values[order[half]])


def _standing(contest: Contest, reports: Sequence[SearchReport], margin: float) -> Standing:
    """Return how one strategy did in a contest."""
    first = reports[0]
    perf, regret, rank = (
        np.array([getattr(report, name) for report in reports], dtype=float)
        for name in ("perf", "regret", "rank")
    )
    return Standing(
        strategy=first.strategy,
        dataset=first.dataset,
        origin=first.origin,
        table_sha256=contest.table_sha256,
        protocol=contest.protocol,
        budget=contest.budget,
        workers=contest.workers,
        seeds=len(reports),
        valid_perf=float(np.mean([report.valid_perf for report in reports])),
        perf=float(perf.mean()),
        perf_error=standard_error(perf),
        perf_median=float(np.median(perf)),
        regret=float(regret.mean()),
        regret_error=standard_error(regret),
        regret_median=float(np.median(regret)),
        beyond_noise=float(_beyond(regret, margin).mean()),
        rank=float(rank.mean()),
        rank_error=standard_error(rank),
        rank_median=float(np.median(rank)),
    )
