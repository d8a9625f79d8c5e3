r"""Products of a sparse matrix with a dense one, :math:`\mathbf{Y} = \mathbf{S} \mathbf{X}`.

A row of a CSR matrix times :math:`\mathbf{X}` is a weighted sum of rows of :math:`\mathbf{X}`. That
is what ``torch.nn.functional.embedding_bag`` computes, on any device, and on a CPU it is three
times as fast as torch's own sparse product. Its backward pass is not used: the gradient is
:math:`\mathbf{S}^\top \mathbf{G}`, another product of the same kind with the transposed pattern.
Which of the two is faster on a GPU is not known: the variable GRAPHTAB_SPARSE_PRODUCT chooses, and
records say what it chose, since sums in another order have other last digits.
"""

from __future__ import annotations

import hashlib
import os
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from benchbuild.datasets.csr import csr_tensor
from benchbuild.errors import DeviceError


@dataclass(frozen=True)
class Pattern:
    """Where the entries of a sparse matrix are, without their values.

    Attributes:
        indptr: Start of every row in ``indices``, and the end of the last one.
        indices: Column of every entry, row by row.
        order: For every entry, its place in the array of values that is handed to ``product``;
            None if that has the values of all entries, row by row.
    """

    indptr: Tensor
    indices: Tensor
    order: Tensor | None

    def arrange(self, values: Tensor) -> Tensor:
        """Return the values of the entries, row by row."""
        return values if self.order is None else values.index_select(0, self.order)

    def product(self, values: Tensor, dense: Tensor) -> Tensor:
        """Return the matrix with the given values, times a dense one."""
        return PRODUCTS[chosen_product()](self, values, dense)


