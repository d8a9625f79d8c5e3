r"""A map of datasets: those that rank architectures alike lie close together.

With :math:`\rho` the rank correlation of two tables over the architectures that they share,

.. math::
    d = \sqrt{2 (1 - \rho)}

is the distance of their rankings, as vectors of length 1. The map has the two directions in which
the tables differ most (classical scaling). Which belong together is found in the correlations
themselves, not in the map: the two groups that agree most on average are joined, again and again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part, left_out
from benchquery.errors import QueryError
from benchquery.kinds.architectures.analysis.agreement import agreement_matrix
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np
    from scipy.cluster import hierarchy
    from scipy.spatial import distance

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")
    hierarchy = LazyModule("scipy.cluster.hierarchy", extra="analysis")
    distance = LazyModule("scipy.spatial.distance", extra="analysis")

LEAST = 0.4
"""How much the members of a group agree on average, at least."""
_FEWEST = 3


@dataclass(frozen=True, eq=False)
class DatasetMap:
    """Where datasets lie, by how alike they rank architectures.

    Attributes:
        names: The tables.
        by: The figure that ranks.
        correlation: Spearman's correlation of each two.
        places: Two coordinates of each.
        explained: The share of the squared distances that the two coordinates show.
        joins: Which groups are joined in which order, as `scipy.cluster.hierarchy.linkage` has it;
            heights are 1 minus the mean correlation.
        least: What the mean correlation between two groups must be for them to be one.
        groups: The group of each, numbered from 1 in the order of the names.
        left_out: How many rows of all tables have no figure.
    """

    names: tuple[str, ...]
    by: str
    correlation: Floats
    places: Floats
    explained: float
    joins: Floats
    least: float
    groups: Ints
    left_out: int

    @property
    def note(self) -> str:
        """What the rows are about."""
        return (
            f"Spearman's correlation by {self.by}; the map shows {self.explained:.0%} of the "
            f"squared distances; groups agree by {self.least:g} or more on average"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each table: where it lies, what is nearest, and its group."""
        others = self.correlation - 2 * np.eye(len(self.names))
        nearest = others.argmax(axis=1)
        return [
            {
                "table": name,
                "x": float(self.places[row, 0]),
                "y": float(self.places[row, 1]),
                "nearest": self.names[nearest[row]],
                "spearman": float(others[row, nearest[row]]),
                "group": int(self.groups[row]),
            }
            for row, name in enumerate(self.names)
        ]


def dataset_map(
    tables: Mapping[str, ArchTable], by: str = "perf", least: float = LEAST
) -> DatasetMap:
    """Return where datasets lie, by how alike they rank architectures.

    Args:
        tables: Tables by name, at least two.
        by: The figure that ranks.
        least: How much the members of a group agree on average, at least.

    Raises:
        QueryError: If there are fewer than two, a table has fewer than three figures or figures
            that are all alike, two have figures of fewer than two architectures in common, or
            `least` is no correlation.
    """
    if len(tables) < 2:
        raise QueryError(f"a map needs at least 2 tables, not {len(tables)}")
    if not -1 <= least <= 1:
        raise QueryError(f"a correlation is between -1 and 1, not {least}")
    for table in tables.values():
        known_part(table, by, least=_FEWEST)
    matrix = agreement_matrix(tables, "spearman", by)
    if np.isnan(matrix).any():
        names = [name for name, row in zip(tables, matrix, strict=True) if np.isnan(row).any()]
        raise QueryError(f"{by!r} does not vary in one of the tables {', '.join(names)}")
    places, explained = _scaled(2 * (1 - matrix))
    joins = hierarchy.linkage(distance.squareform(1 - matrix, checks=False), "average")
    found = hierarchy.fcluster(joins, 1 - least, "distance")
    order = list(dict.fromkeys(found.tolist()))
    groups = np.array([1 + order.index(one) for one in found.tolist()])
    missing = sum(left_out(table, by) for table in tables.values())
    return DatasetMap(tuple(tables), by, matrix, places, explained, joins, least, groups, missing)


def _scaled(squares: Floats) -> tuple[Floats, float]:
    """Return places in the plane for squared distances, and the share of these that it shows."""
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    places = vectors[:, :2] * np.sqrt(values[:2])
    largest = np.abs(places).argmax(axis=0)
    turned = places * np.where(places[largest, [0, 1]] < 0, -1.0, 1.0)
    return turned, float(values[:2].sum() / values.sum()) if values.any() else 1.0
