"""The value every dataset is loaded into: one attributed graph with labels and a split."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor
from torch_geometric.utils import coalesce, subgraph

from benchbuild.errors import DatasetError

METRICS = ("accuracy", "rocauc")
UNLABELLED = -1
"""The class of a node that has none; such a node is in no mask."""


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph for node classification. Never changed after it was made; compared by identity.

    Attributes:
        name: The dataset's name, parameters included (``csbm:nodes=50``).
        x: Node features, float32 (nodes, features); dense, or sparse CSR if wide.
        edge_index: Edges as (source, target) columns, each one once, in row-major order.
        y: Class of every node (int64; -1 for none), or one 0/1 column per task (float32) for
            "rocauc".
        train_mask: Which nodes are trained on.
        valid_mask: Which nodes choose the epoch.
        test_mask: Which nodes are reported.
        num_classes: Number of classes, or of tasks.
        metric: "accuracy" or "rocauc".
        split: How the three masks came about, in words; recorded with every table.
        inductive: Whether training, validation and test nodes are graphs of their own that don't
            see each other.
        sort: The sort of data that this is.
    """

    sort: ClassVar[str] = "nodes"
    name: str
    x: Tensor
    edge_index: Tensor
    y: Tensor
    train_mask: Tensor
    valid_mask: Tensor
    test_mask: Tensor
    num_classes: int
    metric: str
    split: str
    inductive: bool = False

    def __post_init__(self) -> None:
        """Check that the parts belong together."""
        nodes = self.num_nodes
        if self.metric not in METRICS:
            raise DatasetError(f"{self.name}: metric {self.metric!r} is not one of {METRICS}")
        for part in ("y", "train_mask", "valid_mask", "test_mask"):
            if getattr(self, part).shape[0] != nodes:
                raise DatasetError(
                    f"{self.name}: {part} has {getattr(self, part).shape[0]} rows for {nodes} nodes"
                )
        if self.edge_index.numel() and int(self.edge_index.min()) < 0:
            raise DatasetError(f"{self.name}: an edge names a node below 0")
        if self.edge_index.numel() and int(self.edge_index.max()) >= nodes:
            raise DatasetError(f"{self.name}: an edge names a node beyond the {nodes} there are")
        self._check_labels()
        for part in ("train_mask", "valid_mask", "test_mask"):
            mask = getattr(self, part)
            if not bool(mask.any()):
                raise DatasetError(f"{self.name}: {part} selects no node")
            if self.metric == "accuracy" and bool((self.y[mask] < 0).any()):
                raise DatasetError(f"{self.name}: {part} selects a node without a class")

    def _check_labels(self) -> None:
        nodes, classes = self.num_nodes, self.num_classes
        shape, highest = (
            ((nodes,), classes - 1) if self.metric == "accuracy" else ((nodes, classes), 1)
        )
        if tuple(self.y.shape) != shape:
            raise DatasetError(
                f"{self.name}: y has the shape {tuple(self.y.shape)}; for {self.metric} it must "
                f"have {shape}"
            )
        if self.metric == "accuracy" and self.y.is_floating_point():
            raise DatasetError(
                f"{self.name}: y is of type {self.y.dtype}; classes are whole numbers. Graph.build "
                "converts those that are"
            )
        if int(self.y.max()) > highest:
            raise DatasetError(
                f"{self.name}: y has the label {self.y.max().item():g}; the highest is {highest}"
            )

    @classmethod
    def build(
        cls,
        name: str,
        x: Tensor,
        edge_index: Tensor,
        y: Tensor,
        masks: tuple[Tensor, Tensor, Tensor],
        *,
        num_classes: int,
        split: str,
        metric: str = "accuracy",
        inductive: bool = False,
    ) -> Graph:
        """Make a graph from raw parts: merge repeated edges, sort them and settle types.

        Classes may also be a column of one entry a node.
        """
        train_mask, valid_mask, test_mask = (mask.bool() for mask in masks)
        if not bool((x.values() if x.layout == torch.sparse_csr else x).isfinite().all()):
            raise DatasetError(f"{name}: a feature is not a finite number")
        if metric == "accuracy":
            y = _classes(name, y)
        return cls(
            name=name,
            x=x.float(),
            edge_index=_in_order(edge_index.long(), x.shape[0]),
            y=y if metric == "accuracy" else y.float(),
            train_mask=train_mask,
            valid_mask=valid_mask,
            test_mask=test_mask,
            num_classes=num_classes,
            metric=metric,
            split=split,
            inductive=inductive,
        )

    def induced(self, nodes: Tensor) -> Subgraph:
        """Return the subgraph of some nodes, given as a mask, in their order."""
        edges, _ = subgraph(nodes, self.edge_index, relabel_nodes=True, num_nodes=self.num_nodes)
        rows = nodes.nonzero().view(-1)
        if self.x.layout == torch.sparse_csr:
            x = self.x.to_sparse().index_select(0, rows).to_sparse_csr()
        else:
            x = self.x.index_select(0, rows)
        return Subgraph(x, edges, self.y[rows], self.train_mask[rows])

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return int(self.x.shape[0])

    @property
    def num_features(self) -> int:
        """Number of features per node."""
        return int(self.x.shape[1])

    @property
    def num_edges(self) -> int:
        """Number of directed edges; an undirected one counts twice."""
        return int(self.edge_index.shape[1])

    @property
    def facts(self) -> dict[str, str | int]:
        """What the figures of a table depend on, as its manifest says it."""
        return {
            "checksum": self.checksum,
            "metric": self.metric,
            "nodes": self.num_nodes,
            "edges": self.num_edges,
            "features": self.num_features,
            "classes": self.num_classes,
        }

    @cached_property
    def checksum(self) -> str:
        """sha256 over types, shapes and contents of all tensors; goes into every table."""
        parts = ("x", "edge_index", "y", "train_mask", "valid_mask", "test_mask")
        return checksum_of((part, getattr(self, part)) for part in parts)


