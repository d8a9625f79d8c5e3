r"""What an MLP says of all pairs of nodes from its second layer on, with gradients written out.

.. math:: s_{ij} = w^\top \mathrm{relu}(\mathrm{BN}(W h_{ij})) + b, \quad
    h_{ij} = \mathrm{relu}(l_i + r_j)

where the batch is all pairs. To read what has a column for each pair takes about as long as to
compute with it, so it is worth to read it seldom: batch normalisation is what torch does with known
statistics, since it is slow to find those itself, and relu is undone in place. Pairs are columns,
not rows: then both factors of the gradient of W lie as they are multiplied.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from benchbuild.compute.products import product

EPSILON = 1e-5
"""What batch normalisation adds to the variance."""


def pair_scores(left: Tensor, right: Tensor, layers: list[Tensor]) -> Tensor:
    """Return the scores of all ordered pairs, (n, n). They can be differentiated once.

    Args:
        left: (width, n) what nodes that come first add to the first layer.
        right: (width, n) what nodes that come second add to it.
        layers: W, gamma, beta, w as (1, width), and b.
    """
    return cast(Tensor, _PairScores.apply(left, right, *layers))  # type: ignore[no-untyped-call]


class _PairScores(torch.autograd.Function):
    """The scores; kept are both layers and what the second normalises."""

    @staticmethod
    def forward(  # noqa: PLR0917  (autograd passes no keywords)
        ctx: Any,
        left: Tensor,
        right: Tensor,
        weight: Tensor,
        gain: Tensor,
        shift: Tensor,
        last: Tensor,
        bias: Tensor,
    ) -> Tensor:
        first = (left[:, :, None] + right[:, None]).relu_().flatten(1)
        centred = product(weight, first)
        centred -= centred.mean(dim=1, keepdim=True)
        variance = torch.linalg.vector_norm(centred, dim=1).square() / centred.shape[1]
        normal = functional.batch_norm(
            centred[None], torch.zeros_like(variance), variance, gain, shift, eps=EPSILON
        )
        second = normal[0].relu_()
        ctx.save_for_backward(weight, gain, last, first, centred, variance, second)
        ctx.shape = left.shape[1], right.shape[1]
        return torch.addmm(bias, last, second).view(ctx.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        weight, gain, last, first, centred, variance, second = ctx.saved_tensors
        needs = ctx.needs_input_grad
        grad = grad.reshape(1, -1)
        delta, of_gain, of_shift = torch.ops.aten.native_batch_norm_backward(
            _through_relu(last.T * grad, second)[None],
            centred[None],
            gain,
            None,
            None,
            torch.zeros_like(variance),
            (variance + EPSILON).rsqrt(),
            True,
            EPSILON,
            [True, True, True],
        )
        back = _through_relu(product(weight.T, delta[0]), first).view(len(first), *ctx.shape)
        return (
            back.sum(dim=2),
            back.sum(dim=1),
            product(delta[0], first.T) if needs[2] else None,
            of_gain,
            of_shift,
            (second @ grad.T).T if needs[5] else None,
            grad.sum(dim=1),
        )


def _through_relu(grad: Tensor, outputs: Tensor) -> Tensor:
    """Return the gradient before a relu, in place of the one after it."""
    found: Tensor = torch.ops.aten.threshold_backward.grad_input(grad, outputs, 0, grad_input=grad)
    return found
