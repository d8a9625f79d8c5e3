"""Pareto fronts: the rows that no other row beats in everything at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")


def pareto_rows(costs: Floats) -> Ints:
    """Return the rows that are dominated by none.

    A row dominates another if it is nowhere larger and somewhere smaller, so equal rows
    stay together. Rows with a NaN are never part of a front.

    Equal rows are taken as one and visited in lexicographic order. A row can then be
    dominated only by one before it, and is if that one is nowhere larger.

    Args:
        costs: One row a candidate, one column a cost, all to be minimised.
    """
    valid = np.flatnonzero(~np.isnan(costs).any(axis=1))
    unique, group = np.unique(costs[valid], axis=0, return_inverse=True)
    kept = np.zeros(len(unique), dtype=bool)
    if unique.shape[1] == 2:
        last = unique[:, 1]
        least_before = np.minimum.accumulate(np.concatenate(([np.inf], last)))[:-1]
        kept = last < least_before
    else:
        for row, cost in enumerate(unique):
            kept[row] = not (unique[kept] <= cost).all(axis=1).any()
    return valid[kept[group.ravel()]]
