"""How well the best architecture of one dataset does on another (Figure 11 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.kinds.architectures.analysis.agreement import common
from benchquery.kinds.architectures.table import ArchTable
from benchquery.table.ties import level

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")


def transfer_matrix(tables: Mapping[str, ArchTable], by: str = "perf") -> Floats:
    """Return the rate at which one table's best architecture beats another table's others.

    Only architectures that both tables hold take part, so that the best of a large space
    can be judged on a table of a smaller one; those without a figure in one of them are left
    out. What ties (`benchquery.table.ties`) is not beaten.

    Args:
        tables: Tables by name.
        by: The column that says what is best, and that is judged.

    Returns:
        Row i, column j: the best of table i, judged by table j.

    Raises:
        QueryError: If two tables have figures of fewer than two architectures in common.
    """
    matrix: Floats = np.ones((len(tables), len(tables)))
    for i, search in enumerate(tables.values()):
        for j, judge in enumerate(tables.values()):
            both = common(search, judge, by)
            best, judged = both.first.argmax(), level(both.second)
            matrix[i, j] = (np.delete(judged, best) < judged[best]).mean()
    return matrix
