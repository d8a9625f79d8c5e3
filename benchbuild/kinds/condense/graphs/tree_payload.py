"""Condensed sets of rooted trees: the payload of methods that keep what message passing sees.

An item of such a set is a pattern: some trees with one class. It is learnt from as the disjoint
union of its trees, with edges from children to parents, read out from the roots alone, and counts
in the loss by its support. Weights are such that all patterns of a class together count as much as
those of every other, and a pattern counts 1 on average.

Patterns have trees in common, and trees have labels in common. So each different tree is kept once,
a node of it is the number of its row of features, and a pattern is the numbers of its trees.

Torch is needed only to compute with a set.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchbuild.kinds.condense.arrays import pack, unpack
from benchbuild.kinds.condense.graphs.ragged import ranges, starts_of, sums

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from benchbuild.datasets.graphset import GraphBatch

FORM = "trees"
"""What files of payloads call this form."""


@dataclass(frozen=True, eq=False)
class CondensedTrees:
    """A small set of patterns of rooted trees.

    Attributes:
        rows: (labels, features) the features that labels of nodes stand for.
        labels: (tree nodes,) the row of each node of each different tree, root first.
        parents: (tree nodes,) each one's parent, in numbers of its own tree's nodes; -1 for a root.
        tree_sizes: (trees,) how many nodes each tree has.
        members: (trees of patterns,) the trees of each pattern, one pattern after another.
        sizes: (patterns,) how many trees each has.
        y: (patterns,) their classes.
        support: (patterns,) how many training graphs of its class hold each.
        edge_rows: (edge labels, fields) what labels of edges stand for; None if edges have none.
        edge_labels: (tree nodes,) the row of the edge to the parent, any for a root; None likewise.
    """

    rows: Tensor
    labels: Tensor
    parents: Tensor
    tree_sizes: Tensor
    members: Tensor
    sizes: Tensor
    y: Tensor
    support: Tensor
    edge_rows: Tensor | None = None
    edge_labels: Tensor | None = None

    @property
    def weight(self) -> Tensor:
        """(patterns,) float32: how much each counts in a loss."""
        import torch

        totals = torch.zeros(int(self.y.max()) + 1, device=self.y.device)
        totals = totals.index_add(0, self.y, self.support.float())
        classes = int((totals > 0).sum())
        return self.support.float() / totals[self.y] * (len(self.y) / classes)

    def detach(self) -> CondensedTrees:
        """Return a copy that later optimisation steps don't change."""
        return CondensedTrees(**{name: part.detach().clone() for name, part in self._parts()})

    def stored(self) -> StoredTrees:
        """Return the set rounded to what is kept of it."""
        arrays = {name: part.cpu().numpy() for name, part in self._parts()}
        kept = {"rows": np.float16, "y": np.int64}
        with np.errstate(over="ignore"):
            return StoredTrees(
                **{name: part.astype(kept.get(name, np.int32)) for name, part in arrays.items()}
            )

    def _parts(self) -> Iterator[tuple[str, Tensor]]:
        """Give the tensors that there are, by name."""
        for field in dataclasses.fields(self):
            part = getattr(self, field.name)
            if part is not None:
                yield field.name, part

    def batch(self, threshold: float, device: torch.device) -> GraphBatch:
        """Return the patterns as models take them.

        Args:
            threshold: Nothing is left out, whatever it is: all edges have the weight 1.
            device: Where to compute.
        """
        import torch

        from benchbuild.datasets.graphset import GraphBatch

        members, tree_sizes = self.members.cpu().numpy(), self.tree_sizes.cpu().numpy()
        counts = tree_sizes[members]
        nodes = torch.tensor(ranges(starts_of(tree_sizes)[members], counts))
        begins = torch.tensor(np.repeat(starts_of(counts)[:-1], counts))
        parents = self.parents.cpu()[nodes]
        children = (parents >= 0).nonzero().view(-1)
        edge_attr = None
        if self.edge_rows is not None and self.edge_labels is not None:
            edge_attr = self.edge_rows.cpu()[self.edge_labels.cpu()[nodes[children]]]
        node_ptr = starts_of(sums(counts, starts_of(self.sizes.cpu().numpy())))
        return GraphBatch(
            self.rows.cpu()[self.labels.cpu()[nodes]],
            torch.stack([children, (begins + parents)[children]]),
            torch.tensor(node_ptr),
            self.y,
            edge_attr=edge_attr,
            pooled=parents < 0,
            weight=self.weight,
        ).to(device)


