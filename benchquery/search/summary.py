"""Many traces at once: the mean and standard error over seeds, and comparisons."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.search.trace import SearchReport, Trace

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")

Measure = Literal["reward", "perf"]
Axis = Literal["spent", "time"]


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
        protocol: What the reward was.
        seeds: How many traces there are.
        valid_perf: The mean validation metric of the finds.
        perf: Their mean test metric.
        perf_error: Its standard error; NaN for a single trace.
        regret: Their mean regret.
        rank: Their mean rank by test metric.
    """

    strategy: str
    dataset: str
    protocol: str
    seeds: int
    valid_perf: float
    perf: float
    perf_error: float
    regret: float
    rank: float


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
        traces: Traces of one strategy, dataset and protocol, with different seeds.
        measure: The incumbent's ``reward``, or its test metric ``perf``.
        over: The budget ``spent``, or the simulated ``time``.

    Raises:
        QueryError: If there are none, or they are not of one kind.
    """
    traces = list(traces)
    kinds = {(t.dataset, t.protocol, t.strategy, t.budget.unit) for t in traces}
    if len(kinds) != 1:
        raise QueryError(
            "only traces of one dataset, protocol, strategy and unit can be averaged, not "
            + ("none" if not kinds else "; ".join(" ".join(kind) for kind in sorted(kinds)))
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


def group(traces: Iterable[Trace]) -> Mapping[tuple[str, str, str], list[Trace]]:
    """Sort traces by dataset, protocol and strategy, in order of first appearance."""
    groups: dict[tuple[str, str, str], list[Trace]] = {}
    for trace in traces:
        groups.setdefault((trace.dataset, trace.protocol, trace.strategy), []).append(trace)
    return groups


def compare(traces: Iterable[Trace]) -> list[Standing]:
    """Set strategies side by side: one row each for a dataset and protocol, the best first.

    Best is the mean test metric. Protocols stay apart: a search that saw the test set can't
    be held against one that did not.
    """
    rows = [_standing([trace.report() for trace in members]) for members in group(traces).values()]
    return sorted(rows, key=lambda row: (row.dataset, row.protocol, -row.perf))


def _standing(reports: Sequence[SearchReport]) -> Standing:
    """Return how one strategy did."""
    first = reports[0]
    return Standing(
        strategy=first.strategy,
        dataset=first.dataset,
        protocol=first.protocol,
        seeds=len(reports),
        valid_perf=float(np.mean([report.valid_perf for report in reports])),
        perf=float(np.mean([report.perf for report in reports])),
        perf_error=standard_error([report.perf for report in reports]),
        regret=float(np.mean([report.regret for report in reports])),
        rank=float(np.mean([report.rank for report in reports])),
    )
