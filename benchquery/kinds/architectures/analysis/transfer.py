"""How well the best architecture of one dataset does on another (Figure 11 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.kinds.architectures.analysis.agreement import goodness
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")


def transfer_matrix(tables: Mapping[str, ArchTable], by: str = "perf") -> Floats:
    """Return the rate at which one table's best architecture beats another table's others.

    Only architectures that both tables hold take part, so that the best of a large space
    can be judged on a table of a smaller one.

    Args:
        tables: Tables by name.
        by: The column that says what is best, and that is judged.

    Returns:
        Row i, column j: the best of table i, judged by table j.
    """
    matrix: Floats = np.ones((len(tables), len(tables)))
    for i, search in enumerate(tables.values()):
        for j, judge in enumerate(tables.values()):
            common = np.intersect1d(search.hashes, judge.hashes)
            best = goodness(search.lookup(common, by), by).argmax()
            judged = goodness(judge.lookup(common, by), by)
            matrix[i, j] = (np.delete(judged, best) < judged[best]).mean()
    return matrix
