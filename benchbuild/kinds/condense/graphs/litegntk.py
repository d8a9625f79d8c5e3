r"""LiteGNTK, the kernel of KiDD: a graph neural tangent kernel with one non-linear step.

.. math::
    \Sigma_{st} &= f_s^\top f_t, \qquad c_{st} = \frac{\Sigma_{st}}{|f_s| |f_t| + 10^{-6}}
        \text{ within } \pm 0.9999 \\
    \dot{S}_{st} &= 1 - \tfrac{1}{\pi} \arccos c_{st}, \qquad
    S_{st} = c_{st} \dot{S}_{st} + \tfrac{1}{\pi} \sqrt{1 - c_{st}^2} \\
    N_{st} &= \Sigma_{st} \dot{S}_{st} + S_{st}, \qquad
    K(G, H) = \sum_{s \in G} \sum_{t \in H} w_s N_{st} w_t

with :math:`f = \tilde{A}^b [x, 10^{-2}]` and :math:`w = (\tilde{A}^\top)^a \mathbf{1}` for *b*
propagations before the non-linear step and *a* after it, :math:`\tilde{A} = A + 10^{-4} I`, and *w*
divided by the number of nodes where a graph is the mean over its nodes (Xu et al., "Kernel ridge
regression-based graph dataset distillation", 2023).

That is what the propagation of whole matrices,
:math:`\tilde{A}_G^a N(\tilde{A}_G^b (X X'^\top + 10^{-4}) \tilde{A}_H^{b\top})
\tilde{A}_H^{a\top}`, summed over its entries, comes to: propagation is linear, so it can be done on
the features before the product and, for a sum over nodes, on a vector of ones from the other side.
No matrix of pairs of nodes is ever propagated, and all pairs of graphs are one product.

Nodes of equal :math:`f` have equal rows of *N*. Features of molecules and proteins are labels, so
the hundred thousand nodes of a set of graphs are of a few dozen or hundred kinds: on that side *N*
has a column a kind, and *w* becomes a matrix of kinds and graphs.

*N* is computed a tile at a time, always in the same memory, which a processor's cache holds, and
again for gradients. A tile has the nodes of one synthetic graph as its rows, so that what they
count is a factor of each row, and never a matrix. Memory is what the sides take.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.lib import introspect
from torch import Tensor
from torch.autograd.function import once_differentiable

from benchbuild.datasets.graphset import GraphBatch, gather

BIAS = 1e-2
"""A feature that every node has; its square is what covariances are raised by."""
LOOP = 1e-4
"""How much of itself a node keeps when it takes from its neighbours."""
_SMALLEST_SCALE = 1e-6
_LARGEST_COSINE = 0.9999
_TILE = 1 << 17
"""Entries of a tile of N."""
_CHUNK = 128
"""Graphs of a set that are compared at once."""
_VERSIONS = introspect.opt_func_info(func_name="^arccos$", signature="float")["arccos"].values()
_BY_NUMPY = all(not found["current"].startswith("baseline") for found in _VERSIONS)
"""Whether numpy has an arccosine for this processor: that takes a fifth of the time of torch's."""


@dataclass(frozen=True, eq=False)
class Side:
    """Graphs as one side of a kernel.

    Attributes:
        nodes: (nodes, width) what the covariances of nodes are inner products of.
        readout: (nodes, graphs) with what weight each node counts in each graph.
    """

    nodes: Tensor
    readout: Tensor


@dataclass(frozen=True, eq=False)
class EqualSide:
    """Graphs of one size as one side of a kernel.

    Attributes:
        features: (graphs, nodes, width) what the covariances of nodes are inner products of.
        weight: (graphs, nodes) with what weight each node counts in its graph.
    """

    features: Tensor
    weight: Tensor

    def any_size(self) -> Side:
        """Return the same graphs as a side like any other."""
        graphs = len(self.weight)
        own = torch.eye(graphs, dtype=self.weight.dtype, device=self.weight.device)
        readout = self.weight[:, :, None] * own[:, None]
        return Side(self.features.flatten(0, 1), readout.flatten(0, 1))


