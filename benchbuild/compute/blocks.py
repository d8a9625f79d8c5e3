r"""Sparse matrices of blocks, :math:`\mathrm{diag}(\mathbf{S}_1, \ldots, \mathbf{S}_n)`.

The matrix of many graphs that lie one after another has a block for each. That of some of them is
cut out of it by copying entries: nothing is normalised, sorted or transposed again.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from benchbuild.compute.sparse import (
    Pattern,
    SparseMatrix,
    SparsePattern,
    sparse_matrix,
)
from benchbuild.datasets.graphset import gather


@dataclass(frozen=True)
class _Blocks:
    """A pattern whose rows and columns are shared out to blocks.

    Attributes:
        pattern: Where the entries are.
        rows: (blocks + 1,) where the rows of each block begin.
        columns: (blocks + 1,) where its columns begin.
    """

    pattern: Pattern
    rows: Tensor
    columns: Tensor

    def cut(self, chosen: Tensor) -> Pattern:
        """Return the pattern of some blocks, in the order given."""
        whole = self.pattern
        rows, _ = gather(self.rows, chosen)
        entries, begins = gather(whole.indptr[self.rows].long(), chosen)
        widths = self.columns.diff()[chosen]
        shift = widths.cumsum(0) - widths - self.columns[chosen]
        moved = shift.int().repeat_interleave(begins.diff(), output_size=len(entries))
        lengths = whole.indptr.diff()[rows].cumsum(0, dtype=torch.int32)
        return Pattern(
            indptr=torch.cat([lengths.new_zeros(1), lengths]),
            indices=whole.indices[entries] + moved,
            order=entries.int() if whole.order is None else whole.order[entries],
        )


class BlockMatrix:
    """A constant sparse matrix of blocks.

    Args:
        matrix: All of it.
        rows: (blocks + 1,) where the rows of each block begin.
        columns: (blocks + 1,) where its columns begin.
        device: Where to compute.
    """

    def __init__(
        self, matrix: csr_matrix, rows: Tensor, columns: Tensor, device: torch.device
    ) -> None:
        self.whole: SparseMatrix = sparse_matrix(matrix, device)
        pattern = self.whole.pattern
        rows, columns = rows.to(device), columns.to(device)
        self._forward = _Blocks(pattern.forward, rows, columns)
        self._backward = _Blocks(pattern.backward, columns, rows)

    def cut(self, chosen: Tensor) -> SparseMatrix:
        """Return the matrix of some blocks, in the order given."""
        pattern = SparsePattern(self._forward.cut(chosen), self._backward.cut(chosen))
        return SparseMatrix(pattern, self.whole.values)
