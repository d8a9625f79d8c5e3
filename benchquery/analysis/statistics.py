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
    """Return the rank of each value, from 1, equal values sharing their mean rank."""
    _, group, size = np.unique(values, return_inverse=True, return_counts=True)
    shared: Floats = (np.cumsum(size) - (size - 1) / 2)[group]
    return shared


def top_rows(values: Array, share: float) -> Ints:
    """Return the positions of the largest values; ties by position.

    Args:
        values: The values.
        share: Which share of them, rounded, but at least one.

    Raises:
        QueryError: If the share is not in (0, 1].
    """
    if not 0 < share <= 1:
        raise QueryError(f"the share of the top must be above 0 and at most 1, not {share}")
    return np.argsort(-values, kind="stable")[: max(1, round(share * len(values)))]


def correlation(one: Array, other: Array) -> float:
    """Return Pearson's correlation; NaN where one side does not vary, or there are too few."""
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])
