r"""Graph attention as one sparse product, :math:`\mathbf{O} = \boldsymbol{\alpha} \mathbf{H}`.

.. math::
    \alpha_{ij} = \frac{\exp(\ell_{ij})}{\sum_{k} \exp(\ell_{ik})}, \qquad
    \ell_{ij} = \mathrm{LeakyReLU}(s_j + t_i)

Several heads are one head on as many disjoint copies of the graph: node i of head k is row
``i * heads + k``, which is how the rows of :math:`\mathbf{H}` lie in memory anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from scipy.sparse import coo_matrix, csr_matrix
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from benchbuild.compute.sparse import SparsePattern, whole_pattern
from benchbuild.datasets.csr import csr_tensor

NEGATIVE_SLOPE = 0.2
EPSILON = 1e-16
"""Added to the denominator of the softmax, as PyG does."""


@dataclass(frozen=True)
class AttentionPattern:
    """Which nodes look at which, once per head.

    Attributes:
        pattern: The pattern of the attention weights and of their transpose.
        rows: Row of every entry.
        template: A sparse tensor of that pattern, all zero.
    """

    pattern: SparsePattern
    rows: Tensor
    template: Tensor

    @property
    def columns(self) -> Tensor:
        """Column of every entry."""
        return self.pattern.forward.indices

    def sum_rows(self, values: Tensor) -> Tensor:
        """Sum of the entries of every row."""
        return segments(values, "sum", self.pattern.forward.indptr)

    def sum_columns(self, values: Tensor) -> Tensor:
        """Sum of the entries of every column."""
        transposed = self.pattern.backward
        return segments(transposed.arrange(values), "sum", transposed.indptr)

    def softmax(self, logits: Tensor) -> Tensor:
        """Softmax of the entries of every row."""
        highest = segments(logits, "max", self.pattern.forward.indptr)
        exponentials = (logits - highest.index_select(0, self.rows)).exp_()
        total = self.sum_rows(exponentials) + EPSILON
        return exponentials.div_(total.index_select(0, self.rows))

    @property
    def tensors(self) -> list[Tensor]:
        """All that is held; of what is shared, several times."""
        return [self.rows, self.template.values(), *self.pattern.tensors]

    def attend(self, h: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """Return attention-weighted sums of rows of ``h``.

        Args:
            h: Features of the sources, (sources * heads, width).
            source: Score of every source and head.
            target: Score of every target and head.
        """
        out = _Attention.apply(self, h, source, target)  # type: ignore[no-untyped-call]
        return cast(Tensor, out)

    def inner_products(self, left: Tensor, right: Tensor) -> Tensor:
        """For every entry (i, j), row i of ``left`` times row j of ``right``."""
        sampled: Tensor = torch.sparse.sampled_addmm(self.template, left, right.t(), beta=0.0)
        return sampled.values()


def attention_pattern(adjacency: csr_matrix, heads: int, device: torch.device) -> AttentionPattern:
    """Make the pattern for a number of heads from an adjacency matrix (targets, sources)."""
    edges = adjacency.tocoo()
    head = np.arange(heads)
    rows = (edges.row[:, None].astype(np.int64) * heads + head).reshape(-1)
    columns = (edges.col[:, None].astype(np.int64) * heads + head).reshape(-1)
    shape = (adjacency.shape[0] * heads, adjacency.shape[1] * heads)
    copies = coo_matrix((np.ones(rows.size, np.int8), (rows, columns)), shape=shape).tocsr()
    row_of_entry = np.repeat(np.arange(shape[0]), np.diff(copies.indptr))
    pattern = whole_pattern(copies, device)
    zeros = torch.zeros(copies.nnz, device=device)
    return AttentionPattern(
        pattern,
        torch.from_numpy(row_of_entry).to(device),
        csr_tensor(pattern.forward.indptr, pattern.forward.indices, zeros, shape),
    )


def segments(values: Tensor, reduce: str, indptr: Tensor) -> Tensor:
    """Return the sum or the maximum of every segment of some values."""
    return torch.segment_reduce(values, reduce, offsets=indptr.long(), axis=0, unsafe=True)


class _Attention(torch.autograd.Function):
    """Differentiable in the features and in both attention scores."""

    @staticmethod
    def forward(
        ctx: Any, graph: AttentionPattern, h: Tensor, source: Tensor, target: Tensor
    ) -> Tensor:
        score = source.index_select(0, graph.columns) + target.index_select(0, graph.rows)
        alpha = graph.softmax(functional.leaky_relu(score, NEGATIVE_SLOPE))
        out = graph.pattern.forward.product(alpha, h)
        ctx.graph = graph
        ctx.save_for_backward(h, alpha, score, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, Tensor, Tensor]:
        h, alpha, score, out = ctx.saved_tensors
        graph: AttentionPattern = ctx.graph
        grad = grad.contiguous()
        # Softmax: dl = alpha * (da - sum(alpha * da)), and that sum is <grad_i, out_i>.
        mean = (grad * out).sum(dim=1).index_select(0, graph.rows)
        grad_logit = (graph.inner_products(grad, h) - mean).mul_(alpha)
        grad_score = torch.where(score > 0, grad_logit, grad_logit * NEGATIVE_SLOPE)
        return (
            None,
            graph.pattern.backward.product(alpha, grad),
            graph.sum_columns(grad_score),
            graph.sum_rows(grad_score),
        )
