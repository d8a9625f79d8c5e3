"""Many traces at once: the mean and standard error over seeds, and comparisons."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.search.budget import Budget
from benchquery.search.trace import SearchReport, Trace

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")

Measure = Literal["reward", "perf"]
Axis = Literal["spent", "time"]


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
        seeds: How many traces there are.
        valid_perf: The mean validation metric of the finds.
        perf: Their mean test metric; NaN if a find has none, as its training failed.
        perf_error: Its standard error; NaN for a single trace.
        perf_median: Their median test metric.
        regret: Their mean regret.
        regret_error: Its standard error.
        regret_median: Their median regret.
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
    rank: float
    rank_error: float
    rank_median: float


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


def compare(traces: Iterable[Trace]) -> list[Standing]:
    """Set strategies side by side: one row each in a contest, the best first.

    Best is the mean test metric. Contests stay apart: another table, budget or number of workers
    is another task, and a search that saw the test set can't be held against one that did not.

    Raises:
        QueryError: If a strategy has a seed twice in a contest.
    """
    rows = [
        _standing(contest, [trace.report() for trace in members])
        for (contest, _), members in group(traces).items()
    ]
    return sorted(rows, key=_place)


def _place(row: Standing) -> tuple[object, ...]:
    """Return where a row stands: contests by name and size, then the best first, unknown last."""
    budget = row.budget
    contest = (row.dataset, row.table_sha256, row.protocol, budget.unit, budget.amount)
    unknown = math.isnan(row.perf)
    return (*contest, budget.repeats, row.workers, unknown, 0.0 if unknown else -row.perf)


def _standing(contest: Contest, reports: Sequence[SearchReport]) -> Standing:
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
        rank=float(rank.mean()),
        rank_error=standard_error(rank),
        rank_median=float(np.median(rank)),
    )