def _embedding_bag(pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    return functional.embedding_bag(
        pattern.indices,
        dense.detach().contiguous(),
        pattern.indptr,
        mode="sum",
        per_sample_weights=pattern.arrange(values),
        include_last_offset=True,
    )


def _csr(pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    shape = (pattern.indptr.shape[0] - 1, dense.shape[0])
    parts = (pattern.indptr, pattern.indices, pattern.arrange(values))
    return csr_tensor(*parts, shape, check=False) @ dense.detach()


PRODUCTS: Mapping[str, Callable[[Pattern, Tensor, Tensor], Tensor]] = MappingProxyType(
    {"embedding_bag": _embedding_bag, "csr": _csr}
)
"""The ways to compute a product, by name."""

PRODUCT_VARIABLE = "GRAPHTAB_SPARSE_PRODUCT"
DEFAULT_PRODUCT = "embedding_bag"


def chosen_product() -> str:
    """Return the name of the way that the environment chooses.

    Raises:
        DeviceError: If there is no such way.
    """
    name = os.environ.get(PRODUCT_VARIABLE) or DEFAULT_PRODUCT
    if name not in PRODUCTS:
        raise DeviceError(f"{PRODUCT_VARIABLE}={name} is not one of {', '.join(PRODUCTS)}")
    return name


@dataclass(frozen=True)
class SparsePattern:
    """The pattern of a matrix and of its transpose; both address one array of values."""

    forward: Pattern
    backward: Pattern

    @property
    def tensors(self) -> list[Tensor]:
        """All that is held of both; of what they share, twice."""
        parts = [(one.indptr, one.indices, one.order) for one in (self.forward, self.backward)]
        return [tensor for part in parts for tensor in part if tensor is not None]


def sparse_pattern(entries: csr_matrix, device: torch.device) -> SparsePattern:
    """Make a pattern from a matrix whose data are places in the array of values."""
    return SparsePattern(_pattern(entries, device), _pattern(entries.T.tocsr(), device))


def whole_pattern(matrix: csr_matrix, device: torch.device) -> SparsePattern:
    """Make the pattern of a matrix whose values are handed over as they lie in it.

    A symmetric pattern and its transpose share their memory.
    """
    transposed = entry_numbers(matrix).T.tocsr()
    backward = _pattern(transposed, device)
    if _same_places(matrix, transposed):
        return SparsePattern(Pattern(backward.indptr, backward.indices, None), backward)
    indptr, indices = (_numbers(part, device) for part in _places(matrix))
    return SparsePattern(Pattern(indptr, indices, None), backward)


def _places(matrix: csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    return matrix.indptr, matrix.indices


def _same_places(one: csr_matrix, other: csr_matrix) -> bool:
    pairs = zip(_places(one), _places(other), strict=True)
    return one.shape == other.shape and all(np.array_equal(*pair) for pair in pairs)


class PatternStore:
    """The patterns of some matrices; those with entries in the same places share one.

    Args:
        device: Where they are.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._patterns: weakref.WeakValueDictionary[bytes, SparsePattern]
        self._patterns = weakref.WeakValueDictionary()

    def matrix(self, matrix: csr_matrix) -> SparseMatrix:
        """Make a constant matrix from scipy's, with a pattern that is there already if there is."""
        return SparseMatrix(self.pattern(matrix), _values(matrix, self._device))

    def pattern(self, matrix: csr_matrix) -> SparsePattern:
        """Make the pattern of a matrix alone, likewise."""
        digest = hashlib.blake2b(repr(matrix.shape).encode())
        for part in _places(matrix):
            digest.update(np.ascontiguousarray(part).data)
        pattern = self._patterns.get(digest.digest())
        if pattern is None:
            pattern = self._patterns[digest.digest()] = whole_pattern(matrix, self._device)
        return pattern


def entry_numbers(matrix: csr_matrix) -> csr_matrix:
    """Return a matrix of the same pattern whose data are 0, 1, 2, ...: ready to be sliced."""
    numbers = np.arange(matrix.nnz, dtype=np.int32 if matrix.nnz < 1 << 31 else np.int64)
    return csr_matrix((numbers, matrix.indices, matrix.indptr), shape=matrix.shape)


def _pattern(entries: csr_matrix, device: torch.device) -> Pattern:
    return Pattern(
        indptr=_numbers(entries.indptr, device),
        indices=_numbers(entries.indices, device),
        order=_numbers(entries.data, device),
    )


def _numbers(places: np.ndarray, device: torch.device) -> Tensor:
    """Put places onto a device; in main memory they stay where they are, if they can."""
    return torch.from_numpy(places.astype(np.int32, copy=False)).to(device)


class _SparseProduct(torch.autograd.Function):
    """Differentiable in the dense factor only."""

    @staticmethod
    def forward(ctx: Any, pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(values)
        return pattern.forward.product(values, dense)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None, Tensor]:
        (values,) = ctx.saved_tensors
        return None, None, ctx.pattern.backward.product(values, grad)


def sparse_product(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    """Return a sparse matrix of constant values times a dense one, with its gradient."""
    out = _SparseProduct.apply(pattern, values, dense)  # type: ignore[no-untyped-call]
    return cast(Tensor, out)


@dataclass(frozen=True)
class SparseMatrix:
    """A constant sparse matrix."""

    pattern: SparsePattern
    values: Tensor

    def __matmul__(self, dense: Tensor) -> Tensor:
        """Return the matrix times a dense one, with its gradient."""
        return sparse_product(self.pattern, self.values, dense)


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A constant sparse matrix that is read by rows: it has no transpose, and so no gradient.

    Rows are chosen in main memory, wherever products are computed.

    Attributes:
        indptr: Start of every row in ``indices``, and the end of the last one.
        indices: Column of every entry, row by row.
        values: The entries.
        columns: The number of columns.
        device: Where products are computed.
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    columns: int
    device: torch.device

    @classmethod
    def of(cls, matrix: csr_matrix, device: torch.device) -> SparseRows:
        """Make one from scipy's."""
        indptr, indices = (part.astype(np.int32, copy=False) for part in _places(matrix))
        values = matrix.data.astype(np.float32, copy=False)
        return cls(indptr, indices, values, matrix.shape[1], device)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1

    def __matmul__(self, dense: Tensor) -> Tensor:
        """Return the matrix times a dense one, without its gradient."""
        pattern, values = self._ready
        return pattern.product(values, dense)

    def take(self, rows: np.ndarray) -> SparseRows:
        """Return some rows, in their order."""
        begins = self.indptr[rows]
        counts = self.indptr[rows + 1] - begins
        indptr = np.zeros(len(rows) + 1, np.int32)
        np.cumsum(counts, out=indptr[1:])
        places = np.repeat(begins - indptr[:-1], counts) + np.arange(indptr[-1], dtype=np.int32)
        return replace(
            self, indptr=indptr, indices=self.indices[places], values=self.values[places]
        )

    def without_empty_columns(self) -> tuple[SparseRows, np.ndarray]:
        """Return the matrix without its empty columns, and which the others are."""
        reached = np.zeros(self.columns, bool)
        reached[self.indices] = True
        place = np.cumsum(reached, dtype=np.int32) - 1
        left = np.flatnonzero(reached)
        return replace(self, indices=place[self.indices], columns=len(left)), left

    @cached_property
    def _ready(self) -> tuple[Pattern, Tensor]:
        indptr, indices = (_numbers(part, self.device) for part in (self.indptr, self.indices))
        return Pattern(indptr, indices, None), torch.from_numpy(self.values).to(self.device)


def sparse_matrix(matrix: csr_matrix, device: torch.device) -> SparseMatrix:
    """Make a constant matrix from scipy's."""
    return SparseMatrix(whole_pattern(matrix, device), _values(matrix, device))


def _values(matrix: csr_matrix, device: torch.device) -> Tensor:
    return torch.from_numpy(matrix.data.astype(np.float32, copy=False)).to(device)
