r"""A condensed graph: the payload of methods that condense one graph with labelled nodes.

Features and edge weights are kept in half precision. What tables say of a graph leaves edges whose
weight is below a threshold out; its homophily is GC-Bench's weighted one,

.. math::
    \mathcal{H} = \frac{\sum_{(j,k) \in \mathcal{E}} w_{jk} \, \mathbf{1}(y_j = y_k)}
    {\sum_{(j,k) \in \mathcal{E}} w_{jk}}

Torch is needed only to compute with a graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchquery.kinds.condensed.forms import GRAPH
from benchquery.kinds.condensed.graphs import edge_weights

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data


@dataclass(frozen=True)
class CondensedGraph:
    """A small synthetic graph.

    Attributes:
        x: (n, f) features.
        y: (n,) classes, or (n, c) probabilities of the classes.
        adjacency: (n, n) symmetric edge weights from 0 to 1 without self-loops; None for a graph
            without edges.
    """

    x: Tensor
    y: Tensor
    adjacency: Tensor | None

    @property
    def labels(self) -> Tensor:
        """(n,) the class of each node, the likeliest where they are probabilities."""
        return self.y if self.y.dim() == 1 else self.y.argmax(dim=1)

    def edges(self, threshold: float) -> tuple[Tensor, Tensor]:
        """Return the edges whose weights reach a threshold, (2, edges), and the weights."""
        import torch

        if self.adjacency is None:
            return torch.empty((2, 0), dtype=torch.int64), torch.empty(0)
        weights = self.adjacency
        kept = torch.where(weights >= threshold, weights, torch.zeros_like(weights)).cpu().float()
        kept.fill_diagonal_(0.0)
        edges = kept.nonzero().t().contiguous()
        return edges, kept[edges[0], edges[1]]

    def detach(self) -> CondensedGraph:
        """Return a copy that later optimisation steps don't change."""
        adjacency = None if self.adjacency is None else self.adjacency.detach().clone()
        return CondensedGraph(self.x.detach().clone(), self.y.detach().clone(), adjacency)

    def stored(self) -> StoredGraph:
        """Return the graph rounded to what is kept of it."""
        adjacency = None if self.adjacency is None else self.adjacency.half().cpu().numpy()
        soft = self.y.dim() > 1
        y = self.y.float().cpu().numpy() if soft else self.y.long().cpu().numpy()
        return StoredGraph(self.x.half().cpu().numpy(), y, adjacency)


@dataclass(frozen=True, eq=False)
class StoredGraph:
    """A condensed graph in plain arrays.

    Attributes:
        x: (n, f) float16 features.
        y: (n,) int64 classes, or (n, c) float32 probabilities of the classes.
        adjacency: (n, n) float16 edge weights; None for a graph without edges.
    """

    form: ClassVar[str] = GRAPH
    blank: ClassVar[Mapping[str, int | float]] = MappingProxyType(
        {"nodes": 0, "edges": 0, "graph_bytes": 0, "density": np.nan, "homophily": np.nan}
    )

    x: np.ndarray
    y: np.ndarray
    adjacency: np.ndarray | None

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> StoredGraph:
        """Read the graph out of the arrays of a table's file."""
        return cls(arrays["x"], arrays["y"], arrays.get("adjacency"))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a table's file keeps, by name."""
        arrays = {"x": self.x, "y": self.y}
        return arrays if self.adjacency is None else {**arrays, "adjacency": self.adjacency}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> StoredGraph | None:
        """Read the graph in a record of a run; None if it has none."""
        nodes = record["nodes"]
        if nodes <= 0:
            return None
        labels = np.asarray(record["y"])
        if not labels.size:
            raise ValueError("its nodes have no classes")
        y = labels.astype(np.int64) if labels.size == nodes else labels.reshape(nodes, -1)
        weights = np.asarray(record["adjacency"])
        adjacency = weights.reshape(nodes, nodes) if weights.size else None
        return cls(np.asarray(record["x"]).reshape(nodes, -1), y, adjacency)

    def to_record(self) -> dict[str, Any]:
        """Return the number of nodes and the arrays, flattened, as a record has them."""
        weights = np.empty(0, np.float16) if self.adjacency is None else self.adjacency
        return {
            "nodes": len(self.x),
            "x": self.x.reshape(-1),
            "y": self.y.astype(np.float32).reshape(-1),
            "adjacency": weights.reshape(-1),
        }

    def payload(self) -> CondensedGraph:
        """Return the graph in single precision, for computing with."""
        import torch

        adjacency = None if self.adjacency is None else torch.tensor(self.adjacency).float()
        return CondensedGraph(torch.tensor(self.x).float(), torch.tensor(self.y), adjacency)

    def data(self, threshold: float) -> Data:
        """Return the graph as PyG's: ``x``, ``edge_index``, ``edge_weight`` and ``y``."""
        import torch
        from torch_geometric.data import Data

        graph = self.payload()
        edge_index, edge_weight = graph.edges(max(threshold, torch.finfo().tiny))
        return Data(x=graph.x, edge_index=edge_index, edge_weight=edge_weight, y=graph.y)

    @property
    def labels(self) -> np.ndarray:
        """(n,) the class of each node, the likeliest where they are probabilities."""
        return self.y if self.y.ndim == 1 else self.y.argmax(axis=1)

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite in half precision."""
        return all(bool(np.isfinite(array).all()) for array in self.to_arrays().values())

    @property
    def bytes(self) -> int:
        """The size of the arrays."""
        return sum(array.nbytes for array in self.to_arrays().values())

    def columns(self, threshold: float) -> dict[str, Any]:
        """Return what a table says of the graph.

        Args:
            threshold: Edges with less weight are left out.

        Returns:
            ``nodes``; ``edges``, each counted once; ``graph_bytes``, the size of its arrays;
            ``density``, its edges as a share of all pairs of nodes; ``homophily``, the share of
            the edge weight that joins nodes of one class, NaN without edges.
        """
        nodes = len(self.x)
        if self.adjacency is None:
            nothing = {"edges": 0, "graph_bytes": self.bytes, "density": 0.0}
            return {"nodes": nodes, **nothing, "homophily": float("nan")}
        weights = edge_weights(self.adjacency, threshold).astype(np.float64)
        edges = int(np.count_nonzero(weights))
        pairs = nodes * (nodes - 1) // 2
        same = self.labels[:, None] == self.labels[None, :]
        total = float(weights.sum())
        return {
            "nodes": nodes,
            "edges": edges,
            "graph_bytes": self.bytes,
            "density": edges / pairs if pairs else 0.0,
            "homophily": float(weights[same].sum() / total) if total else float("nan"),
        }