@dataclass(frozen=True)
class Steps:
    """What is done to graphs beside the non-linear step.

    Attributes:
        before: How often nodes take from their neighbours before it.
        after: How often afterwards.
        mean: Whether a graph is the mean over its nodes instead of the sum.
    """

    before: int
    after: int
    mean: bool


def dense_side(x: Tensor, adjacency: Tensor, steps: Steps) -> EqualSide:
    """Return graphs of one size as a side.

    Args:
        x: (graphs, nodes, features).
        adjacency: (graphs, nodes, nodes); loops are added.
        steps: What is done to them.
    """
    graphs, nodes, _ = x.shape
    looped = adjacency + LOOP * torch.eye(nodes, dtype=x.dtype, device=x.device)
    features = _with_bias(x)
    for _ in range(steps.before):
        features = looped @ features
    weight = x.new_full((graphs, nodes, 1), 1 / nodes if steps.mean else 1.0)
    for _ in range(steps.after):
        weight = looped.mT @ weight
    return EqualSide(features, weight.squeeze(-1))


def low_rank_side(x: Tensor, u: Tensor, v: Tensor, after: int) -> EqualSide:
    """Return graphs whose adjacency is a product as a side; a graph is the sum over its nodes.

    Nothing is propagated before the non-linear step, and there are no loops but those of U V.

    Args:
        x: (graphs, nodes, features).
        u: (graphs, nodes, rank).
        v: (graphs, rank, nodes).
        after: How often to propagate after the non-linear step.
    """
    weight = x.new_ones(*x.shape[:2], 1)
    for _ in range(after):
        weight = v.mT @ (u.mT @ weight)
    return EqualSide(_with_bias(x), weight.squeeze(-1))


def _with_bias(x: Tensor) -> Tensor:
    return torch.cat([x, x.new_full((*x.shape[:-1], 1), BIAS)], dim=-1)


class GraphSide:
    """A set of graphs that does not change, any of which can be one side of a kernel.

    All that depends on the set alone is computed once.

    Args:
        graphs: The graphs.
        x: (nodes, features) of their nodes, in the precision to compute in.
        steps: What is done to them.

    Attributes:
        kinds: (kinds, width) the distinct rows among the nodes' features after propagation.
    """

    def __init__(self, graphs: GraphBatch, x: Tensor, steps: Steps) -> None:
        source, target = graphs.edge_index
        weights = None if graphs.edge_weight is None else graphs.edge_weight.double()
        features = _with_bias(x.double())
        for _ in range(steps.before):
            features = _propagate(features, target, source, weights)
        weight = torch.ones(len(x), 1, dtype=torch.float64, device=x.device)
        for _ in range(steps.after):
            weight = _propagate(weight, source, target, weights)
        weight = weight.view(-1)
        if steps.mean:
            weight = weight / graphs.sizes[graphs.graph_of]
        self.kinds, self._kind = _distinct(features.to(x.dtype))
        self._weight = weight.to(x.dtype)
        self._starts = graphs.node_ptr

    def side(self, chosen: Tensor) -> Side:
        """Return some of the graphs as a side.

        Args:
            chosen: Their numbers.
        """
        nodes, starts = gather(self._starts, chosen)
        graph = torch.arange(len(chosen), device=chosen.device).repeat_interleave(starts.diff())
        present, kind = torch.unique(self._kind[nodes], return_inverse=True)
        readout = self._weight.new_zeros(len(present), len(chosen))
        readout.index_put_((kind, graph), self._weight[nodes], accumulate=True)
        return Side(self.kinds[present], readout)

    def kernel(self, left: EqualSide, chosen: Tensor) -> Tensor:
        """Return the kernel between a side and some of the graphs, a part of them at a time.

        Args:
            left: The other graphs.
            chosen: Numbers of graphs of this set.
        """
        parts = (chosen[start : start + _CHUNK] for start in range(0, len(chosen), _CHUNK))
        return torch.cat([kernel(left, self.side(part)) for part in parts], dim=1)


