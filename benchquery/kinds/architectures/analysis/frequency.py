"""Which choices the best architectures make (Figures 3 and 10 of the paper)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.analysis.statistics import top_rows
from benchquery.kinds.architectures.analysis.agreement import goodness
from benchquery.kinds.architectures.arch import LINKS, OPS
from benchquery.kinds.architectures.encoding import link_indices, op_indices
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Ints
else:
    np = LazyModule("numpy")


def _best(table: ArchTable, share: float, by: str) -> Ints:
    """Return the hashes of the top share of the architectures that have a figure."""
    known = known_part(table, by)
    return known.hashes[top_rows(goodness(known.column(by), by), share)]


def link_frequencies(table: ArchTable, share: float = 0.05, by: str = "perf") -> dict[str, float]:
    """Return how often each link list stands among the top share of a table.

    Architectures without a figure are left out.

    Returns:
        By link list, written as four digits, its share; they add up to 1.

    Raises:
        QueryError: If no architecture has a figure, or the share is not in (0, 1].
    """
    counts = np.bincount(link_indices(_best(table, share, by)), minlength=len(LINKS))
    names = ("".join(map(str, link)) for link in LINKS)
    return dict(zip(names, (counts / counts.sum()).tolist(), strict=True))


def node_depths() -> Ints:
    """Return the depth of every node of every link list: 1 on the input, 2 below: (9, 4)."""
    depths = []
    for link in LINKS:
        below = [0]
        for parent in link:
            below.append(below[parent] + 1)
        depths.append(below[1:])
    return np.array(depths)


def op_frequencies(
    table: ArchTable, share: float = 0.05, by: str = "perf", *, first: bool | None = None
) -> dict[str, float]:
    """Return how often each operation is used by the top share of a table.

    Architectures without a figure are left out.

    Args:
        table: The table.
        share: Which share of the architectures counts as top.
        by: The column that says what is best.
        first: True for operations on the network's input only (depth one), False for
            all the deeper ones, None for both.

    Returns:
        By operation, its share; they add up to 1. NaN if the top has no such node.

    Raises:
        QueryError: If no architecture has a figure, or the share is not in (0, 1].
    """
    best = _best(table, share, by)
    used = op_indices(best)
    if first is not None:
        used = used[(node_depths()[link_indices(best)] == 1) == first]
    counts = np.bincount(used.ravel(), minlength=len(OPS))
    if not used.size:
        return dict.fromkeys(OPS, float("nan"))
    return dict(zip(OPS, (counts / counts.sum()).tolist(), strict=True))
