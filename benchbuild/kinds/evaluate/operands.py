r"""A graph as the factors of products: its features and the matrices that models propagate with.

Every node is a neighbour of its own with weight 1, so a condensed graph without edges is the
identity to a model, as the trajectory methods mean it. A condensed graph is small and its factors
are mostly dense; those of an original graph are sparse. Models need not know which.

The product with the raw features is worked out in the cheaper order, as
:math:`(\mathbf{A} \mathbf{X}) \mathbf{W}` with :math:`\mathbf{A} \mathbf{X}` made once, or as
:math:`\mathbf{A} (\mathbf{X} \mathbf{W})`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch_geometric.utils import add_remaining_self_loops

from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.features import to_scipy
from benchbuild.compute.products import product
from benchbuild.compute.sparse import SparseMatrix, SparsePattern, SparseRows, sparse_matrix
from benchbuild.compute.thresholds import SPARSE_BELOW
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.condense.nodes.scaling import dense


class Factor(Protocol):
    """The left factor of a product: a dense matrix, a sparse one, or a product of them."""

    def __matmul__(self, dense: Tensor) -> Tensor:
        """Return the product with a dense matrix, with its gradient."""


@dataclass(frozen=True)
class _Chain:
    """A product of two factors that is not worked out beforehand."""

    left: Factor
    right: Factor

    def __matmul__(self, dense: Tensor) -> Tensor:
        return self.left @ (self.right @ dense)


@dataclass(frozen=True)
class _Identity:
    """What a graph without edges propagates with; what it gives is what it was given."""

    def __matmul__(self, dense: Tensor) -> Tensor:
        return dense


def plain_product(factor: Factor, dense: Tensor) -> Tensor:
    """Return a factor times a dense matrix, without a gradient of its own."""
    match factor:
        case _Chain():
            return plain_product(factor.left, plain_product(factor.right, dense))
        case SparseMatrix():
            return factor.pattern.forward.product(factor.values, dense)
        case SparseRows() | _Identity():
            return factor @ dense
        case Tensor():
            return product(factor, dense)
    raise TypeError(f"{factor!r} is no factor of a product")


def adjoint(factor: Factor) -> Factor:
    """Return the transpose of a factor, laid out to be multiplied with."""
    match factor:
        case _Chain():
            return _Chain(adjoint(factor.right), adjoint(factor.left))
        case SparseMatrix():
            pattern = factor.pattern
            return SparseMatrix(SparsePattern(pattern.backward, pattern.forward), factor.values)
        case Tensor():
            return factor.T.contiguous()
        case _Identity():
            return factor
    raise TypeError(f"{factor!r} is no factor of a product")


def narrowed(factors: Sequence[Factor], rows: np.ndarray) -> tuple[Factor, ...]:
    """Return what `Operands.factors_towards` would of only some of its nodes.

    Args:
        factors: What it returned.
        rows: Which rows of the last one are wanted.
    """
    found: list[Factor] = []
    wanted: np.ndarray | None = rows
    for layer in reversed(range(len(factors))):
        factor, wanted = _narrowed(factors[layer], wanted, is_features=layer == 0)
        found.insert(0, factor)
    return tuple(found)


def _narrowed(
    factor: Factor, rows: np.ndarray | None, *, is_features: bool
) -> tuple[Factor, np.ndarray | None]:
    """Return some rows of a factor, and which rows of the one to its right they depend on.

    None stands for all rows. The columns of features are all kept: they are those of weights.
    """
    if rows is None:
        return factor, None
    match factor:
        case _Chain():
            left, reached = _narrowed(factor.left, rows, is_features=False)
            right, _ = _narrowed(factor.right, reached, is_features=is_features)
            return _Chain(left, right), None
        case SparseRows():
            taken = factor.take(rows)
            return (taken, None) if is_features else taken.without_empty_columns()
        case Tensor():
            return factor[torch.from_numpy(rows).to(factor.device)], None
    raise TypeError(f"{factor!r} can't be narrowed")


class Operands:
    """A graph for models to run on. Never changed; factors are made when first asked for.

    Args:
        x: (nodes, features), dense or sparse CSR.
        edge_index: (2, edges), in both directions.
        edge_weight: (edges,); None if all are 1.
        device: Where to compute.
    """

    def __init__(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, device: torch.device
    ) -> None:
        self.num_nodes = int(x.shape[0])
        self.num_features = int(x.shape[1])
        self.device = device
        weight = torch.ones(edge_index.shape[1]) if edge_weight is None else edge_weight.cpu()
        self._edges = add_remaining_self_loops(edge_index.cpu(), weight, 1.0, self.num_nodes)
        nonzeros = int((x.values() if x.is_sparse_csr else x).count_nonzero())
        self.has_sparse_features = nonzeros < SPARSE_BELOW * x.shape[0] * x.shape[1]
        self._x: Any = to_scipy(x.cpu()) if self.has_sparse_features else dense(x).cpu().numpy()
        self._matrices: dict[str, csr_matrix] = {}
        self._factors: dict[tuple[str, int], Factor] = {}

    def transform(self, h: Tensor | None, weight: Tensor) -> Tensor:
        """Return features, None for the raw ones, times weights of (outputs, inputs)."""
        return (self._smoothed("", 0) if h is None else h) @ weight.t()

    def propagate(self, op: str, h: Tensor | None, weight: Tensor, times: int = 1) -> Tensor:
        """Return the matrix of an operation times features times weights.

        Args:
            op: See `benchbuild.compute.adjacency`.
            h: Features of the nodes; None for the raw ones.
            weight: (outputs, inputs).
            times: How often the matrix is applied.
        """
        if h is None:
            return self._smoothed(op, times) @ weight.t()
        product = h @ weight.t()
        for _ in range(times):
            product = self.spread(op, product)
        return product

    def spread(self, op: str, h: Tensor) -> Tensor:
        """Return the matrix of an operation times features."""
        return self._spreading(op) @ h

    @cached_property
    def edges(self) -> tuple[Tensor, Tensor, Tensor]:
        """The source and the target of every edge, self-loops included, and its weight."""
        edges, weight = self._edges
        return edges[0].to(self.device), edges[1].to(self.device), weight.to(self.device)

    def factors(self, op: str, layers: int) -> tuple[Factor, ...]:
        """Return what each of some layers multiplies with: propagated features, then the matrix."""
        return (self._smoothed(op, 1), *(self._spreading(op),) * (layers - 1))

    def factors_towards(self, op: str, rows: Tensor, layers: int) -> tuple[Factor, ...]:
        """Return the same of only those rows that the outputs of some nodes depend on.

        They have no gradients.

        Args:
            op: See `benchbuild.compute.adjacency`.
            rows: The nodes; the last layer gives one row for each, in their order.
            layers: How many layers there are.
        """
        matrix, wanted = self._matrix(op), rows.cpu().numpy()
        found: list[Factor] = []
        for _ in range(layers - 1):
            reached = np.unique(matrix[wanted].indices)
            found.insert(0, self._plain_factor(matrix[wanted][:, reached]))
            wanted = reached
        hop, x = matrix[wanted], self._x
        if not isinstance(x, csr_matrix):
            return (self._plain_factor(hop @ x), *found)
        reached = np.unique(hop.indices)
        together, hop, x = hop @ x, hop[:, reached], x[reached]
        if together.nnz <= x.nnz + hop.nnz:
            return (self._plain_factor(together), *found)
        return (_Chain(self._plain_factor(hop), self._plain_factor(x)), *found)

    def _smoothed(self, op: str, times: int) -> Factor:
        """Return the factor of the raw features, propagated a number of times."""
        if (op, times) not in self._factors:
            self._factors[op, times] = self._smooth(op, times)
        return self._factors[op, times]

    def _spreading(self, op: str) -> Factor:
        """Return the factor of an operation's matrix."""
        if (op, -1) not in self._factors:
            matrix = self._matrix(op)
            self._factors[op, -1] = _Identity() if _is_identity(matrix) else self._factor(matrix)
        return self._factors[op, -1]

    def _smooth(self, op: str, times: int) -> Factor:
        if times == 0:
            return self._factor(self._x)
        matrix, x = self._matrix(op), self._x
        for _ in range(times):
            x = matrix @ x
            if isinstance(x, csr_matrix) and x.nnz > self._x.nnz + times * matrix.nnz:
                before = self._smoothed(op, times - 1) if times > 1 else self._smoothed("", 0)
                return _Chain(self._factor(matrix), before)
        return self._factor(x)

    def _matrix(self, op: str) -> csr_matrix:
        if op not in self._matrices:
            edges, weight = self._edges
            self._matrices[op] = propagation_matrix(op, edges, self.num_nodes, weight)
        return self._matrices[op]

    def _factor(self, matrix: csr_matrix | np.ndarray) -> Factor:
        if isinstance(matrix, csr_matrix) and _is_sparse(matrix):
            return sparse_matrix(matrix, self.device)
        return _dense_factor(matrix, self.device)

    def _plain_factor(self, matrix: csr_matrix | np.ndarray) -> Factor:
        if isinstance(matrix, csr_matrix) and _is_sparse(matrix):
            return SparseRows.of(matrix, self.device)
        return _dense_factor(matrix, self.device)


def condensed_operands(
    condensed: CondensedGraph, threshold: float, device: torch.device
) -> Operands:
    """Make a condensed graph ready for models: edges below the threshold are left out."""
    edges, weights = condensed.edges(threshold)
    return Operands(condensed.x, edges, weights, device)


def _dense_factor(matrix: csr_matrix | np.ndarray, device: torch.device) -> Tensor:
    entries = matrix.toarray() if isinstance(matrix, csr_matrix) else matrix
    return torch.from_numpy(entries.astype(np.float32)).to(device)


def _is_identity(matrix: csr_matrix) -> bool:
    """Tell whether a square matrix is the identity."""
    return bool(matrix.nnz == matrix.shape[0] and (matrix.diagonal() == 1).all())


def _is_sparse(matrix: csr_matrix) -> bool:
    return bool(matrix.nnz < SPARSE_BELOW * matrix.shape[0] * matrix.shape[1])
