"""A condensed graph as tables keep it, and what can be told of it by looking.

Features and edge weights are kept in half precision. A graph is judged as it is kept, so what a
table says of a graph holds of the very graph in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchbuild.kinds.condense.nodes.problem import CondensedGraph


@dataclass(frozen=True, eq=False)
class StoredGraph:
    """A condensed graph in plain arrays.

    Attributes:
        x: (n, f) float16 features.
        y: (n,) int64 classes, or (n, c) float32 probabilities of the classes.
        adjacency: (n, n) float16 edge weights; None for a graph without edges.
    """

    x: np.ndarray
    y: np.ndarray
    adjacency: np.ndarray | None

    @classmethod
    def of(cls, graph: CondensedGraph) -> StoredGraph:
        """Round a condensed graph to what is kept of it."""
        adjacency = None if graph.adjacency is None else graph.adjacency.half().cpu().numpy()
        soft = graph.y.dim() > 1
        y = graph.y.float().cpu().numpy() if soft else graph.y.long().cpu().numpy()
        return cls(graph.x.half().cpu().numpy(), y, adjacency)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> StoredGraph | None:
        """Read the graph in a record of `GRAPH_FIELDS`; None if it has none."""
        nodes = record["nodes"]
        if nodes <= 0:
            return None
        labels = np.asarray(record["y"])
        y = labels.astype(np.int64) if labels.size == nodes else labels.reshape(nodes, -1)
        weights = np.asarray(record["adjacency"])
        adjacency = weights.reshape(nodes, nodes) if weights.size else None
        return cls(np.asarray(record["x"]).reshape(nodes, -1), y, adjacency)

    def to_record(self) -> dict[str, Any]:
        """Return the arrays of a record."""
        weights = np.empty(0, np.float16) if self.adjacency is None else self.adjacency
        return {
            "x": self.x.reshape(-1),
            "y": self.y.astype(np.float32).reshape(-1),
            "adjacency": weights.reshape(-1),
        }

    def condensed(self) -> CondensedGraph:
        """Return the graph in single precision, for computing with."""
        import torch

        from benchbuild.kinds.condense.nodes.problem import CondensedGraph

        adjacency = None if self.adjacency is None else torch.tensor(self.adjacency).float()
        return CondensedGraph(torch.tensor(self.x).float(), torch.tensor(self.y), adjacency)

    @property
    def labels(self) -> np.ndarray:
        """(n,) the class of each node, the likeliest where they are probabilities."""
        return self.y if self.y.ndim == 1 else self.y.argmax(axis=1)

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite in half precision."""
        arrays = (self.x, self.y) if self.adjacency is None else (self.x, self.y, self.adjacency)
        return all(bool(np.isfinite(array).all()) for array in arrays)

    @property
    def bytes(self) -> int:
        """The size of the arrays."""
        edges = 0 if self.adjacency is None else self.adjacency.nbytes
        return self.x.nbytes + self.y.nbytes + edges
