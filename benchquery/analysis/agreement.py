"""How alike two tables rank the architectures that both hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchquery.errors import QueryError
from benchquery.table import ArchTable


def _ranks(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the rank of each value, equal values sharing their mean rank."""
    _, group, size = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(size)
    return (last - (size - 1) / 2)[group]


def _top(values: npt.NDArray[Any], k: int) -> npt.NDArray[np.intp]:
    """Return the positions of the k largest values; ties by position."""
    return np.argsort(-values, kind="stable")[:k]


def compare_tables(
    first: ArchTable, second: ArchTable, by: str = "valid_perf", share: float = 0.05
) -> dict[str, Any]:
    """Return how well two tables agree on a column.

    Args:
        first: A table.
        second: Another.
        by: The column to compare.
        share: Which share of the common architectures counts as top.

    Returns:
        The number of common architectures, Pearson's and Spearman's correlation, and
        which share of the one's top is in the other's.

    Raises:
        QueryError: If they have fewer than two architectures in common, or the share is
            not in (0, 1].
    """
    if not 0 < share <= 1:
        raise QueryError(f"the share of the top must be above 0 and at most 1, not {share}")
    common = np.intersect1d(first.hashes, second.hashes)
    if len(common) < 2:
        raise QueryError(
            f"the tables of {first.name!r} and {second.name!r} have {len(common)} "
            "architectures in common; at least 2 are needed"
        )
    a, b = first.lookup(common, by), second.lookup(common, by)
    k = max(1, round(share * len(common)))
    overlap = len(np.intersect1d(_top(a, k), _top(b, k))) / k
    return {
        "common": len(common),
        "pearson": float(np.corrcoef(a, b)[0, 1]),
        "spearman": float(np.corrcoef(_ranks(a), _ranks(b))[0, 1]),
        "top_overlap": overlap,
        "by": by,
    }
