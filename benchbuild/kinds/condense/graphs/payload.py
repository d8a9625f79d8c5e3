"""Condensed sets of graphs: the payload of methods that make or choose whole graphs.

Features and edge weights are kept in half precision, edges as pairs of node numbers. A set whose
edges all have the weight 1 keeps no weights.

Two sizes say how much is kept, whatever the file makes of it; see `benchbuild.datasets.coding`.

Torch is needed only to compute with a set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchbuild.datasets.coding import compact_bytes, dense_bytes
from benchbuild.kinds.condense.arrays import pack, unpack

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch_geometric.data import Data

    from benchbuild.datasets.graphset import GraphBatch

BLANK: Mapping[str, int | float] = MappingProxyType(
    dict.fromkeys(("items", "nodes", "edges", "graph_bytes", "bytes_dense", "bytes_compact"), 0)
)
"""What tables say of a set that there is none of."""


@dataclass(frozen=True, eq=False)
class CondensedGraphs:
    """A small set of graphs of any sizes.

    Attributes:
        x: (nodes, features) of all graphs, one after another.
        edge_index: (2, edges) from source to target, in numbers of the set's nodes.
        edge_weight: (edges,) from 0 to 1.
        sizes: (graphs,) how many nodes each has.
        y: (graphs,) their classes.
        by_row: Whether its features are such that each node's sum to 1. Models that learn on it are
            then tried on graphs whose features are divided by their sum too.
    """

    x: Tensor
    edge_index: Tensor
    edge_weight: Tensor
    sizes: Tensor
    y: Tensor
    by_row: bool = False

    @classmethod
    def of(cls, graphs: GraphBatch) -> CondensedGraphs:
        """Make a set of graphs that are there."""
        import torch

        weight = graphs.edge_weight
        ones = torch.ones(graphs.num_edges, device=graphs.x.device)
        return cls(
            graphs.x, graphs.edge_index, ones if weight is None else weight, graphs.sizes, graphs.y
        )

    @classmethod
    def from_dense(
        cls, x: Tensor, adjacency: Tensor, y: Tensor, *, by_row: bool = False
    ) -> CondensedGraphs:
        """Make a set of graphs of one size.

        Args:
            x: (graphs, nodes, features).
            adjacency: (graphs, nodes, nodes) weights; those above 0 are edges. Loops are none.
            y: (graphs,) classes.
            by_row: See `CondensedGraphs`.
        """
        import torch

        graphs, nodes, features = x.shape
        without_loops = ~torch.eye(nodes, dtype=torch.bool, device=x.device)
        graph, source, target = ((adjacency > 0) & without_loops).nonzero(as_tuple=True)
        return cls(
            x.reshape(-1, features),
            torch.stack([graph * nodes + source, graph * nodes + target]),
            adjacency[graph, source, target],
            torch.full((graphs,), nodes, device=x.device),
            y,
            by_row,
        )

    def detach(self) -> CondensedGraphs:
        """Return a copy that later optimisation steps don't change."""
        parts = ("x", "edge_index", "edge_weight", "sizes", "y")
        copies = {part: getattr(self, part).detach().clone() for part in parts}
        return CondensedGraphs(**copies, by_row=self.by_row)

    def stored(self) -> StoredGraphs:
        """Return the set rounded to what is kept of it."""
        weights = self.edge_weight.half().cpu().numpy()
        return StoredGraphs(
            self.x.half().cpu().numpy(),
            self.edge_index.int().cpu().numpy(),
            None if (weights == 1).all() else weights,
            self.sizes.int().cpu().numpy(),
            self.y.long().cpu().numpy(),
            self.by_row,
        )

    def batch(self, threshold: float, device: torch.device) -> GraphBatch:
        """Return the graphs as models take them.

        Args:
            threshold: Edges with less weight are left out; those that stay keep theirs.
            device: Where to compute.
        """
        import torch

        from benchbuild.datasets.graphset import GraphBatch

        kept = self.edge_weight >= threshold
        weight = self.edge_weight[kept]
        starts = torch.cat([self.sizes.new_zeros(1), self.sizes.cumsum(0)]).long()
        return GraphBatch(
            self.x,
            self.edge_index[:, kept].long(),
            starts,
            self.y,
            edge_weight=None if bool((weight == 1).all()) else weight,
        ).to(device)