@dataclass(frozen=True, eq=False)
class StoredTrees:
    """A condensed set of patterns in plain arrays.

    Attributes:
        rows: (labels, features) float16.
        labels: (tree nodes,) int32. This and what follows: see `CondensedTrees`.
        parents: (tree nodes,) int32.
        tree_sizes: (trees,) int32.
        members: (trees of patterns,) int32.
        sizes: (patterns,) int32.
        y: (patterns,) int64.
        support: (patterns,) int32.
        edge_rows: (edge labels, fields) int32, or None.
        edge_labels: (tree nodes,) int32, or None.
    """

    rows: np.ndarray
    labels: np.ndarray
    parents: np.ndarray
    tree_sizes: np.ndarray
    members: np.ndarray
    sizes: np.ndarray
    y: np.ndarray
    support: np.ndarray
    edge_rows: np.ndarray | None = None
    edge_labels: np.ndarray | None = None

    form = FORM

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> StoredTrees:
        """Read the set out of the arrays of a table's file."""
        names = (field.name for field in dataclasses.fields(cls))
        return cls(**{name: arrays[name] for name in names if name in arrays})

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a table's file keeps, by name."""
        parts = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: part for name, part in parts.items() if part is not None}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> StoredTrees | None:
        """Read the set in a record of a run; None if it has none."""
        return cls.from_arrays(unpack(record["payload"])) if len(record["payload"]) else None

    def to_record(self) -> dict[str, Any]:
        """Return what a record keeps of it."""
        return {"nodes": int(self.nodes.sum()), "payload": pack(self.to_arrays())}

    def payload(self) -> CondensedTrees:
        """Return the set in single precision, for computing with."""
        import torch

        arrays = {
            name: array.astype(np.float32 if name == "rows" else np.int64)
            for name, array in self.to_arrays().items()
        }
        return CondensedTrees(**{name: torch.tensor(array) for name, array in arrays.items()})

    @property
    def nodes(self) -> np.ndarray:
        """(patterns,) how many nodes the trees of each pattern have together."""
        sizes = self.tree_sizes.astype(np.int64)
        return sums(sizes[self.members], starts_of(self.sizes))

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite in half precision."""
        return all(bool(np.isfinite(array).all()) for array in self.to_arrays().values())

    @property
    def bytes(self) -> int:
        """The size of the arrays."""
        return sum(array.nbytes for array in self.to_arrays().values())

    def columns(self, threshold: float) -> dict[str, Any]:
        """Return what a table says of the set.

        Args:
            threshold: Nothing is left out, whatever it is.

        Returns:
            ``graphs``, how many patterns there are; ``nodes`` and ``edges`` of all of them, trees
            that patterns share counted in each; ``bytes_dense``, what they take as float32 matrices
            of edges and features; ``bytes_compact``, what the arrays take, each in the smallest
            type that holds it; ``payload_bytes``, what they take as they are kept.
        """
        nodes = self.nodes
        return {
            "graphs": len(self.y),
            "nodes": int(nodes.sum()),
            "edges": int(nodes.sum()) - len(self.members),
            "bytes_dense": int(bytes_dense(nodes, self.rows.shape[1]).sum()),
            "bytes_compact": sum(map(bytes_compact, self.to_arrays().values())),
            "payload_bytes": self.bytes,
        }


def bytes_dense(nodes: np.ndarray, features: int) -> np.ndarray:
    """Return what graphs take as float32 matrices of edges and of features, as GC-Bench counts.

    Args:
        nodes: (graphs,) how many nodes each has.
        features: How many features a node has.
    """
    size: np.ndarray = 4 * nodes * (nodes + features)
    return size


def bytes_compact(array: np.ndarray) -> int:
    """Return what an array takes in the smallest type that holds all its numbers exactly."""
    if not array.size:
        return 0
    whole = np.isfinite(array) & (array == np.rint(array))
    if not bool(whole.all()):
        return array.nbytes
    ends = np.min_scalar_type(int(array.min())), np.min_scalar_type(int(array.max()))
    return int(array.size * np.result_type(*ends).itemsize)