def _in_order(edges: Tensor, num_nodes: int) -> Tensor:
    """Return edges in row-major order, each one once: these very ones if they are so."""
    keys = edges[0] * num_nodes + edges[1]
    if bool((keys[1:] > keys[:-1]).all()):
        return edges
    ordered: Tensor = coalesce(edges, num_nodes=num_nodes)
    return ordered


def checksum_of(parts: Iterable[tuple[str, Tensor]]) -> str:
    """Return the sha256 over names, types, shapes and contents of tensors, dense or sparse CSR."""
    digest = hashlib.sha256()
    for name, part in parts:
        for label, tensor in _dense_parts(name, part):
            digest.update(f"{label} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
            digest.update(tensor.contiguous().view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _dense_parts(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Give a tensor itself, or the three that a sparse one consists of."""
    if tensor.layout == torch.sparse_csr:
        yield f"{name}.crow", tensor.crow_indices()
        yield f"{name}.col", tensor.col_indices()
        yield f"{name}.values", tensor.values()
    else:
        yield name, tensor


def _classes(name: str, y: Tensor) -> Tensor:
    """Return classes as whole numbers, one a node.

    Raises:
        DatasetError: If a label is not a whole number.
    """
    if y.is_floating_point():
        broken = y[~(y.isfinite() & (y == y.round()))]
        if broken.numel():
            raise DatasetError(
                f"{name}: y has the label {broken[0].item():g}; classes are whole numbers from 0, "
                "and -1 for a node that has none"
            )
    return y.long().view(-1) if y.dim() == 2 and y.shape[1] == 1 else y.long()


@dataclass(frozen=True, eq=False)
class Subgraph:
    """Some nodes of a graph with the edges between them; see `Graph` for the parts."""

    x: Tensor
    edge_index: Tensor
    y: Tensor
    train_mask: Tensor
