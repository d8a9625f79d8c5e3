"""How near a search with two objectives came to the true Pareto front of its table."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.kinds.architectures.table import ArchTable
from benchquery.search.trace import Trace
from benchquery.table.fronts import pareto_rows

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")


@dataclasses.dataclass(frozen=True)
class Front:
    """A front that was found, against the true one.

    Attributes:
        found: The architectures that were asked for and that no other one asked for beats.
        true: The architectures of the table that none beats.
        hits: How many of the true ones were found.
        share: The hypervolume of the found front over that of the true one, measured from
            the worst values of the table: 1 is all there is. NaN if the true one has none.
        left_out: How many architectures of the table have no figure in one of the two, so that
            they are on no front.
    """

    found: tuple[int, ...]
    true: tuple[int, ...]
    hits: int
    share: float
    left_out: int


def front(trace: Trace, table: ArchTable, cheaper: str = "latency") -> Front:
    """Compare the front of validation metric against a cost with the table's own.

    Args:
        trace: The trace.
        table: The table that was searched.
        cheaper: The column that is to be small.

    Raises:
        QueryError: If no architecture of the table has a figure in both.
    """
    known = known_part(table, "valid_perf", cheaper)
    costs = np.stack([-known.column("valid_perf"), known.column(cheaper)], axis=1)
    worst = costs.max(axis=0)
    asked = np.flatnonzero(np.isin(known.hashes, trace.hashes))
    found = asked[pareto_rows(costs[asked])]
    true = pareto_rows(costs)
    whole = hypervolume(costs[true], worst)
    return Front(
        found=tuple(known.hashes[found].tolist()),
        true=tuple(known.hashes[true].tolist()),
        hits=len(np.intersect1d(found, true)),
        share=hypervolume(costs[found], worst) / whole if whole else math.nan,
        left_out=len(table) - len(known),
    )


def hypervolume(points: Floats, worst: Floats) -> float:
    """Return the area that points dominate, down to the worst: (n, 2), both to be small."""
    first, second = points[np.lexsort((points[:, 1], points[:, 0]))].T
    lowest = np.minimum.accumulate(np.minimum(second, worst[1]))
    widths = np.diff(np.append(np.minimum(first, worst[0]), worst[0]))
    return float((widths * (worst[1] - lowest)).sum())