def _distinct(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the distinct rows of a matrix as they first appear, and which of them each row is.

    Rows are looked up by their bytes: ``torch.unique`` would sort them, which takes longer.
    """
    values = np.ascontiguousarray((rows + 0.0).cpu().numpy())
    places: dict[bytes, int] = {}
    kind = [places.setdefault(row.tobytes(), len(places)) for row in values]
    first = np.unique(kind, return_index=True)[1]
    return rows[torch.from_numpy(first).to(rows.device)], torch.tensor(kind, device=rows.device)


def _propagate(values: Tensor, source: Tensor, target: Tensor, weights: Tensor | None) -> Tensor:
    """Return what every node takes from the sources of its edges, and a little of itself."""
    sent = values[source] if weights is None else values[source] * weights[:, None]
    return (LOOP * values).index_add_(0, target, sent)


def kernel(left: EqualSide, right: EqualSide | Side) -> Tensor:
    """Return the (graphs, graphs) kernel between two sides."""
    return _pooled(left, right.any_size() if isinstance(right, EqualSide) else right)


def self_kernel(side: EqualSide) -> Tensor:
    """Return the kernel between a side and itself, in half the time."""
    return _pooled(side, side.any_size(), symmetric=True)


def _pooled(left: EqualSide, right: Side, *, symmetric: bool = False) -> Tensor:
    given = (left.features, _norms(left.features), left.weight)
    others = (right.nodes, _norms(right.nodes), right.readout)
    found = _PooledKernel.apply(symmetric, *given, *others)  # type: ignore[no-untyped-call]
    return cast(Tensor, found)


def _norms(features: Tensor) -> Tensor:
    norms: Tensor = torch.linalg.vector_norm(features, dim=-1)
    return norms


class _Nodes(NamedTuple):
    """The features of nodes, and their lengths."""

    features: Tensor
    norms: Tensor


@dataclass(frozen=True)
class _Tile:
    """A part of N: the rows of one graph, and some columns.

    Attributes:
        graph: The number of the graph.
        columns: Which columns.
    """

    graph: int
    columns: slice


def _tiles(graphs: int, nodes: int, columns: int, symmetric: bool) -> Iterator[_Tile]:
    """Give tiles that cover N, or of a symmetric one each graph's own columns and all that follow.

    Args:
        graphs: How many graphs the rows are of.
        nodes: How many rows each of them has.
        columns: How many columns there are.
        symmetric: Whether columns are the same nodes as rows.
    """
    width = max(1, _TILE // max(1, nodes))
    for graph in range(graphs):
        for start in range(symmetric * graph * nodes, columns, width):
            yield _Tile(graph, slice(start, min(columns, start + width)))


class _Pages:
    """Memory that every tile is computed in anew, so that it stays in the processor's cache.

    Args:
        count: How many matrices a tile takes.
        rows: Their rows.
        columns: The most columns that they have.
        like: Of what sort they are.
    """

    def __init__(self, count: int, rows: int, columns: int, like: Tensor) -> None:
        width = min(columns, max(1, _TILE // max(1, rows)))
        self._rows = rows
        self._pages = [like.new_empty(rows * width) for _ in range(count)]

    def of(self, columns: int) -> list[Tensor]:
        """Return matrices of so many columns; what they hold means nothing."""
        size = self._rows * columns
        return [page[:size].view(self._rows, columns) for page in self._pages]


class _PooledKernel(torch.autograd.Function):
    """The sum over pairs of nodes, without the pairs ever being kept.

    Cosines are computed with the other sign: their arccosine is what pi lacks of the angle.
    """

    @staticmethod
    def forward(ctx: Any, symmetric: bool, *given: Tensor) -> Tensor:
        left, left_norms, weight, right, right_norms, readout = given
        graphs, nodes, _ = left.shape
        # Rows are pooled tile by tile, columns once: there are fewer graphs than rows.
        pooled = left.new_zeros(graphs, len(right))
        pages = _Pages(5, nodes, len(right), left)
        for tile in _tiles(graphs, nodes, len(right), symmetric):
            found = pages.of(tile.columns.stop - tile.columns.start)
            _fill(found, tile, _Nodes(left, left_norms), _Nodes(right, right_norms))
            torch.mv(
                _tangent_kernel(found).t(), weight[tile.graph], out=pooled[tile.graph, tile.columns]
            )
        pooled *= 1 / math.pi
        ctx.symmetric = symmetric
        ctx.save_for_backward(*given, pooled)
        kernels = pooled @ readout
        return kernels.triu() + kernels.triu(1).T if symmetric else kernels

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        left, left_norms, weight, right, right_norms, readout, pooled = ctx.saved_tensors
        graphs, nodes, _ = left.shape
        if ctx.symmetric:
            grad = grad.triu() + grad.tril(-1).T
        of_right = any(ctx.needs_input_grad[4:])
        grads = [torch.zeros_like(tensor) for tensor in ctx.saved_tensors[:6]]
        # Products are faster so than the other way round, and these are most of the time.
        by_left, by_right = torch.zeros_like(left.mT), torch.zeros_like(right.T)
        by_pooled = grad @ readout.T * (1 / math.pi)
        weighted, weighted_norms = weight[:, :, None] * left, weight * left_norms
        pages = _Pages(6, nodes, len(right), left)
        for tile in _tiles(graphs, nodes, len(right), ctx.symmetric):
            graph, columns = tile.graph, tile.columns
            *found, by_cosine = pages.of(columns.stop - columns.start)
            _fill(found, tile, _Nodes(left, left_norms), _Nodes(right, right_norms))
            sigma, scale, cosine, angle, sine = found
            torch.div(sigma, sine, out=by_cosine).add_(angle).div_(scale)
            torch.ops.aten.hardtanh_backward.grad_input(
                by_cosine, cosine, -_LARGEST_COSINE, _LARGEST_COSINE, grad_input=by_cosine
            )
            above = by_pooled[graph, columns]
            grads[2][graph] += _tangent_kernel(found) @ above
            by_sigma, by_scale = angle.sub_(by_cosine), cosine.mul_(by_cosine)
            by_left[graph] += (above[:, None] * right[columns]).T @ by_sigma.T
            grads[1][graph] -= by_scale @ (above * right_norms[columns])
            if of_right:
                by_right[:, columns] += (weighted[graph].T @ by_sigma).mul_(above)
                grads[4][columns] -= (by_scale.T @ weighted_norms[graph]).mul_(above)
        grads[0] = by_left.mT * weight[:, :, None]
        grads[3] = by_right.T
        grads[1] *= weight
        grads[5] = pooled.T @ grad
        return None, *grads[:3], *(grads[3:] if of_right else [None] * 3)


def _fill(pages: list[Tensor], tile: _Tile, left: _Nodes, right: _Nodes) -> None:
    """Write what N is made of.

    Args:
        pages: Where covariances, what they are divided by, cosines, angles and sines go; the second
            and the third with the other sign, and angles are what pi lacks of them.
        tile: The part of N.
        left: The rows, graph by graph.
        right: The columns.
    """
    sigma, scale, cosine, angle, sine = pages
    torch.mm(left.features[tile.graph], right.features[tile.columns].t(), out=sigma)
    torch.mul(-left.norms[tile.graph, :, None], right.norms[tile.columns], out=scale)
    torch.div(sigma, scale.sub_(_SMALLEST_SCALE), out=cosine)
    cosine.clamp_(-_LARGEST_COSINE, _LARGEST_COSINE)
    torch.addcmul(cosine.new_ones(()), cosine, cosine, value=-1, out=sine)
    if _BY_NUMPY and cosine.device.type == "cpu":
        np.arccos(cosine.numpy(), out=angle.numpy())
        np.sqrt(sine.numpy(), out=sine.numpy())
    else:
        torch.acos(cosine, out=angle)
        sine.sqrt_()


def _tangent_kernel(pages: list[Tensor]) -> Tensor:
    """Return pi N of a tile, in the place of the sines; covariances are lost, too."""
    sigma, _, cosine, angle, sine = pages
    return torch.addcmul(sine, sigma.sub_(cosine), angle, out=sine)
