r"""Graph attention on large graphs, a slab of rows at a time: the same sums in less memory.

`benchbuild.kinds.train.training.attention` holds several numbers for every entry, an edge times a
head. Here an entry lives only as long as its slab. What is kept of the softmax is the greatest
logit :math:`m_i` and the total :math:`d_i` of every row, from which the weights are made again,

.. math::
    \alpha_{ij} = \exp(\ell_{ij} - m_i) / d_i,

for slabs of targets, and for the gradient of the sources for slabs of the transposed pattern. So
every sum is one over a row, in the order of its entries: nothing is scattered, and the same
arguments give the same bits. The pattern is that of one head, which other operations share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from benchbuild.compute import thresholds
from benchbuild.compute.sparse import Pattern, PatternStore, SparsePattern
from benchbuild.datasets.csr import csr_tensor
from benchbuild.kinds.train.training.attention import EPSILON, NEGATIVE_SLOPE, segments


@dataclass(frozen=True)
class _Span:
    """Some rows of a pattern, and their entries: known without asking the device."""

    first: int
    last: int
    begin: int
    end: int


def spans(indptr: np.ndarray, most: int) -> tuple[_Span, ...]:
    """Share the rows of a pattern out, each in turn with as many entries as allowed.

    Args:
        indptr: Where every row begins.
        most: How many entries are allowed; a row that has more is alone.
    """
    found: list[_Span] = []
    first = 0
    while first < len(indptr) - 1:
        begin = int(indptr[first])
        last = max(int(np.searchsorted(indptr, begin + most, side="right")) - 1, first + 1)
        found.append(_Span(first, last, begin, int(indptr[last])))
        first = last
    return tuple(found)


@dataclass(frozen=True)
class _Slab:
    """The entries of some rows, head by head; a node of a head is ``node * heads + head``.

    Attributes:
        indptr: Where every row of every head begins.
        own: The node of every entry's row.
        other: The node of every entry's column.
        heads: How many heads there are.
        span: The rows.
    """

    indptr: Tensor
    own: Tensor
    other: Tensor
    heads: int
    span: _Span

    @classmethod
    def of(cls, pattern: Pattern, span: _Span, heads: int) -> _Slab:
        """Cut some rows out of a pattern."""
        entries = span.end - span.begin
        head = torch.arange(heads, dtype=torch.int32, device=pattern.indices.device)[:, None]
        begins = pattern.indptr[span.first : span.last + 1]
        rows = torch.arange(span.first, span.last, dtype=torch.int32, device=begins.device)
        rows = rows.repeat_interleave(begins.diff(), output_size=entries)
        starts = (begins[:-1] - span.begin + head * entries).view(-1)
        return cls(
            functional.pad(starts, (0, 1), value=heads * entries),
            (rows * heads + head).view(-1),
            (pattern.indices[span.begin : span.end] * heads + head).view(-1),
            heads,
            span,
        )

    def rows_of(self, matrix: Tensor) -> Tensor:
        """Return the slab's rows of a matrix that has a row for every node of every head."""
        by_node = matrix.view(-1, self.heads, matrix.shape[1])[self.span.first : self.span.last]
        return by_node.transpose(0, 1).reshape(-1, matrix.shape[1])

    def put(self, values: Tensor, into: Tensor) -> None:
        """Write what was found for the slab's rows, one number or several each, to its place."""
        by_head = values.view(self.heads, -1, *values.shape[1:]).transpose(0, 1)
        into.view(-1, self.heads, *into.shape[1:])[self.span.first : self.span.last] = by_head

    def reduce(self, values: Tensor, how: str) -> Tensor:
        """Return the sum or the maximum of every row's entries."""
        return segments(values, how, self.indptr)

    def product(self, values: Tensor, dense: Tensor) -> Tensor:
        """Return the slab's rows of a sparse product."""
        return Pattern(self.indptr, self.other, None).product(values, dense)

    def inner_products(self, own: Tensor, others: Tensor) -> Tensor:
        """For every entry, the row of its own node times that of the other one."""
        shape = (self.indptr.shape[0] - 1, others.shape[0])
        zeros = torch.zeros(self.other.shape[0], device=others.device)
        template = csr_tensor(self.indptr, self.other, zeros, shape, check=False)
        sampled: Tensor = torch.sparse.sampled_addmm(
            template, self.rows_of(own), others.t(), beta=0.0
        )
        return sampled.values()