@dataclass(frozen=True, eq=False)
class StoredGraphs:
    """A condensed set of graphs in plain arrays.

    Attributes:
        x: (nodes, features) float16.
        edges: (2, edges) int32 from source to target, in numbers of the set's nodes.
        weights: (edges,) float16; None if all are 1.
        sizes: (graphs,) int32 how many nodes each graph has.
        y: (graphs,) int64 their classes.
        by_row: See `CondensedGraphs`.
    """

    x: np.ndarray
    edges: np.ndarray
    weights: np.ndarray | None
    sizes: np.ndarray
    y: np.ndarray
    by_row: bool = False

    form: ClassVar[str] = "graphs"
    blank: ClassVar[Mapping[str, int | float]] = BLANK

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> StoredGraphs:
        """Read the set out of the arrays of a table's file."""
        return cls(
            arrays["x"],
            arrays.get("edges", np.empty((2, 0), np.int32)),
            arrays.get("weights"),
            arrays["sizes"],
            arrays["y"],
            "by_row" in arrays,
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a table's file keeps, by name."""
        arrays = {"x": self.x, "sizes": self.sizes, "y": self.y}
        if self.edges.size:
            arrays["edges"] = self.edges
        if self.weights is not None:
            arrays["weights"] = self.weights
        if self.by_row:
            arrays["by_row"] = np.ones(1, np.uint8)
        return arrays

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> StoredGraphs | None:
        """Read the set in a record of a run; None if it has none."""
        return cls.from_arrays(unpack(record["payload"])) if len(record["payload"]) else None

    def to_record(self) -> dict[str, Any]:
        """Return what a record keeps of it."""
        return {"nodes": len(self.x), "form": self.form, "payload": pack(self.to_arrays())}

    def payload(self) -> CondensedGraphs:
        """Return the set in single precision, for computing with."""
        import torch

        edges = torch.tensor(self.edges.astype(np.int64))
        ones = torch.ones(edges.shape[1])
        return CondensedGraphs(
            torch.tensor(self.x).float(),
            edges,
            ones if self.weights is None else torch.tensor(self.weights).float(),
            torch.tensor(self.sizes.astype(np.int64)),
            torch.tensor(self.y),
            self.by_row,
        )

    def data(self, threshold: float) -> list[Data]:
        """Return the graphs as PyG's, each with ``x``, ``edge_index``, ``edge_weight`` and ``y``.

        Args:
            threshold: Edges with less weight are left out.
        """
        import torch
        from torch_geometric.data import Data

        whole = self.payload().batch(threshold, torch.device("cpu"))
        graphs = (whole.select(torch.tensor([number])) for number in range(len(whole)))
        return [
            Data(
                x=graph.x,
                edge_index=graph.edge_index,
                edge_weight=torch.ones(graph.num_edges)
                if graph.edge_weight is None
                else graph.edge_weight,
                y=graph.y,
            )
            for graph in graphs
        ]

    def columns(self, threshold: float) -> dict[str, Any]:
        """Return what a table says of the set.

        Args:
            threshold: Edges with less weight are left out.

        Returns:
            ``items``, its graphs; ``nodes``; ``edges``, each counted once; ``graph_bytes``, the
            size of its arrays; ``bytes_dense`` and ``bytes_compact``, see
            `benchbuild.datasets.coding`.
        """
        kept = slice(None) if self.weights is None else self.weights >= np.float16(threshold)
        edges = self.edges[:, kept]
        low, high = edges.min(axis=0), edges.max(axis=0)
        weighted = self.weights is not None and bool((self.weights[kept] != 1).any())
        return {
            "items": len(self.sizes),
            "nodes": len(self.x),
            "edges": len(np.unique(low.astype(np.int64) * len(self.x) + high)),
            "graph_bytes": self.bytes,
            "bytes_dense": dense_bytes(self.sizes, self.x.shape[1]),
            "bytes_compact": compact_bytes(self.x, self.sizes, edges, weighted=weighted),
        }

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite in half precision."""
        return all(bool(np.isfinite(array).all()) for array in self.to_arrays().values())

    @property
    def bytes(self) -> int:
        """The size of the arrays."""
        return sum(array.nbytes for array in self.to_arrays().values())
