r"""Graphs as the factors of products.

A model of L layers is a chain of products with one matrix :math:`\mathbf{M}`, see
`benchbuild.compute.adjacency`, and one :math:`\mathbf{P}` that reads the graphs out, the mean or
the sum of their nodes. What is constant is made once: :math:`\mathbf{M} \mathbf{X}`, and
:math:`\mathbf{P} \mathbf{M}` if nothing happens between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.blocks import BlockMatrix
from benchbuild.compute.sparse import SparseMatrix
from benchbuild.datasets.graphset import GraphBatch, gather


@dataclass(frozen=True)
class Shape:
    """What of a model decides which products it takes.

    Attributes:
        op: The matrix M: "gcn" or "gin".
        layers: How many layers it has.
        pooling: "mean" or "sum".
        linear_end: Whether the last layer goes into the pooling as it is, so that both are one
            product; the other layers end in something that is not linear.
    """

    op: str
    layers: int
    pooling: str
    linear_end: bool

    @property
    def steps(self) -> int:
        """Products with M that are not part of the pooling."""
        return self.layers - 1 if self.linear_end else self.layers


@dataclass(frozen=True, eq=False)
class Factors:
    """What a model runs on.

    Attributes:
        start: The raw features, multiplied with M if the first layer is not the pooling.
        matrices: The matrices of the other layers.
        readout: P, or P M if the last layer is linear.
        counts: (graphs, 1) what P makes of a constant 1.
    """

    start: Tensor
    matrices: Sequence[SparseMatrix]
    readout: SparseMatrix
    counts: Tensor


class Lesson:
    """Graphs to learn on: all their nodes, since dropout and batch statistics see every one.

    Args:
        graphs: The graphs; where they are is where it is computed.
        shape: Of the model.
    """

    def __init__(self, graphs: GraphBatch, shape: Shape) -> None:
        device, nodes = graphs.x.device, graphs.node_ptr
        made = Matrices.of(graphs, shape)
        numbers = torch.arange(len(graphs) + 1)
        self._nodes = nodes
        self._matrix = BlockMatrix(made.propagation, nodes, nodes, device)
        self._readout = BlockMatrix(made.readout, numbers, nodes, device)
        self._counts = made.counts.to(device)
        self._start = self._matrix.whole @ graphs.x if shape.steps else graphs.x
        self._others = max(shape.steps - 1, 0)

    @property
    def whole(self) -> Factors:
        """All graphs."""
        matrices = [self._matrix.whole] * self._others
        return Factors(self._start, matrices, self._readout.whole, self._counts)

    def cut(self, chosen: Tensor) -> Factors:
        """Return some graphs, in the order given."""
        nodes, _ = gather(self._nodes, chosen)
        matrices = [self._matrix.cut(chosen)] * self._others
        return Factors(
            self._start[nodes], matrices, self._readout.cut(chosen), self._counts[chosen]
        )


@dataclass(frozen=True, eq=False)
class Matrices:
    """What the products of a model are made from, on the CPU.

    Attributes:
        propagation: M.
        readout: See `Factors`.
        counts: See `Factors`.
    """

    propagation: csr_matrix
    readout: csr_matrix
    counts: Tensor

    @classmethod
    def of(cls, graphs: GraphBatch, shape: Shape) -> Matrices:
        """Make those of some graphs."""
        weight = None if graphs.edge_weight is None else graphs.edge_weight.cpu()
        edges, nodes = graphs.edge_index.cpu(), graphs.num_nodes
        propagation = propagation_matrix(shape.op, edges, nodes, weight)
        pooling = _pooling(graphs, mean=shape.pooling == "mean")
        readout = (pooling @ propagation).tocsr() if shape.linear_end else pooling
        counts = np.asarray(pooling.sum(axis=1), np.float32).reshape(-1, 1)
        return cls(propagation, readout, torch.from_numpy(counts))


def _pooling(graphs: GraphBatch, *, mean: bool) -> csr_matrix:
    """Return P: a row for each graph, with an entry for each node that it is read out from."""
    graph_of = graphs.graph_of.cpu().numpy()
    read = np.arange(len(graph_of))
    if graphs.pooled is not None:
        read = np.flatnonzero(graphs.pooled.cpu().numpy())
    graph = graph_of[read]
    entries = 1.0 / np.bincount(graph)[graph] if mean else np.ones(len(read))
    size = (len(graphs), graphs.num_nodes)
    return csr_matrix((entries, (graph, read)), size, dtype=np.float32)
