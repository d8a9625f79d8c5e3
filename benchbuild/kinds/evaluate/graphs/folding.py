r"""Graphs to be tried on, with nodes that look alike worked out once.

After k layers a node's vector depends on its neighbourhood up to k steps alone, and molecules are
made of few different ones: of 24,000 nodes of NCI1, 557 differ after one layer of a GCN, 5,052
after two and 11,317 after three. So layer k takes a matrix of its own,

.. math:: \mathbf{M}_k \in \mathbb{R}^{c_k \times c_{k-1}}

from the :math:`c_{k-1}` rows that differ before it to the :math:`c_k` that differ after it. Rows
are the same if they are sums of the same terms, so nothing changes but the order of sums. It is
colour refinement (Weisfeiler and Leman, "The reduction of a graph to canonical form", 1968) with
the weights of a matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import torch
from scipy.sparse import csr_matrix

from benchbuild.compute.sparse import sparse_matrix
from benchbuild.datasets.graphset import GraphBatch
from benchbuild.kinds.evaluate.graphs.operands import Factors, Matrices, Shape

CHUNK = 1 << 16
"""Nodes that are tried at once, a graph more or less: what bounds the memory."""


class Exam:
    """Graphs to be tried on.

    Args:
        graphs: The graphs; where they are is where it is computed.
        shape: Of the model.
    """

    def __init__(self, graphs: GraphBatch, shape: Shape) -> None:
        self.parts: list[Factors] = [_fold(part, shape) for part in _chunks(graphs)]


def _chunks(graphs: GraphBatch) -> Iterator[GraphBatch]:
    """Divide graphs, in their order, by the span of `CHUNK` nodes that each ends in."""
    span = (graphs.node_ptr[1:] - 1) // CHUNK
    sizes = torch.unique_consecutive(span, return_counts=True)[1].tolist()
    numbers = torch.arange(len(graphs), device=graphs.x.device)
    return (graphs.select(part) for part in torch.split(numbers, sizes))


def _fold(graphs: GraphBatch, shape: Shape) -> Factors:
    """Work out which nodes look alike after each layer."""
    device = graphs.x.device
    made = Matrices.of(graphs, shape)
    x = graphs.x.cpu().numpy()
    colours, first = _number(row.tobytes() for row in x)
    start, matrices = x[first], []
    for step in range(shape.steps):
        matrix, colours = _refine(made.propagation, colours)
        if step == 0:
            start = matrix @ start
        else:
            matrices.append(sparse_matrix(matrix, device))
    return Factors(
        torch.from_numpy(start).to(device),
        matrices,
        sparse_matrix(_by_colour(made.readout, colours), device),
        made.counts.to(device),
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
    parts = (matrix.data, colours[matrix.indices], matrix.indptr)
    return _summed(csr_matrix(parts, _size(matrix, colours), copy=True))


def _size(matrix: csr_matrix, colours: np.ndarray) -> tuple[int, int]:
    return int(matrix.shape[0]), int(colours.max()) + 1


def _summed(matrix: csr_matrix) -> csr_matrix:
    matrix.sum_duplicates()
    return matrix


def _number(keys: Iterable[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Give equal keys one number; return that of each key, and where each number comes first."""
    known: dict[bytes, int] = {}
    numbers = np.array([known.setdefault(key, len(known)) for key in keys], np.int32)
    return numbers, np.unique(numbers, return_index=True)[1]
