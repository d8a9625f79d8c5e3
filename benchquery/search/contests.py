r"""Whether strategies differ: paired differences in one contest, ranks over several.

In a contest every pair of strategies is held against each other seed by seed. With
:math:`d_1, \dots, d_n` the differences of the test metric of their finds,

.. math::
    \bar d \pm t_{n-1,\,1-\alpha/2}\, s_d / \sqrt n

is the interval, and the test is Wilcoxon's, which asks for no normal distribution. The p-values of
all pairs of all contests together are corrected by Holm's step-down procedure, so that the chance
of one false difference among them is at most the level.

Over several contests, strategies are ranked in each by their mean test metric. By Nemenyi's test
two of k strategies differ over N contests if their mean ranks are farther apart than the critical
difference

.. math::
    q_{\alpha,k,\infty} \sqrt{k(k+1) / 12N}

with q the quantile of the studentised range.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.statistics import holm, ranks
from benchquery.errors import QueryError
from benchquery.search.summary import Contest, Standing, compare, group
from benchquery.search.trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from scipy import stats

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")
    stats = LazyModule("scipy.stats", extra="analysis")

LEVEL = 0.05


@dataclasses.dataclass(frozen=True)
class Difference:
    """Two strategies in one contest, seed by seed.

    Attributes:
        first: A strategy.
        second: Another.
        dataset: The name of the table that was searched.
        protocol: What the reward was.
        seeds: How many seeds both have, with test figures of both finds.
        mean: The mean of the first's test metric minus the second's.
        low: The lower end of the interval of that mean; NaN for a single seed.
        high: Its upper end.
        p: The p-value of Wilcoxon's signed-rank test; 1 if they never differ.
        corrected: It, corrected by Holm for all comparisons that were made with it.
        differs: Whether the corrected one is at most the level.
    """

    first: str
    second: str
    dataset: str
    protocol: str
    seeds: int
    mean: float
    low: float
    high: float
    p: float
    corrected: float
    differs: bool


def differences(traces: Iterable[Trace], level: float = LEVEL) -> list[Difference]:
    """Hold all strategies of each contest against each other, seed by seed.

    The same seed starts two strategies from the same random numbers, so a pair of searches may be
    alike; where it is not, pairing costs nothing.

    Args:
        traces: The traces.
        level: The level of the tests, and of the intervals.

    Raises:
        QueryError: If a strategy has a seed twice in a contest, two strategies of a contest have
            no seed in common, or the level is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise QueryError(f"the level of a test must be between 0 and 1, not {level}")
    contests: dict[Contest, dict[str, list[Trace]]] = {}
    for (contest, strategy), members in group(traces).items():
        contests.setdefault(contest, {})[strategy] = members
    found = []
    for searches in contests.values():
        figures = {
            strategy: {trace.seed: trace.report().perf for trace in members}
            for strategy, members in searches.items()
        }
        of = next(iter(searches.values()))[0]
        for first, second in itertools.combinations(searches, 2):
            gaps = _gaps(figures, first, second)
            found.append((first, second, of, gaps, _wilcoxon(gaps)))
    corrected = holm([p for *_, p in found])
    return [
        Difference(
            first, second, of.dataset, of.protocol, len(gaps), float(gaps.mean()),
            *_interval(gaps, level), p, q, q <= level,
        )
        for (first, second, of, gaps, p), q in zip(found, corrected, strict=True)
    ]  # fmt: skip


def _gaps(figures: Mapping[str, Mapping[int, float]], first: str, second: str) -> Floats:
    """Return the differences of two strategies, seed by seed, where both have a figure."""
    one, other = figures[first], figures[second]
    both = sorted(one.keys() & other.keys())
    gaps: Floats = np.array([one[seed] - other[seed] for seed in both], dtype=float)
    gaps = gaps[~np.isnan(gaps)]
    if not len(gaps):
        raise QueryError(
            f"{first!r} and {second!r} have no seed in common of which both have a test figure; "
            "give both the same seeds"
        )
    return gaps


def _wilcoxon(gaps: Floats) -> float:
    """Return the p-value of Wilcoxon's signed-rank test, ties as in `benchquery.table.ties`."""
    gaps = np.where(np.abs(gaps) < 1e-12, 0.0, gaps)
    return float(stats.wilcoxon(gaps).pvalue) if gaps.any() else 1.0


def _interval(gaps: Floats, level: float) -> tuple[float, float]:
    """Return Student's interval of a mean."""
    if len(gaps) < 2:
        return math.nan, math.nan
    reach = stats.t.ppf(1 - level / 2, len(gaps) - 1) * gaps.std(ddof=1) / math.sqrt(len(gaps))
    return float(gaps.mean() - reach), float(gaps.mean() + reach)


@dataclasses.dataclass(frozen=True)
class MeanRanks:
    """Strategies over several contests of one protocol.

    Attributes:
        protocol: What the reward was.
        contests: How many contests all of them took part in.
        ranks: By strategy, its mean rank in them, the best (1) first; ties share their mean.
        critical: By Nemenyi's test, how far apart mean ranks must be to differ.
        level: The level of the test.
    """

    protocol: str
    contests: int
    ranks: Mapping[str, float]
    critical: float
    level: float


def mean_ranks(traces: Iterable[Trace], level: float = LEVEL) -> list[MeanRanks]:
    """Rank strategies over the contests that all of them took part in, protocol by protocol.

    Protocols with fewer than two strategies are passed over.

    Args:
        traces: The traces.
        level: The level of the test.

    Raises:
        QueryError: If a strategy has a seed twice in a contest, or there is no contest that all
            strategies of a protocol took part in.
    """
    by_protocol: dict[str, list[Standing]] = {}
    for row in compare(traces):
        by_protocol.setdefault(row.protocol, []).append(row)
    return [
        _ranked(protocol, rows, level)
        for protocol, rows in by_protocol.items()
        if len({row.strategy for row in rows}) > 1
    ]


def _ranked(protocol: str, rows: Sequence[Standing], level: float) -> MeanRanks:
    """Rank the strategies of one protocol."""
    contests: dict[tuple[object, ...], dict[str, float]] = {}
    for row in rows:
        contest = (row.table_sha256, row.budget, row.workers)
        contests.setdefault(contest, {})[row.strategy] = row.perf
    names = sorted({row.strategy for row in rows})
    shared = [perfs for perfs in contests.values() if perfs.keys() == set(names)]
    if not shared:
        raise QueryError(
            f"no contest ({protocol}) has searches of all of {', '.join(names)}; "
            "ranks need the same contests for all"
        )
    lowest = [[np.nan_to_num(perfs[name], nan=-np.inf) for name in names] for perfs in shared]
    means = np.mean([ranks(-np.array(perfs)) for perfs in lowest], axis=0)
    count = len(names)
    quantile = float(stats.studentized_range.ppf(1 - level, count, np.inf))
    critical = quantile * math.sqrt(count * (count + 1) / (12 * len(shared)))
    best_first = sorted(zip(means.tolist(), names, strict=True))
    return MeanRanks(
        protocol, len(shared), {name: mean for mean, name in best_first}, critical, level
    )
