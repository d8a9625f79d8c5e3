"""Condensed sets of rooted trees: the payload of methods that keep what message passing sees.

An item of such a set is a pattern: some trees with one class. It is learnt from as the disjoint
union of its trees, with edges from children to parents, read out from the roots alone, and counts
in the loss by its weight.

Torch is needed only to compute with a set.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchbuild.datasets.coding import compact_bytes, dense_bytes
from benchbuild.kinds.condense.arrays import pack, unpack
from benchbuild.kinds.condense.graphs.payload import BLANK
from benchbuild.kinds.condense.graphs.ragged import starts_of, sums

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch_geometric.data import Data

    from benchbuild.datasets.graphset import GraphBatch

_TYPES: Mapping[str, type] = {"x": np.float16, "y": np.int64, "weights": np.float32}
"""In what type arrays are kept that are not int32."""


@dataclass(frozen=True, eq=False)
class CondensedTrees:
    """A small set of patterns of rooted trees.

    Attributes:
        x: (nodes, features) of all trees, one after another.
        parents: (nodes,) each one's parent, in numbers of the set's nodes; -1 for a root.
        trees: (trees,) how many nodes each has.
        patterns: (patterns,) how many trees each has, one pattern's after another's.
        y: (patterns,) their classes.
        weights: (patterns,) how much each counts in a loss.
        bonds: (nodes, fields) the labels of the edges to the parents, any for a root; None if edges
            have none.
        by_row: Whether features are divided by their sum: they are those of real nodes, as they
            are.
    """

    by_row: ClassVar[bool] = False

    x: Tensor
    parents: Tensor
    trees: Tensor
    patterns: Tensor
    y: Tensor
    weights: Tensor
    bonds: Tensor | None = None

    @property
    def by_row(self) -> bool:
        """Whether its features are such that each node's sum to 1: they are those of the data."""
        return False

    def detach(self) -> CondensedTrees:
        """Return a copy that later optimisation steps don't change."""
        return CondensedTrees(**{name: part.detach().clone() for name, part in self._parts()})

    def stored(self) -> StoredTrees:
        """Return the set rounded to what is kept of it."""
        arrays = {name: part.detach().cpu().numpy() for name, part in self._parts()}
        with np.errstate(over="ignore"):
            return StoredTrees(
                **{name: array.astype(_TYPES.get(name, np.int32)) for name, array in arrays.items()}
            )

    def batch(self, threshold: float, device: torch.device) -> GraphBatch:
        """Return the patterns as models take them.

        Args:
            threshold: Nothing is left out, whatever it is: all edges have the weight 1.
            device: Where to compute.
        """
        import torch

        from benchbuild.datasets.graphset import GraphBatch

        children = (self.parents >= 0).nonzero().view(-1)
        nodes = nodes_of(self.trees.cpu().numpy(), self.patterns.cpu().numpy())
        return GraphBatch(
            self.x,
            torch.stack([children, self.parents[children]]),
            torch.tensor(starts_of(nodes)),
            self.y,
            edge_attr=None if self.bonds is None else self.bonds[children],
            pooled=self.parents < 0,
            weight=self.weights,
        ).to(device)

    def _parts(self) -> Iterator[tuple[str, Tensor]]:
        """Give the tensors that there are, by name."""
        for field in dataclasses.fields(self):
            part = getattr(self, field.name)
            if part is not None:
                yield field.name, part


@dataclass(frozen=True, eq=False)
class StoredTrees:
    """A condensed set of patterns in plain arrays.

    Attributes:
        x: (nodes, features) float16.
        parents: (nodes,) int32; -1 for a root.
        trees: (trees,) int32 nodes of each tree.
        patterns: (patterns,) int32 trees of each pattern.
        y: (patterns,) int64 classes.
        weights: (patterns,) float32.
        bonds: (nodes, fields) int32 labels of the edges to the parents; None if edges have none.
    """

    x: np.ndarray
    parents: np.ndarray
    trees: np.ndarray
    patterns: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    bonds: np.ndarray | None = None

    form: ClassVar[str] = "trees"
    blank: ClassVar[Mapping[str, int | float]] = BLANK

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
        return {"nodes": len(self.x), "form": self.form, "payload": pack(self.to_arrays())}

    def payload(self) -> CondensedTrees:
        """Return the set in single precision, for computing with."""
        import torch

        computed = {"x": np.float32, "weights": np.float32}
        return CondensedTrees(
            **{
                name: torch.tensor(array.astype(computed.get(name, np.int64)))
                for name, array in self.to_arrays().items()
            }
        )

    def data(self, threshold: float) -> list[Data]:
        """Return the patterns as PyG's graphs.

        Each has ``x``, ``edge_index`` from children to parents, ``y``, ``pooled``, which are the
        roots, ``weight``, and ``edge_attr`` where edges have labels.

        Args:
            threshold: Nothing is left out, whatever it is.
        """
        import torch
        from torch_geometric.data import Data

        whole = self.payload().batch(threshold, torch.device("cpu"))
        found = []
        for number in range(len(whole)):
            one = whole.select(torch.tensor([number]))
            labels = {} if one.edge_attr is None else {"edge_attr": one.edge_attr}
            found.append(
                Data(
                    x=one.x,
                    edge_index=one.edge_index,
                    y=one.y,
                    pooled=one.pooled,
                    weight=one.weight,
                    **labels,
                )
            )
        return found

    def columns(self, threshold: float) -> dict[str, Any]:
        """Return what a table says of the set.

        Args:
            threshold: Nothing is left out, whatever it is.

        Returns:
            ``items``, its patterns; ``nodes`` and ``edges`` of all of them; ``graph_bytes``, the
            size of its arrays; ``bytes_dense`` and ``bytes_compact``, see
            `benchbuild.datasets.coding`, the latter with a weight for each pattern.
        """
        nodes = nodes_of(self.trees, self.patterns)
        children = np.flatnonzero(self.parents >= 0)
        edges = np.stack([children, self.parents[children]])
        return {
            "items": len(self.y),
            "nodes": len(self.x),
            "edges": len(children),
            "graph_bytes": self.bytes,
            "bytes_dense": dense_bytes(nodes, self.x.shape[1]),
            "bytes_compact": compact_bytes(self.x, nodes, edges) + self.weights.nbytes,
        }

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite in half precision."""
        return all(bool(np.isfinite(array).all()) for array in self.to_arrays().values())

    @property
    def bytes(self) -> int:
        """The size of the arrays."""
        return sum(array.nbytes for array in self.to_arrays().values())


def nodes_of(trees: np.ndarray, patterns: np.ndarray) -> np.ndarray:
    """Return how many nodes the trees of each pattern have together.

    Args:
        trees: (trees,) nodes of each tree.
        patterns: (patterns,) trees of each pattern.
    """
    return sums(trees, starts_of(patterns))