@dataclass(frozen=True)
class ChunkedAttention:
    """Which nodes look at which, for any number of heads.

    Attributes:
        pattern: The pattern of one head, and of its transpose.
        heads: How many heads there are.
        targets: The rows of slabs.
        sources: Those of the transpose.
    """

    pattern: SparsePattern
    heads: int
    targets: tuple[_Span, ...]
    sources: tuple[_Span, ...]

    @classmethod
    def of(cls, adjacency: csr_matrix, heads: int, patterns: PatternStore) -> ChunkedAttention:
        """Make it from an adjacency matrix (targets, sources).

        Columns are sorted: nothing says that CUDA's inner products take others.

        Args:
            adjacency: The matrix.
            heads: How many heads there are.
            patterns: Patterns that are there already.
        """
        if not adjacency.has_sorted_indices:
            adjacency = adjacency.sorted_indices()
        pattern, edges = patterns.pattern(adjacency), max(thresholds.ATTENTION_SLAB // heads, 1)
        columns = np.bincount(adjacency.indices, minlength=adjacency.shape[1])
        transposed = np.concatenate([[0], columns.cumsum()])
        return cls(pattern, heads, spans(adjacency.indptr, edges), spans(transposed, edges))

    @property
    def tensors(self) -> list[Tensor]:
        """All that is held."""
        return self.pattern.tensors

    def by_target(self) -> Iterator[_Slab]:
        """Give the entries of some targets after another."""
        return (_Slab.of(self.pattern.forward, span, self.heads) for span in self.targets)

    def by_source(self) -> Iterator[_Slab]:
        """Give the entries of some sources after another."""
        return (_Slab.of(self.pattern.backward, span, self.heads) for span in self.sources)

    def attend(self, h: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """See `benchbuild.kinds.train.training.attention.AttentionPattern.attend`."""
        out = _Attention.apply(self, h, source, target)  # type: ignore[no-untyped-call]
        return cast(Tensor, out)


@dataclass(frozen=True)
class _Softmax:
    """What the weight of an entry is made of: a number for every node of every head."""

    source: Tensor
    target: Tensor
    highest: Tensor
    total: Tensor

    def scores(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Return the scores of some entries."""
        return self.source.index_select(0, sources).add_(self.target.index_select(0, targets))

    def weights(self, scores: Tensor, targets: Tensor) -> Tensor:
        """Return the attention weights of some entries."""
        logits = functional.leaky_relu(scores, NEGATIVE_SLOPE)
        logits.sub_(self.highest.index_select(0, targets)).exp_()
        return logits.div_(self.total.index_select(0, targets))


class _Attention(torch.autograd.Function):
    """Differentiable in the features and in both attention scores."""

    @staticmethod
    def forward(
        ctx: Any, graph: ChunkedAttention, h: Tensor, source: Tensor, target: Tensor
    ) -> Tensor:
        softmax = _Softmax(source, target, torch.empty_like(target), torch.empty_like(target))
        out = h.new_empty(target.shape[0], h.shape[1])
        for slab in graph.by_target():
            scores = softmax.scores(slab.other, slab.own)
            logits = functional.leaky_relu(scores, NEGATIVE_SLOPE)
            slab.put(slab.reduce(logits, "max"), softmax.highest)
            logits.sub_(softmax.highest.index_select(0, slab.own)).exp_()
            slab.put(slab.reduce(logits, "sum") + EPSILON, softmax.total)
            alpha = logits.div_(softmax.total.index_select(0, slab.own))
            slab.put(slab.product(alpha, h), out)
        ctx.graph = graph
        ctx.save_for_backward(h, source, target, softmax.highest, softmax.total, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, Tensor, Tensor]:
        h, source, target, highest, total, out = ctx.saved_tensors
        graph: ChunkedAttention = ctx.graph
        grad = grad.contiguous()
        softmax = _Softmax(source, target, highest, total)
        mean = (grad * out).sum(dim=1)

        def grad_scores(inner: Tensor, scores: Tensor, alpha: Tensor, targets: Tensor) -> Tensor:
            grad_logits = inner.sub_(mean.index_select(0, targets)).mul_(alpha)
            return torch.where(scores > 0, grad_logits, grad_logits * NEGATIVE_SLOPE)

        grad_target = torch.empty_like(target)
        for slab in graph.by_target():
            scores = softmax.scores(slab.other, slab.own)
            alpha, inner = softmax.weights(scores, slab.own), slab.inner_products(grad, h)
            found = grad_scores(inner, scores, alpha, slab.own)
            slab.put(slab.reduce(found, "sum"), grad_target)
        grad_h, grad_source = torch.empty_like(h), torch.empty_like(source)
        for slab in graph.by_source():
            scores = softmax.scores(slab.own, slab.other)
            alpha, inner = softmax.weights(scores, slab.other), slab.inner_products(h, grad)
            found = grad_scores(inner, scores, alpha, slab.other)
            slab.put(slab.reduce(found, "sum"), grad_source)
            slab.put(slab.product(alpha, grad), grad_h)
        return None, grad_h, grad_source, grad_target
