r"""The raw features of a graph as the first factor of :math:`\mathbf{X} \mathbf{W}`.

Bag-of-words features are nearly all zero: 1.3% of Cora's are not. Zero stays zero under dropout,
so the sparse product and a mask on the nonzeros give the same distribution for a fraction of the
cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from scipy.sparse import block_diag, csr_matrix
from torch import Tensor

from benchbuild.compute.dropout import Dropout
from benchbuild.compute.rows import Rows
from benchbuild.compute.sparse import SparsePattern, entry_numbers, sparse_pattern, sparse_product
from benchbuild.compute.stacks import join, product
from benchbuild.compute.thresholds import SPARSE_BELOW


class Features(ABC):
    """The raw features, possibly dropped out, of all nodes.

    Attributes:
        column_weights: Whether ``times`` is faster on a transposed view of column-major weights.
    """

    column_weights = False

    @abstractmethod
    def dropped(self, dropout: Dropout) -> Features:
        """Return a copy with every entry zeroed at random and the others scaled up."""

    @abstractmethod
    def times(self, weight: Tensor, rows: Rows) -> Tensor:
        """Return some rows of the features times a weight matrix of (features, width).

        Of several trainings the matrices are stacked; see `benchbuild.compute.stacks`.
        """


class DenseFeatures(Features):
    """Features as an ordinary matrix."""

    def __init__(self, x: Tensor) -> None:
        """Keep the matrix."""
        self._x = x

    def dropped(self, dropout: Dropout) -> DenseFeatures:
        """See the base class."""
        return DenseFeatures(dropout(self._x))

    def times(self, weight: Tensor, rows: Rows) -> Tensor:
        """See the base class."""
        return product(rows.of(self._x), weight)


class SparsePatterns:
    """Where the nonzeros of some rows are, worked out when the rows are first asked for."""

    def __init__(self, matrix: csr_matrix, device: torch.device) -> None:
        """Keep the places of all nonzeros."""
        self._entries = entry_numbers(matrix)
        self._device = device
        self._patterns: dict[tuple[Rows, int], SparsePattern] = {}

    def of(self, rows: Rows, copies: int = 1) -> SparsePattern:
        """Return the pattern of some rows, or of as many disjoint copies of them."""
        if (rows, copies) not in self._patterns:
            chosen = self._entries if rows.index is None else self._entries[rows.index]
            numbers = chosen.data + self._entries.nnz * np.arange(copies)[:, None]
            parts = [
                csr_matrix((part, chosen.indices, chosen.indptr), chosen.shape) for part in numbers
            ]
            whole = chosen if copies == 1 else block_diag(parts, format="csr")
            self._patterns[rows, copies] = sparse_pattern(whole, self._device)
        return self._patterns[rows, copies]


class SparseFeatures(Features):
    """Features as the values of their nonzero entries."""

    column_weights = True

    def __init__(self, values: Tensor, patterns: SparsePatterns) -> None:
        """Keep the nonzeros and where they are."""
        self._values = values
        self._patterns = patterns

    def dropped(self, dropout: Dropout) -> SparseFeatures:
        """See the base class."""
        return SparseFeatures(dropout(self._values), self._patterns)

    def times(self, weight: Tensor, rows: Rows) -> Tensor:
        """See the base class."""
        if weight.dim() == 2:
            return sparse_product(self._patterns.of(rows), self._values, weight)
        copies = len(weight)
        values = self._values.expand(copies, -1).reshape(-1)
        out = sparse_product(self._patterns.of(rows, copies), values, weight.flatten(0, 1))
        return join(out.view(copies, -1, out.shape[1]))


def make_features(x: Tensor, device: torch.device) -> Features:
    """Choose the cheaper form for the features of a graph, dense or sparse CSR."""
    nonzeros = int((x.values() if x.is_sparse_csr else x).count_nonzero())
    if nonzeros >= SPARSE_BELOW * x.shape[0] * x.shape[1]:
        return DenseFeatures((x.to_dense() if x.is_sparse_csr else x).to(device))
    matrix = to_scipy(x)
    return SparseFeatures(torch.from_numpy(matrix.data).to(device), SparsePatterns(matrix, device))


def to_scipy(x: Tensor) -> csr_matrix:
    """Return features as scipy's matrix of their nonzeros."""
    if not x.is_sparse_csr:
        return csr_matrix(x.numpy())
    parts = (x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
    return csr_matrix(parts, shape=tuple(x.shape))
