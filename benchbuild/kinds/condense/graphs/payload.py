"""Condensed sets of graphs: the payload of methods that make or choose whole graphs.

Features and edge weights are kept in half precision, edges as pairs of node numbers. A set whose
edges all have the weight 1 keeps no weights.

Two sizes say how much is kept, whatever the file makes of it: ``bytes_dense`` is every graph's
adjacency and features as float32 matrices, as GC-Bench counts; ``bytes_compact`` is what the same
graphs take when nothing is wasted: features in the smallest type that holds them exactly, zeros
left out where that is shorter, edges as pairs of small numbers.

Torch is needed only to compute with a set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchbuild.kinds.condense.arrays import pack, unpack

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from benchbuild.datasets.graphset import GraphBatch

FORM = "graphs"
"""What files of payloads call this form."""


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
        tensors = (self.x, self.edge_index, self.edge_weight, self.sizes, self.y)
        return CondensedGraphs(*(part.detach().clone() for part in tensors), by_row=self.by_row)

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

    form = FORM

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> StoredGraphs:
        """Read the set out of the arrays of a table's file."""
        return cls(
            arrays["x"],
            arrays["edges"],
            arrays.get("weights"),
            arrays["sizes"],
            arrays["y"],
            "by_row" in arrays,
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a table's file keeps, by name."""
        arrays = {"x": self.x, "edges": self.edges, "sizes": self.sizes, "y": self.y}
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
        return {"nodes": len(self.x), "payload": pack(self.to_arrays())}

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

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite in half precision."""
        return all(bool(np.isfinite(array).all()) for array in self.to_arrays().values())

    @property
    def bytes(self) -> int:
        """The size of the arrays."""
        return sum(array.nbytes for array in self.to_arrays().values())
