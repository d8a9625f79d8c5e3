"""Tables of operation weights: a row an operation of a node, link list by link list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.kinds.architectures.arch import NODES, OPS
from benchquery.kinds.weights.mixtures import OperationWeights
from benchquery.table.rows import RowTable

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

WeightKey = tuple[str, int, int, str]
"""Link list, seed, position and operation."""


class WeightTable(RowTable[WeightKey]):
    """A table of operation weights: (link, seed, position, operation) -> `Record`."""

    def operation_weights(self) -> OperationWeights:
        """Return the weights of all searches that ended well, as one array.

        Raises:
            QueryError: If no search ended well.
        """
        done = self.column("status") == "ok"
        present = set(self.column("operation")[done].tolist())
        ops = tuple(op for op in OPS if op in present)
        kept = self.take(np.flatnonzero(done))
        cells = dict(zip(kept, kept.column("weight").tolist(), strict=True))
        searches = tuple(sorted({(link, seed) for link, seed, _, _ in cells}))
        values = np.array(
            [
                [[cells[*search, node, op] for op in ops] for node in range(1, NODES + 1)]
                for search in searches
            ]
        ).reshape(len(searches), NODES, len(ops))
        return OperationWeights(self.dataset, ops, searches, values)
