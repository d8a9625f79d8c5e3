"""Statistics that serve every kind of table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import QueryError

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Floats, Ints
else:
    np = LazyModule("numpy")


def ranks(values: Array) -> Floats:
    """Return the rank of each value, from 1, equal values sharing their mean rank.

    A missing value (NaN) has no rank: NaN.
    """
    known = ~np.isnan(values)
    _, group, size = np.unique(values[known], return_inverse=True, return_counts=True)
    shared: Floats = np.full(len(values), np.nan)
    shared[known] = (np.cumsum(size) - (size - 1) / 2)[group]
    return shared


def top_rows(values: Array, share: float) -> Ints:
    """Return the positions of the largest values; ties by position.

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
