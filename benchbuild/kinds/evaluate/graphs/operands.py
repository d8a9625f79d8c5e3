r"""Graphs as the factors of products, in two forms: to learn on, and to be tried on.

A model of L layers is a chain of products with one matrix :math:`\mathbf{M}`, see
`benchbuild.compute.adjacency`, and one :math:`\mathbf{P}` that reads the graphs out, the mean or the
sum of their nodes. What is constant is made once: :math:`\mathbf{M} \mathbf{X}`, and
:math:`\mathbf{P} \mathbf{M}` if nothing happens between the two.

To learn, `Lesson` has all nodes, and cuts batches out of the products of all graphs.

To be tried, nodes that look alike are worked out once. After k layers a node's vector depends on
its neighbourhood up to k steps alone, and molecules are made of few different ones: three layers
have 24,000 nodes of NCI1 to tell apart, the second 3,000 different rows, the first 500. So layer k
takes a matrix of its own, from the rows that were different before it to those that are after it.
Rows are the same if they are sums of the same terms, so nothing is lost but the order of sums. It is
colour refinement (Weisfeiler and Leman, "The reduction of a graph to canonical form", 1968) with
the weights of the matrix. In training it would not do: dropout and the statistics of a batch see
every node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.blocks import BlockMatrix
from benchbuild.compute.sparse import SparseMatrix, sparse_matrix
from benchbuild.datasets.graphset import GraphBatch, gather

CHUNK = 1 << 16
"""Nodes that are tried at once, if a graph alone has not more: what bounds the memory."""


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
    """Graphs to learn on.

    Args:
        graphs: The graphs; where they are is where it is computed.
        shape: Of the model.
    """

    def __init__(self, graphs: GraphBatch, shape: Shape) -> None:
        device = graphs.x.device
        self._node_ptr = graphs.node_ptr
        matrix, readout = _matrices(graphs, shape)
        numbers = torch.arange(len(graphs) + 1)
        starts = graphs.node_ptr.cpu()
        self._matrix = BlockMatrix(matrix, starts, starts, device)
        self._readout = BlockMatrix(readout, numbers, starts, device)
        self._start = self._matrix.whole @ graphs.x if shape.steps else graphs.x
        self._counts = _counts(graphs, shape).to(device)
        self._others = max(shape.steps - 1, 0)

    @property
    def whole(self) -> Factors:
        """All graphs."""
        matrices = [self._matrix.whole] * self._others
        return Factors(self._start, matrices, self._readout.whole, self._counts)

    def cut(self, chosen: Tensor) -> Factors:
        """Return some graphs, in the order given."""
        nodes, _ = gather(self._node_ptr, chosen)
        matrices = [self._matrix.cut(chosen)] * self._others
        return Factors(
            self._start[nodes], matrices, self._readout.cut(chosen), self._counts[chosen]
        )


class Exam:
    """Graphs to be tried on.

    Args:
        graphs: The graphs; where they are is where it is computed.
        shape: Of the model.
    """

    def __init__(self, graphs: GraphBatch, shape: Shape) -> None:
        self.parts: list[Factors] = [_fold(part, shape) for part in _chunks(graphs)]


def _chunks(graphs: GraphBatch) -> Iterator[GraphBatch]:
    """Divide graphs, in their order, into parts that have at most `CHUNK` nodes or one graph."""
    part = ((graphs.node_ptr[1:] - 1) // CHUNK).cpu()
    sizes = torch.unique_consecutive(part, return_counts=True)[1].tolist()
    for numbers in torch.arange(len(graphs)).split(sizes):
        yield graphs.select(numbers.to(graphs.x.device))


def _fold(graphs: GraphBatch, shape: Shape) -> Factors:
    """Work out which nodes look alike after each layer."""
    device = graphs.x.device
    matrix, readout = _matrices(graphs, shape)
    x = graphs.x.cpu().numpy()
    colours, first = _number(row.tobytes() for row in x)
    start, matrices = x[first], []
    for step in range(shape.steps):
        matrix_here, colours = _refine(matrix, colours)
        if step == 0:
            start = matrix_here @ start
        else:
            matrices.append(sparse_matrix(matrix_here, device))
    return Factors(
        torch.from_numpy(start).to(device),
        matrices,
        sparse_matrix(_by_colour(readout, colours), device),
        _counts(graphs, shape).to(device),
    )


def _refine(matrix: csr_matrix, colours: np.ndarray) -> tuple[csr_matrix, np.ndarray]:
    """Return the different rows of a matrix whose columns have colours, and which row is which."""
    terms = np.empty(matrix.nnz, [("colour", np.int32), ("weight", np.float32)])
    terms["colour"], terms["weight"] = colours[matrix.indices], matrix.data
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    terms = terms[np.lexsort((terms["weight"], terms["colour"], row))]
    bounds = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    found, first = _number(terms[begin:end].tobytes() for begin, end in bounds)
    in_order = csr_matrix((terms["weight"], terms["colour"], matrix.indptr), _size(matrix, colours))
    return _summed(in_order[first]), found


def _by_colour(matrix: csr_matrix, colours: np.ndarray) -> csr_matrix:
    """Return a matrix with the columns of one colour added up."""
    data = (matrix.data, colours[matrix.indices], matrix.indptr)
    return _summed(csr_matrix(data, _size(matrix, colours)))


def _size(matrix: csr_matrix, colours: np.ndarray) -> tuple[int, int]:
    return int(matrix.shape[0]), int(colours.max()) + 1


def _summed(matrix: csr_matrix) -> csr_matrix:
    matrix.sum_duplicates()
    return matrix


def _number(keys: Iterator[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Number keys by first appearance; return the number of each, and where each number began."""
    known: dict[bytes, int] = {}
    numbers = np.array([known.setdefault(key, len(known)) for key in keys], np.int32)
    return numbers, np.unique(numbers, return_index=True)[1]


def _matrices(graphs: GraphBatch, shape: Shape) -> tuple[csr_matrix, csr_matrix]:
    """Return M and what reads the graphs out."""
    edges, weight = graphs.edge_index.cpu(), graphs.edge_weight
    matrix = propagation_matrix(
        shape.op, edges, graphs.num_nodes, None if weight is None else weight.cpu()
    )
    graph_of, read = graphs.graph_of.cpu().numpy(), _read(graphs).cpu().numpy()
    share = 1.0 if shape.pooling == "sum" else 1.0 / np.bincount(graph_of[read])[graph_of[read]]
    entries = np.broadcast_to(np.float32(share), read.shape)
    size = (len(graphs), graphs.num_nodes)
    readout = csr_matrix((entries, (graph_of[read], read)), size, dtype=np.float32)
    return matrix, (readout @ matrix).tocsr() if shape.linear_end else readout


def _read(graphs: GraphBatch) -> Tensor:
    """Return the nodes that graphs are read out from."""
    if graphs.pooled is None:
        return torch.arange(graphs.num_nodes)
    return graphs.pooled.nonzero().view(-1)


def _counts(graphs: GraphBatch, shape: Shape) -> Tensor:
    if shape.pooling == "mean":
        return torch.ones(len(graphs), 1)
    read = torch.bincount(graphs.graph_of.cpu()[_read(graphs).cpu()], minlength=len(graphs))
    return read[:, None].float()
