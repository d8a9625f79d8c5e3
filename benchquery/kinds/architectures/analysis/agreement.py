"""How alike tables rank the architectures that they share (Figure 4 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.statistics import ranks, top_rows
from benchquery.errors import QueryError, UnknownNameError
from benchquery.kinds.architectures.kind import TABLE
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np
    from scipy import stats

    from benchquery._typing import Array, Floats
else:
    np = LazyModule("numpy")
    stats = LazyModule("scipy.stats", extra="analysis")

MEASURES = ("pearson", "spearman", "kendall", "top_overlap")


def goodness(values: Array, by: str) -> Array:
    """Return the values of a column turned so that more is better."""
    return -values if TABLE.column(by).direction == "lower" else values


def _common(first: ArchTable, second: ArchTable, by: str) -> tuple[Array, Array]:
    """Return how good the architectures are that both tables hold."""
    common = np.intersect1d(first.hashes, second.hashes)
    if len(common) < 2:
        raise QueryError(
            f"the tables of {first.name!r} and {second.name!r} have {len(common)} "
            "architectures in common; at least 2 are needed"
        )
    return goodness(first.lookup(common, by), by), goodness(second.lookup(common, by), by)


def _measure(name: str, a: Array, b: Array, share: float) -> float:
    """Return one measure of how two columns agree."""
    if name == "pearson":
        return float(np.corrcoef(a, b)[0, 1])
    if name == "spearman":
        return float(np.corrcoef(ranks(a), ranks(b))[0, 1])
    if name == "kendall":
        return float(stats.kendalltau(a, b).statistic)
    if name == "top_overlap":
        top = top_rows(a, share)
        return len(np.intersect1d(top, top_rows(b, share))) / len(top)
    raise UnknownNameError(f"unknown measure {name!r}; allowed: {', '.join(MEASURES)}")


def agreement(
    first: ArchTable, second: ArchTable, by: str = "perf", share: float = 0.05
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
    a, b = _common(first, second, by)
    measured = {name: _measure(name, a, b, share) for name in MEASURES if name != "kendall"}
    return {"common": len(a), **measured, "by": by}


def agreement_matrix(
    tables: Mapping[str, ArchTable], measure: str, by: str = "perf", share: float = 0.05
) -> Floats:
    """Return one measure for every pair of tables, in their order.

    Args:
        tables: Tables by name.
        measure: One of `MEASURES`.
        by: The column to compare.
        share: Which share of the common architectures counts as top.

    Raises:
        QueryError: If two tables share fewer than two architectures.
        UnknownNameError: If there is no such measure.
    """
    matrix: Floats = np.ones((len(tables), len(tables)))
    opened = list(tables.values())
    for i, first in enumerate(opened):
        for j, second in enumerate(opened[:i]):
            a, b = _common(first, second, by)
            matrix[i, j] = matrix[j, i] = _measure(measure, a, b, share)
    return matrix
