r"""What a backbone is applied to: aggregated features, and the steps of propagation that remain.

A model of :math:`L` layers sees a node through :math:`L` propagations. Those that come before the
first weights can be done beforehand, so a view of some target nodes is

.. math:: F = \hat{A}_p \cdots \hat{A}_1 X, \qquad \hat{A}_{p+1}, \ldots, \hat{A}_L

with only the rows that matter to the targets: all :math:`L` steps are in :math:`F` for SGC, one for
GCN, none for a transformer.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch_geometric.utils import softmax

from benchbuild.compute.products import product
from benchbuild.compute.sparse import SparseMatrix, sparse_matrix


class Matrix(ABC):
    """A matrix that is multiplied with others."""

    @abstractmethod
    def times(self, dense: Tensor) -> Tensor:
        """Return M @ dense."""

    @abstractmethod
    def after(self, dense: Tensor) -> Tensor:
        """Return dense @ M, for each of a stack of matrices if it is one."""


class Hop(Matrix):
    """One propagation: row i holds the normalised weights of what target i receives.

    The sources of a hop begin with its targets.

    Attributes:
        targets: The number of rows.
    """

    targets: int

    @abstractmethod
    def attend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        r"""Return what targets make of sources by attention.

        .. math:: \sum_j \frac{a_{ij} e^{q_i k_j / \sqrt{d}}}{\sum_m a_{im} e^{q_i k_m / \sqrt{d}}}
            v_j

        with the edge weights before normalisation: on a graph with 0/1 edges this is attention
        among neighbours, and it can be differentiated for the weights of one that has others.

        Args:
            query: (targets, d).
            key: (sources, d).
            value: (sources, width).
        """


class DenseMatrix(Matrix):
    """An ordinary matrix, with gradients."""

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix

    def times(self, dense: Tensor) -> Tensor:
        """See the base class."""
        return product(self.matrix, dense)

    def after(self, dense: Tensor) -> Tensor:
        """See the base class."""
        rows = dense.flatten(0, -2)
        return product(rows, self.matrix).view(*dense.shape[:-1], -1)


class Propagated(Matrix):
    """Features after some propagations, P X: multiplied out only for who needs it so.

    What a model makes of them is narrow, so it is cheaper to multiply with one after the other;
    and if X has no gradient, then no product as wide as X is needed for that of P.

    Args:
        steps: P, (n, n).
        x: X, (n, f).
    """

    def __init__(self, steps: Tensor, x: Tensor) -> None:
        self._steps, self._x = steps, x

    @property
    def matrix(self) -> Tensor:
        """P X."""
        return product(self._steps, self._x)

    def times(self, dense: Tensor) -> Tensor:
        """See the base class."""
        return product(self._steps, product(self._x, dense))

    def after(self, dense: Tensor) -> Tensor:
        """See the base class. Very many rows are multiplied once instead of twice."""
        rows = dense.flatten(0, -2)
        few = len(rows) < self._x.shape[1]
        found = product(product(rows, self._steps), self._x) if few else product(rows, self.matrix)
        return found.view(*dense.shape[:-1], -1)


class Stacked(Matrix):
    """The matrices of several views of equally many nodes, without gradients.

    Args:
        matrices: (views, nodes, f).
    """

    def __init__(self, matrices: Tensor) -> None:
        self._matrices = matrices

    def times(self, dense: Tensor) -> Tensor:
        """Return all matrices times one, (views, nodes, width)."""
        return product(self._matrices.flatten(0, 1), dense).view(*self._matrices.shape[:2], -1)

    def after(self, dense: Tensor) -> Tensor:
        """Return as many matrices as there are views, each times that of its view."""
        return dense @ self._matrices


class DenseHop(DenseMatrix, Hop):
    """A propagation over all pairs of a small graph."""

    def __init__(self, adjacency: Tensor, *, normalise: bool = True) -> None:
        """Take (n, n) symmetric edge weights without self-loops; see `synthetic_view`."""
        loops = torch.eye(len(adjacency), device=adjacency.device)
        self._weights = adjacency + loops if normalise else adjacency
        self.targets = len(adjacency)
        super().__init__(normalised(self._weights) if normalise else adjacency)

    def attend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """See the base class."""
        scores = query @ key.T / math.sqrt(query.shape[1]) + self._weights.log()
        return scores.softmax(dim=1) @ value


class SparseTimes(Matrix):
    """A constant sparse matrix, without gradients."""

    def __init__(self, matrix: csr_matrix, device: torch.device) -> None:
        self._matrix: SparseMatrix = sparse_matrix(matrix, device)

    def times(self, dense: Tensor) -> Tensor:
        """See the base class."""
        return self._matrix @ dense

    def after(self, dense: Tensor) -> Tensor:
        """See the base class."""
        if dense.dim() > 2:
            return torch.stack([self.after(part) for part in dense])
        return self._matrix.pattern.backward.product(self._matrix.values, dense.T).T


class SparseHop(SparseTimes, Hop):
    """A propagation over some edges of a large graph."""

    def __init__(self, matrix: csr_matrix, device: torch.device) -> None:
        """Take the normalised weights, (targets, sources)."""
        super().__init__(matrix, device)
        entries = matrix.tocoo()
        self._target = torch.from_numpy(entries.row).long().to(device)
        self._source = torch.from_numpy(entries.col).long().to(device)
        self.targets = int(matrix.shape[0])

    def attend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """See the base class."""
        scores = (query[self._target] * key[self._source]).sum(dim=1) / math.sqrt(query.shape[1])
        shares = softmax(scores, self._target, num_nodes=self.targets)
        out = value.new_zeros(self.targets, value.shape[1])
        return out.index_add(0, self._target, shares[:, None] * value[self._source])


@dataclass(frozen=True)
class View:
    """What a backbone needs to compute the outputs of its target nodes.

    Attributes:
        features: The features at the beginning, aggregated as far as possible.
        hops: The propagations that remain, in the order in which they are done.
        targets: The number of target nodes.
    """

    features: Matrix
    hops: tuple[Hop, ...]
    targets: int


def normalised(weights: Tensor) -> Tensor:
    r"""Return :math:`D^{-1/2} W D^{-1/2}` of symmetric weights with self-loops."""
    root = weights.sum(dim=1).rsqrt()
    return root[:, None] * weights * root


def synthetic_view(
    x: Tensor, adjacency: Tensor, layers: int, aggregated: int, *, normalise: bool = True
) -> View:
    """Return the view of all nodes of a small graph, with gradients.

    Args:
        x: (n, f) features.
        adjacency: (n, n) edge weights.
        layers: How many propagations there are in all.
        aggregated: How many of them to do beforehand.
        normalise: Whether nodes get self-loops and weights are normalised, as they should.
    """
    hop = DenseHop(adjacency, normalise=normalise)
    remaining = (hop,) * (layers - aggregated)
    if aggregated and len(x) <= x.shape[1]:
        steps = hop.matrix
        for _ in range(aggregated - 1):
            steps = hop.times(steps)
        return View(Propagated(steps, x), remaining, len(x))
    for _ in range(aggregated):
        x = hop.times(x)
    return View(DenseMatrix(x), remaining, len(x))
