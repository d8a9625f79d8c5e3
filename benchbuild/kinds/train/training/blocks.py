"""Blocks: what has to be computed, and from what, to know an operation's output on some rows.

BatchNorm needs every row of a node that has children, but of a leaf only the labelled rows matter.
A leaf's operation is therefore computed on a bipartite block, from the sources (the rows wanted
and their neighbours) to the targets (the rows wanted). On Cora that leaves 140 targets to train
and 1,640 to evaluate, out of 2,708.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from benchbuild.compute import thresholds
from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.features import Features, make_features
from benchbuild.compute.rows import Rows
from benchbuild.compute.sparse import PatternStore, SparseMatrix
from benchbuild.datasets.graph import Graph
from benchbuild.kinds.train.training.attention import AttentionPattern, attention_pattern
from benchbuild.kinds.train.training.chunked import ChunkedAttention

Attention = AttentionPattern | ChunkedAttention
"""Either way to compute attention: with all entries at once, or a slab of them at a time."""


class Adjacency:
    """The propagation matrices of a graph, each made when it is first asked for."""

    def __init__(self, graph: Graph) -> None:
        """Keep the graph; nothing is computed yet."""
        self._graph = graph
        self._matrices: dict[str, csr_matrix] = {}

    def matrix(self, op: str) -> csr_matrix:
        """Return the matrix of an operation, (targets, sources)."""
        if op not in self._matrices:
            graph = self._graph
            self._matrices[op] = propagation_matrix(op, graph.edge_index, graph.num_nodes)
        return self._matrices[op]

    def neighbours(self, rows: np.ndarray) -> np.ndarray:
        """Nodes that some row receives from and that are not among the rows, ascending."""
        return np.setdiff1d(self.matrix("graph")[rows].indices, rows)


class Block:
    """The sources and targets of one operation, with its matrices cut to them.

    Attributes:
        sources: Rows the operation reads, the targets first.
        targets: Rows it is computed for.
        wanted: Which of the computed rows are wanted, in which order.
    """

    def __init__(self, adjacency: Adjacency, num_nodes: int, device: torch.device) -> None:
        """Make the block of all rows."""
        self._adjacency = adjacency
        self._num_nodes = num_nodes
        self._device = device
        self._patterns = PatternStore(device)
        self._matrices: dict[str, SparseMatrix] = {}
        self._attention: dict[int, Attention] = {}
        self.sources = self.targets = self.wanted = Rows(None, device)

    def cut(self, wanted: np.ndarray) -> Block:
        """Make the block of some rows out of that of all.

        If most rows are wanted, all are computed, with the same matrices, and the wanted ones are
        chosen at the end.
        """
        if wanted.size >= thresholds.WHOLE_FROM * self._num_nodes:
            block = copy(self)
            block.wanted = Rows(wanted, self._device)
            return block
        block = Block(self._adjacency, self._num_nodes, self._device)
        around = self._adjacency.neighbours(wanted)
        block.sources = Rows(np.concatenate([wanted, around]), self._device)
        block.targets = Rows(wanted, self._device)
        return block

    def own(self, z: Tensor) -> Tensor:
        """Return the rows of the targets among those of the sources."""
        return z if self.targets.index is None else z[: self.targets.index.size]

    def matrix(self, op: str) -> SparseMatrix:
        """Return the matrix of an operation, from the sources to the targets."""
        if op not in self._matrices:
            self._matrices[op] = self._patterns.matrix(self._cut(op))
        return self._matrices[op]

    def attention(self, heads: int) -> Attention:
        """Return the pattern of attention, from the sources to the targets.

        Which way it is computed hangs on the graph alone, never on the device: all records of a
        table have their figures in the same way.
        """
        if heads not in self._attention:
            adjacency = self._cut("gat")
            self._attention[heads] = (
                attention_pattern(adjacency, heads, self._device)
                if adjacency.nnz * heads <= thresholds.ATTENTION_WHOLE
                else ChunkedAttention.of(adjacency, heads, self._patterns)
            )
        return self._attention[heads]

    def tensors(self) -> Iterator[Tensor]:
        """Give all that is held of the matrices."""
        for matrix in self._matrices.values():
            yield matrix.values
            yield from matrix.pattern.tensors
        for attention in self._attention.values():
            yield from attention.tensors

    def forget(self, op: str) -> None:
        """Give up the matrix of an operation; it is made again when it is asked for."""
        self._matrices.pop(op, None)
        if op == "gat":
            self._attention.clear()

    def _cut(self, op: str) -> csr_matrix:
        matrix = self._adjacency.matrix(op)
        if self.targets.index is None:
            return matrix
        return matrix[self.targets.index][:, self.sources.index]


class PreparedGraph:
    """A graph made ready for training on one device; serves any number of architectures.

    Attributes:
        graph: The graph itself.
        device: Where it was prepared for.
        features: The raw features.
        whole: The block of all rows, for nodes with children.
        train: The block of the training rows, for leaves.
        evaluate: The block of the training, validation and test rows in that order, for leaves.
    """

    def __init__(self, graph: Graph, device: torch.device) -> None:
        """Prepare a graph; the propagation matrices follow when they are needed."""
        masks = (graph.train_mask, graph.valid_mask, graph.test_mask)
        rows = [np.flatnonzero(mask.numpy()) for mask in masks]
        self.graph = graph
        self.device = device
        self.features: Features = make_features(graph.x, device)
        self.whole = Block(Adjacency(graph), graph.num_nodes, device)
        self.train = self.whole.cut(rows[0])
        self.evaluate = self.whole.cut(np.concatenate(rows))
        self._used: dict[str, None] = {}

    @property
    def matrix_bytes(self) -> int:
        """Bytes of the matrices that were made so far."""
        blocks = (self.whole, self.train, self.evaluate)
        held = {id(tensor): tensor for block in blocks for tensor in block.tensors()}
        return sum(tensor.nbytes for tensor in held.values())

    def make_room(self, ops: Collection[str], most: float) -> None:
        """Forget the matrices that were not used for longest while all take too many bytes.

        Args:
            ops: The operations that are used now; theirs stay.
            most: How many bytes are not too many.
        """
        for op in ops:
            self._used.pop(op, None)
            self._used[op] = None
        for op in [op for op in self._used if op not in ops]:
            if self.matrix_bytes <= most:
                return
            del self._used[op]
            for block in (self.whole, self.train, self.evaluate):
                block.forget(op)
