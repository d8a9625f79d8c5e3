r"""Some graphs as a network of graph convolutions computes on them, all at once.

Layer l of a network has rows; :math:`\hat{A}_l` makes of them what the next layer is given, and the
pooling makes graphs of the last ones. The first layer is linear in the features, so those are
propagated beforehand.

Synthetic graphs are all of one size: a row is a node, and :math:`\hat{A}` a stack of matrices. Real
graphs are of any size and don't change: a row is a colour, which many nodes share (see
`benchbuild.kinds.condense.graphs.colours`), and :math:`\hat{A}_l` is sparse, with a row for each
colour of layer l + 1 and a column for each of layer l.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.sparse import SparseMatrix, SparsePattern, sparse_matrix
from benchbuild.datasets.graphset import GraphBatch
from benchbuild.kinds.condense.graphs.colours import Colours, refined

NODES_AT_ONCE = 25_000
"""About how many nodes of real graphs to compute with at once: with more, layers don't fit into a
cache, and it takes up to twice as long."""


@dataclass(frozen=True, eq=False)
class View(ABC):
    r"""Some graphs.

    Attributes:
        features: (rows, width) :math:`\hat{A} X`.
        sizes: (graphs, 1) how many nodes each graph has.
    """

    features: Tensor
    sizes: Tensor

    @abstractmethod
    def propagate(self, layer: int, rows: Tensor) -> Tensor:
        """Return what the layer after one is given, from that layer's rows."""

    @abstractmethod
    def propagate_back(self, layer: int, rows: Tensor) -> Tensor:
        """Return the transpose's product: from the rows of the layer after one to that layer's."""

    @abstractmethod
    def pool(self, rows: Tensor) -> Tensor:
        """Return the sums over the nodes of each graph, from the last layer's rows."""

    @abstractmethod
    def spread(self, sums: Tensor) -> Tensor:
        """Return the transpose's product of `pool`."""


@dataclass(frozen=True, eq=False)
class SparseView(View):
    """Real graphs; constant.

    Attributes:
        hops: The propagation after each layer but the last.
        pooling: The pooling.
    """

    hops: Sequence[SparseMatrix]
    pooling: SparseMatrix

    def propagate(self, layer: int, rows: Tensor) -> Tensor:
        """See the base class."""
        return self.hops[layer] @ rows

    def propagate_back(self, layer: int, rows: Tensor) -> Tensor:
        """See the base class."""
        return _transposed(self.hops[layer]) @ rows

    def pool(self, rows: Tensor) -> Tensor:
        """See the base class."""
        return self.pooling @ rows

    def spread(self, sums: Tensor) -> Tensor:
        """See the base class."""
        return _transposed(self.pooling) @ sums


@dataclass(frozen=True, eq=False)
class DenseView(View):
    r"""Synthetic graphs of one size; differentiable in features and adjacency.

    Attributes:
        adjacency: (graphs, nodes, nodes) :math:`\hat{A}`, symmetric.
    """

    adjacency: Tensor

    @classmethod
    def of(cls, x: Tensor, adjacency: Tensor) -> DenseView:
        """Return graphs as a network sees them.

        Args:
            x: (graphs, nodes, features).
            adjacency: (graphs, nodes, nodes) edge weights: symmetric, zero on the diagonal.
        """
        graphs, nodes, _ = x.shape
        norm = normalised(adjacency)
        sizes = torch.full((graphs, 1), nodes, device=x.device)
        return cls((norm @ x).flatten(0, 1), sizes, norm)

    def propagate(self, layer: int, rows: Tensor) -> Tensor:
        """See the base class."""
        return (self.adjacency @ self._by_graph(rows)).flatten(0, 1)

    def propagate_back(self, layer: int, rows: Tensor) -> Tensor:
        """See the base class."""
        return self.propagate(layer, rows)

    def pool(self, rows: Tensor) -> Tensor:
        """See the base class."""
        return self._by_graph(rows).sum(dim=1)

    def spread(self, sums: Tensor) -> Tensor:
        """See the base class."""
        return sums.repeat_interleave(self.adjacency.shape[1], dim=0)

    def _by_graph(self, rows: Tensor) -> Tensor:
        return rows.view(*self.adjacency.shape[:2], -1)


def normalised(adjacency: Tensor) -> Tensor:
    """Return a stack of adjacencies with self-loops, normalised symmetrically."""
    looped = adjacency + torch.eye(adjacency.shape[1], device=adjacency.device)
    root = looped.sum(dim=2).rsqrt()
    return root[:, :, None] * looped * root[:, None]


class RealGraphs:
    """Graphs of which views are taken again and again.

    Args:
        graphs: The graphs.
        layers: How many propagations a network has.
    """

    def __init__(self, graphs: GraphBatch, layers: int) -> None:
        x = graphs.x.cpu().numpy()
        weight = None if graphs.edge_weight is None else graphs.edge_weight.cpu()
        matrix = propagation_matrix("gcn", graphs.edge_index.cpu(), graphs.num_nodes, weight)
        colours = list(refined(matrix, x, layers))
        self._features = torch.from_numpy(matrix[colours[0].example] @ x)
        self._hops = [_merged(matrix[above.example], below) for below, above in pairwise(colours)]
        nodes = np.arange(graphs.num_nodes)
        ones = np.ones(graphs.num_nodes, np.float32)
        self._pooling = _merged(
            csr_matrix((ones, nodes, graphs.node_ptr.cpu().numpy())), colours[-1]
        )
        self._sizes = graphs.sizes[:, None]

    def parts(self, graphs: Tensor) -> Sequence[Tensor]:
        """Return some graphs' numbers in parts that a processor's cache can hold the rows of."""
        before = self._sizes[graphs, 0].cumsum(0)
        _, counts = torch.unique_consecutive(before // NODES_AT_ONCE, return_counts=True)
        return torch.split(graphs, counts.tolist())

    def view(self, graphs: Tensor) -> SparseView:
        """Return some graphs by their numbers."""
        device = graphs.device
        pooling, colours = _used(self._pooling[graphs.cpu().numpy()])
        hops: list[SparseMatrix] = []
        for hop in reversed(self._hops):
            kept, colours = _used(hop[colours])
            hops.insert(0, sparse_matrix(kept, device))
        features = self._features[torch.from_numpy(colours)].to(device)
        return SparseView(features, self._sizes[graphs], hops, sparse_matrix(pooling, device))


def _merged(matrix: csr_matrix, colours: Colours) -> csr_matrix:
    """Return a matrix whose columns of one colour are added up."""
    shape = (matrix.shape[0], len(colours))
    merged = csr_matrix((matrix.data, colours.of[matrix.indices], matrix.indptr), shape=shape)
    merged.sum_duplicates()
    return merged


def _used(matrix: csr_matrix) -> tuple[csr_matrix, np.ndarray]:
    """Return a matrix without its empty columns, and the numbers of the others."""
    filled = np.zeros(matrix.shape[1], bool)
    filled[matrix.indices] = True
    numbers = filled.nonzero()[0]
    place = np.cumsum(filled, dtype=np.int32) - 1
    shape = (matrix.shape[0], len(numbers))
    kept = csr_matrix((matrix.data, place[matrix.indices], matrix.indptr), shape=shape)
    return kept, numbers


def _transposed(matrix: SparseMatrix) -> SparseMatrix:
    pattern = SparsePattern(matrix.pattern.backward, matrix.pattern.forward)
    return SparseMatrix(pattern, matrix.values)
