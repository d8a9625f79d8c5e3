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

*N* is computed a tile at a time, small enough for a processor's cache, and again for gradients.
Memory is what the sides take.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
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


@dataclass(frozen=True, eq=False)
class Side:
    """Graphs as one side of a kernel.

    Attributes:
        nodes: (nodes, width) what the covariances of nodes are inner products of.
        readout: (nodes, graphs) with what weight each node counts in each graph.
    """

    nodes: Tensor
    readout: Tensor


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


def dense_side(x: Tensor, adjacency: Tensor, steps: Steps) -> Side:
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
    return _of_one_size(features, weight)


def low_rank_side(x: Tensor, u: Tensor, v: Tensor, after: int) -> Side:
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
    return _of_one_size(_with_bias(x), weight)


def _with_bias(x: Tensor) -> Tensor:
    return torch.cat([x, x.new_full((*x.shape[:-1], 1), BIAS)], dim=-1)


def _of_one_size(features: Tensor, weight: Tensor) -> Side:
    """Return a side from (graphs, nodes, width) features and (graphs, nodes, 1) weights."""
    graphs, nodes, width = features.shape
    own = torch.eye(graphs, dtype=weight.dtype, device=weight.device)
    readout = weight * own[:, None]
    return Side(features.reshape(-1, width), readout.reshape(graphs * nodes, graphs))


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

    def kernel(self, left: Side, chosen: Tensor) -> Tensor:
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


def kernel(left: Side, right: Side) -> Tensor:
    """Return the (graphs, graphs) kernel between two sides."""
    return _pooled(left, right, symmetric=False)


def self_kernel(side: Side) -> Tensor:
    """Return the kernel between a side and itself, in half the time."""
    return _pooled(side, side, symmetric=True)


def _pooled(left: Side, right: Side, *, symmetric: bool) -> Tensor:
    given = (each for side in (left, right) for each in _factors(side))
    found = _PooledKernel.apply(symmetric, *given)  # type: ignore[no-untyped-call]
    return cast(Tensor, found)


def _factors(side: Side) -> tuple[Tensor, Tensor, Tensor]:
    return side.nodes, torch.linalg.vector_norm(side.nodes, dim=1), side.readout


@dataclass(frozen=True)
class _Tile:
    """A part of N: some of its rows, from some column on.

    Attributes:
        rows: Which rows.
        columns: Which columns.
        shared: How many of the first columns are the rows themselves. Of a kernel between a side
            and itself, only those and what is right of them is computed. They count half, and the
            whole is added to its transpose.
    """

    rows: slice
    columns: slice
    shared: int


def _tiles(rows: int, columns: int, symmetric: bool) -> list[_Tile]:
    """Return tiles that cover N, or its upper half if it is symmetric."""
    tiles = []
    start = 0
    while start < rows:
        first = start if symmetric else 0
        stop = min(rows, start + max(1, _TILE // max(1, columns - first)))
        tiles.append(_Tile(slice(start, stop), slice(first, columns), symmetric * (stop - start)))
        start = stop
    return tiles


class _PooledKernel(torch.autograd.Function):
    """The sum over pairs of nodes, without the pairs ever being kept."""

    @staticmethod
    def forward(ctx: Any, symmetric: bool, *given: Tensor) -> Tensor:
        ctx.symmetric = symmetric
        ctx.save_for_backward(*given)
        left, left_norms, left_readout, right, right_norms, right_readout = given
        # Rows are pooled tile by tile, columns once: there are fewer graphs than rows.
        pooled = left.new_zeros(left_readout.shape[1], len(right))
        for tile in _tiles(len(left), len(right), symmetric):
            sigma, scale = _covariances(tile, left, left_norms, right, right_norms)
            cosine = scale.reciprocal_().mul_(sigma).clamp_(-_LARGEST_COSINE, _LARGEST_COSINE)
            ntk = _tangent_kernel(sigma, cosine, _sines(cosine), _angular(cosine))
            ntk[:, : tile.shared] *= 0.5
            pooled[:, tile.columns] += left_readout[tile.rows].T @ ntk
        found = pooled @ right_readout
        return found + found.T if symmetric else found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        left, left_norms, left_readout, right, right_norms, right_readout = ctx.saved_tensors
        if ctx.symmetric:
            grad = grad + grad.T
        of_left, of_right = any(ctx.needs_input_grad[1:4]), any(ctx.needs_input_grad[4:])
        grads = [torch.zeros_like(tensor) for tensor in ctx.saved_tensors]
        by_pooled = grad @ right_readout.T
        for tile in _tiles(len(left), len(right), ctx.symmetric):
            rows, columns = tile.rows, tile.columns
            sigma, scale = _covariances(tile, left, left_norms, right, right_norms)
            raw = sigma / scale
            cosine = raw.clamp(-_LARGEST_COSINE, _LARGEST_COSINE)
            sine, angular = _sines(cosine), _angular(cosine)
            above = left_readout[rows] @ by_pooled[:, columns]
            above[:, : tile.shared] *= 0.5
            by_cosine = torch.ops.aten.hardtanh_backward(
                (sigma / sine).mul_(1 / math.pi).add_(angular).div_(scale).mul_(above),
                raw,
                -_LARGEST_COSINE,
                _LARGEST_COSINE,
            )
            by_sigma = torch.addcmul(by_cosine, angular, above)
            by_scale = by_cosine.mul_(cosine).neg_()
            ntk = _tangent_kernel(sigma, cosine, sine, angular)
            ntk[:, : tile.shared] *= 0.5
            if of_left:
                grads[0][rows] += by_sigma @ right[columns]
                grads[1][rows] += by_scale @ right_norms[columns]
                grads[2][rows] += ntk @ by_pooled[:, columns].T
            if of_right:
                grads[3][columns] += by_sigma.T @ left[rows]
                grads[4][columns] += by_scale.T @ left_norms[rows]
                grads[5][columns] += ntk.T @ (left_readout[rows] @ grad)
        needed = (of_left,) * 3 + (of_right,) * 3
        return None, *(each if wanted else None for each, wanted in zip(grads, needed, strict=True))


def _covariances(
    tile: _Tile, left: Tensor, left_norms: Tensor, right: Tensor, right_norms: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the covariances of a tile and what they are divided by."""
    sigma = left[tile.rows] @ right[tile.columns].T
    scale = (left_norms[tile.rows, None] * right_norms[tile.columns]).add_(_SMALLEST_SCALE)
    return sigma, scale


def _sines(cosine: Tensor) -> Tensor:
    return torch.addcmul(cosine.new_ones(()), cosine, cosine, value=-1).sqrt_()


def _angular(cosine: Tensor) -> Tensor:
    return cosine.acos().mul_(-1 / math.pi).add_(1)


def _tangent_kernel(sigma: Tensor, cosine: Tensor, sine: Tensor, angular: Tensor) -> Tensor:
    """Return N = (Sigma + c) dS + sqrt(1 - c^2) / pi."""
    return (sigma + cosine).mul_(angular).add_(sine, alpha=1 / math.pi)
