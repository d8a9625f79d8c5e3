r"""Whether strategies differ: paired differences in one contest, ranks over several.

In a contest every pair of strategies is held against each other seed by seed. With
:math:`d_1, \dots, d_n` the differences of the test metric of their finds,

.. math::
    \bar d \pm t_{n-1,\,1-\alpha/2}\, s_d / \sqrt n

is the interval, and the test is Wilcoxon's, which asks for no normal distribution. Every strategy
is also held against random search without a search (`benchquery.search.chance`), whose mean has no
error: there the test is Student's, as finds are not spread evenly around a mean. The p-values of
all comparisons of all contests together are corrected by Holm's step-down procedure, so that the
chance of one false difference among them is at most the level.

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
from benchquery.search.summary import (
    CHANCE,
    Contest,
    Standing,
    chance_standings,
    compare,
    group,
)
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
        second: Another, or `benchquery.search.CHANCE`: random search, exactly.
        dataset: The name of the table that was searched.
        protocol: What the reward was.
        seeds: How many seeds both have, with test figures of both finds.
        mean: The mean of the first's test metric minus the second's.
        low: The lower end of the interval of that mean; NaN for a single seed.
        high: Its upper end.
        p: The p-value of Wilcoxon's signed-rank test; 1 if they never differ. Against exact random
            search that of Student's test; 1 for a single seed, which tells nothing.
        corrected: It, corrected by Holm for all comparisons that were made with it.
        differs: Whether the corrected one is at most the level.
        left_out: How many more seeds both have, of which a find has no test figure.
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
    left_out: int


def differences(traces: Iterable[Trace], level: float = LEVEL) -> list[Difference]:
    """Hold all strategies of each contest against each other, and against exact random search.

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
    traces = list(traces)
    contests: dict[Contest, dict[str, list[Trace]]] = {}
    for (contest, strategy), members in group(traces).items():
        contests.setdefault(contest, {})[strategy] = members
    chance = {row.contest: row.perf for row in chance_standings(traces)}
    found = []
    for contest, searches in contests.items():
        figures = {
            strategy: {trace.seed: trace.report().perf for trace in members}
            for strategy, members in searches.items()
        }
        of = next(iter(searches.values()))[0]
        for first, second in itertools.combinations(searches, 2):
            gaps = _gaps(figures, first, second)
            shared = len(figures[first].keys() & figures[second].keys())
            found.append((first, second, of, gaps, shared - len(gaps), _wilcoxon(gaps)))
        for first in searches if contest in chance else ():
            gaps = np.array(list(figures[first].values()), dtype=float) - chance[contest]
            unknown = np.isnan(gaps)
            if not unknown.all():
                gaps = gaps[~unknown]
                found.append((first, CHANCE, of, gaps, int(unknown.sum()), _student(gaps)))
    corrected = holm([p for *_, p in found])
    return [
        Difference(
            first, second, of.dataset, of.protocol, len(gaps), float(gaps.mean()),
            *_interval(gaps, level), p, q, q <= level, left_out,
        )
        for (first, second, of, gaps, left_out, p), q in zip(found, corrected, strict=True)
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


def _student(gaps: Floats) -> float:
    """Return the p-value of Student's test that the mean is 0; 1 where nothing speaks against."""
    if len(gaps) < 2 or not gaps.any():
        return 1.0
    return float(stats.ttest_1samp(gaps, 0).pvalue) if np.ptp(gaps) else 0.0


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
        chance: Where exact random search would stand: half a rank behind the last strategy that is
            better, on average; None where it is not known, as budgets are training time.
        critical: By Nemenyi's test, how far apart mean ranks must be to differ.
        level: The level of the test.
    """

    protocol: str
    contests: int
    ranks: Mapping[str, float]
    chance: float | None
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
    traces = list(traces)
    chance = {row.contest: row.perf for row in chance_standings(traces)}
    by_protocol: dict[str, list[Standing]] = {}
    for row in compare(traces, chance=False):
        by_protocol.setdefault(row.protocol, []).append(row)
    return [
        _ranked(protocol, rows, level, chance)
        for protocol, rows in by_protocol.items()
        if len({row.strategy for row in rows}) > 1
    ]


def _ranked(
    protocol: str, rows: Sequence[Standing], level: float, chance: Mapping[Contest, float]
) -> MeanRanks:
    """Rank the strategies of one protocol."""
    contests: dict[Contest, dict[str, float]] = {}
    for row in rows:
        contests.setdefault(row.contest, {})[row.strategy] = row.perf
    names = sorted({row.strategy for row in rows})
    shared = {one: perfs for one, perfs in contests.items() if perfs.keys() == set(names)}
    if not shared:
        raise QueryError(
            f"no contest ({protocol}) has searches of all of {', '.join(names)}; "
            "ranks need the same contests for all"
        )
    lowest = [
        [np.nan_to_num(perfs[name], nan=-np.inf) for name in names] for perfs in shared.values()
    ]
    means = np.mean([ranks(-np.array(perfs)) for perfs in lowest], axis=0)
    better = [
        sum(perf > chance[contest] for perf in perfs)
        for contest, perfs in zip(shared, lowest, strict=True)
        if contest in chance
    ]
    count = len(names)
    quantile = float(stats.studentized_range.ppf(1 - level, count, np.inf))
    best_first = sorted(zip(means.tolist(), names, strict=True))
    return MeanRanks(
        protocol=protocol,
        contests=len(shared),
        ranks={name: mean for mean, name in best_first},
        chance=float(np.mean(better)) + 0.5 if len(better) == len(shared) else None,
        critical=quantile * math.sqrt(count * (count + 1) / (12 * len(shared))),
        level=level,
    )
