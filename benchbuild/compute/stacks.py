"""Products of several trainings at once, whose weights are stacked.

Weights of one training are a matrix, and biases a vector; those of several have one more dimension,
the first. Rows of nodes stay what they are: a row has the features of all trainings, one training
after the other. So what is done to every column alone, such as BatchNorm, sums over neighbours and
ReLU, is done to those of all trainings as to those of one. What is left is here. Every training
gets what it would get alone: its products are its own, on every device, for a batched product adds
up in another order. On a CPU that is the same bit by bit if widths are multiples of 16: kernels
round the last few columns otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional


def split(rows: Tensor, count: int) -> Tensor:
    """Return rows of several trainings as (trainings, rows, features), without a copy."""
    return rows.view(len(rows), count, -1).transpose(0, 1)


def join(parts: Tensor) -> Tensor:
    """Return (trainings, rows, features) as rows with the features of all trainings."""
    return parts.transpose(0, 1).flatten(1)


def product(x: Tensor, weight: Tensor) -> Tensor:
    """Return raw features times weights of (features, width).

    Args:
        x: (nodes, features), or of several trainings (trainings, nodes, features).
        weight: The weights, of several trainings stacked.
    """
    if weight.dim() == 2:
        return x @ weight
    return _rows(torch.mm, x.expand(len(weight), -1, -1).unbind(), weight)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return rows times weights of (width, features), plus a bias."""
    if weight.dim() == 2:
        return functional.linear(x, weight, bias)
    if bias is not None:
        return add_product(spread(bias, len(x)), x, weight)
    return _rows(functional.linear, x.chunk(len(weight), dim=1), weight)


def add_product(out: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """Return rows plus the product of others with weights of (width, features)."""
    if weight.dim() == 2:
        return out.addmm(x, weight.t())
    parts = (rows.chunk(len(weight), dim=1) for rows in (out, x))
    return _rows(add_product, *parts, weight)


def chain(weight: Tensor, other: Tensor) -> Tensor:
    """Return weights of (width, features) times those, or the bias, of the layer before."""
    if weight.dim() == 2:
        return weight @ other
    return torch.stack(_apart(torch.matmul, weight, other))


def _rows(function: Callable[..., Tensor], *parts: Iterable[Tensor]) -> Tensor:
    """Compute rows for every training by itself, and join them."""
    return torch.cat(_apart(function, *parts), dim=1)


def _apart(function: Callable[..., Tensor], *parts: Iterable[Tensor]) -> list[Tensor]:
    """Compute something for every training by itself."""
    return [function(*own) for own in zip(*parts, strict=True)]


def side_by_side(parts: Sequence[Tensor], count: int) -> Tensor:
    """Return ReLU of the features of several matrices of rows, joined training by training."""
    apart = [part.view(len(part), count, -1) for part in parts]
    return torch.cat(apart, dim=2).relu_().flatten(1)


def spread(bias: Tensor, rows: int) -> Tensor:
    """Return a bias as it can be added to so many rows."""
    if bias.dim() == 1:
        return bias
    return cast(Tensor, _Spread.apply(bias, rows))  # type: ignore[no-untyped-call]


class _Spread(torch.autograd.Function):
    """Biases as rows; the gradient is summed training by training, as that of one is."""

    @staticmethod
    def forward(ctx: Any, bias: Tensor, rows: int) -> Tensor:
        ctx.count = len(bias)
        return bias.reshape(1, -1).expand(rows, -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return split(grad, ctx.count).contiguous().sum(dim=1), None
