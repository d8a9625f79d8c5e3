"""How alike tables rank the architectures that they share (Figure 4 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import has_figures, known_part, too_few
from benchquery.analysis.statistics import correlation, kendall, rank_correlation, top_rows
from benchquery.errors import QueryError, UnknownNameError
from benchquery.kinds.architectures.kind import TABLE
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Floats
else:
    np = LazyModule("numpy")

MEASURES = ("pearson", "spearman", "kendall", "top_overlap")


def goodness(values: Array, by: str) -> Array:
    """Return the values of a column turned so that more is better."""
    return -values if TABLE.column(by).direction == "lower" else values


@dataclass(frozen=True, eq=False)
class Common:
    """The architectures that two tables have a figure of.

    Attributes:
        first: How good each is by the first table.
        second: How good each is by the second.
        left_out: How many both tables hold, of which at least one has no figure.
    """

    first: Array
    second: Array
    left_out: int


def common(first: ArchTable, second: ArchTable, by: str) -> Common:
    """Return the architectures that two tables have a figure of, in the order of their hashes.

    Raises:
        QueryError: If these are fewer than two.
    """
    shared, *rows = np.intersect1d(first.hashes, second.hashes, return_indices=True)
    if len(shared) < 2:
        raise QueryError(
            f"the tables of {first.name!r} and {second.name!r} have {len(shared)} "
            "architectures in common; at least 2 are needed"
        )
    known = has_figures(first, by)[rows[0]] & has_figures(second, by)[rows[1]]
    count = int(known.sum())
    if count < 2:
        what = f"architectures that the tables {first.name!r} and {second.name!r} share"
        raise too_few(count, len(shared), what, (by,), 2)
    a, b = (
        goodness(table.column(by)[held[known]], by)
        for table, held in zip((first, second), rows, strict=True)
    )
    return Common(a, b, len(shared) - count)


def _measure(name: str, a: Array, b: Array, share: float) -> float:
    """Return one measure of how two columns agree; NaN if one of them does not vary."""
    if name == "pearson":
        return correlation(a, b)
    if name == "spearman":
        return rank_correlation(a, b)
    if name == "kendall":
        return kendall(a, b)
    if name == "top_overlap":
        top = top_rows(a, share)
        return len(np.intersect1d(top, top_rows(b, share))) / len(top)
    raise UnknownNameError(f"unknown measure {name!r}; allowed: {', '.join(MEASURES)}")


def agreement(
    first: ArchTable, second: ArchTable, by: str = "perf", share: float = 0.05
) -> dict[str, Any]:
    """Return how well two tables agree on a column.

    Architectures without a figure in one of them are left out.

    Args:
        first: A table.
        second: Another.
        by: The column to compare.
        share: Which share of the common architectures counts as top.

    Returns:
        How many architectures were compared (``common``) and ``left_out``, Pearson's and
        Spearman's correlation, and which share of the one's top is in the other's. A
        correlation is NaN if a side does not vary.

    Raises:
        QueryError: If they have figures of fewer than two architectures in common, or the
            share is not in (0, 1].
    """
    both = common(first, second, by)
    a, b = both.first, both.second
    measured = {name: _measure(name, a, b, share) for name in MEASURES if name != "kendall"}
    return {"common": len(a), "left_out": both.left_out, **measured, "by": by}


def agreement_matrix(
    tables: Mapping[str, ArchTable], measure: str, by: str = "perf", share: float = 0.05
) -> Floats:
    """Return one measure for every pair of tables, in their order.

    Architectures without a figure in one of a pair are left out. A table agrees wholly with
    itself.

    Args:
        tables: Tables by name.
        measure: One of `MEASURES`.
        by: The column to compare.
        share: Which share of the common architectures counts as top.

    Raises:
        QueryError: If a table has fewer than two figures, or two tables have figures of fewer
            than two architectures in common.
        UnknownNameError: If there is no such measure.
    """
    matrix: Floats = np.ones((len(tables), len(tables)))
    opened = list(tables.values())
    for i, first in enumerate(opened):
        known_part(first, by, least=2)
        for j, second in enumerate(opened[:i]):
            both = common(first, second, by)
            matrix[i, j] = matrix[j, i] = _measure(measure, both.first, both.second, share)
    return matrix
