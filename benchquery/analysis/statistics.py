"""Statistics that serve every kind of table."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.table.ties import level

if TYPE_CHECKING:
    import numpy as np
    from scipy import stats

    from benchquery._typing import Array, Floats, Ints
else:
    np = LazyModule("numpy")
    stats = LazyModule("scipy.stats", extra="analysis")


def ranks(values: Array) -> Floats:
    """Return the rank of each value, from 1, values that tie sharing their mean rank.

    Values tie if they are equal but for rounding (`benchquery.table.ties`). A missing value (NaN)
    has no rank: NaN.
    """
    known = ~np.isnan(values)
    _, group, size = np.unique(level(values[known]), return_inverse=True, return_counts=True)
    shared: Floats = np.full(len(values), np.nan)
    shared[known] = (np.cumsum(size) - (size - 1) / 2)[group]
    return shared


def top_rows(values: Array, share: float) -> Ints:
    """Return the positions of the largest values; equal ones in their order, as `top` has it.

    Args:
        values: The values; missing ones (NaN) are none of them.
        share: Which share of the known ones, rounded, but at least one.

    Raises:
        QueryError: If the share is not in (0, 1], or no value is known.
    """
    if not 0 < share <= 1:
        raise QueryError(f"the share of the top must be above 0 and at most 1, not {share}")
    count = int((~np.isnan(values)).sum())
    if not count:
        raise QueryError(f"none of {len(values):,} values is known, so there is no top")
    return np.argsort(-values, kind="stable")[: max(1, round(share * count))]


def correlation(one: Array, other: Array) -> float:
    """Return Pearson's correlation over the pairs of which both values are known.

    It is NaN where one side does not vary, or there are fewer than two pairs.
    """
    known = ~(np.isnan(one) | np.isnan(other))
    one, other = one[known], other[known]
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])


def rank_correlation(one: Array, other: Array) -> float:
    """Return Spearman's correlation, as `correlation` does Pearson's."""
    known = ~(np.isnan(one) | np.isnan(other))
    return correlation(ranks(one[known]), ranks(other[known]))


def kendall(one: Array, other: Array) -> float:
    """Return Kendall's tau-b, as `correlation` does Pearson's."""
    known = ~(np.isnan(one) | np.isnan(other))
    return float(stats.kendalltau(level(one[known]), level(other[known])).statistic)


def correlation_interval(
    value: float, pairs: int, *, ranked: bool = False, level: float = 0.95
) -> tuple[float, float]:
    """Return the interval of a correlation, by Fisher's transformation.

    Args:
        value: The correlation.
        pairs: How many pairs it is of; with fewer than four there is no interval: NaN.
        ranked: Whether it is Spearman's, which varies a little more (Fieller).
        level: How often such an interval holds the true correlation.

    Example:
        >>> low, high = correlation_interval(0.5, 9)
        >>> round(low, 2), round(high, 2)
        (-0.25, 0.87)
    """
    if pairs < 4 or math.isnan(value) or abs(value) >= 1:
        return (math.nan, math.nan) if pairs < 4 or math.isnan(value) else (value, value)
    reach = normal_quantile(level) * math.sqrt((1.06 if ranked else 1) / (pairs - 3))
    middle = math.atanh(value)
    return math.tanh(middle - reach), math.tanh(middle + reach)


def normal_quantile(level: float) -> float:
    """Return how many standard deviations either side hold a share of a normal distribution."""
    return statistics.NormalDist().inv_cdf((1 + level) / 2)


def wilson_interval(share: float, size: float, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a share that was seen in a sample of some size."""
    z = normal_quantile(level)
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    reach = z / (1 + z * z / size) * math.sqrt(share * (1 - share) / size + (z / size) ** 2 / 4)
    return middle - reach, middle + reach


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's step-down procedure, in their order.

    The chance of one false rejection among all of them is at most the level that they are
    compared with.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected, worst = [0.0] * len(values), 0.0
    for place, index in enumerate(order):
        worst = max(worst, min(1.0, (len(values) - place) * values[index]))
        corrected[index] = worst
    return corrected
