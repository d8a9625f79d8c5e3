"""Products of dense matrices.

Torch multiplies matrices of single precision by MKL, which on AMD's processors uses half of their
vector units; oneDNN, which torch comes with too, uses all of them and takes half the time. On
Intel's own processors MKL is the quicker one. Both add up in single precision, in another order.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.compute.devices import device_name

WORTHWHILE = 5 << 17
"""From how many multiplications on oneDNN is called: below, the call is most of the time."""
_POINTWISE = "_linear_pointwise"


def product(left: Tensor, right: Tensor) -> Tensor:
    """Return the product of two matrices, with its gradients of any order.

    Args:
        left: (rows, inner).
        right: (inner, columns); quickest if it is the transpose of a matrix stored by rows.
    """
    multiplications = left.shape[0] * left.shape[1] * right.shape[1]
    if multiplications < WORTHWHILE or not has_onednn(left):
        return left @ right
    if torch.is_grad_enabled() and (left.requires_grad or right.requires_grad):
        return cast(Tensor, _Product.apply(left, right))  # type: ignore[no-untyped-call]
    return _onednn(left, right.T)


def linear(rows: Tensor, weight: Tensor, *, relu: bool = False) -> Tensor:
    r"""Return :math:`X W^\top`, with 0 for negative numbers if asked for; it has no gradients.

    Args:
        rows: (rows, inner).
        weight: (columns, inner), as linear layers keep it.
        relu: Whether negative numbers become 0.
    """
    if has_onednn(rows):
        return _onednn(rows, weight, then="relu" if relu else "none")
    found = functional.linear(rows, weight)
    return found.relu_() if relu else found


class _Product(torch.autograd.Function):
    """What oneDNN multiplies, with gradients that it multiplies too."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor) -> Tensor:
        ctx.save_for_backward(left, right)
        return _onednn(left, right.T)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        left, right = ctx.saved_tensors
        of_left, of_right = ctx.needs_input_grad
        return (
            _as_it_lies(left, grad, right.T) if of_left else None,
            _as_it_lies(right, left.T, grad) if of_right else None,
        )


def _as_it_lies(matrix: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Return a product stored by rows or by columns as a matrix is: Adam takes that for granted."""
    if matrix.is_contiguous():
        return product(left, right)
    return product(right.T, left.T).T


def _onednn(rows: Tensor, weight: Tensor, then: str = "none") -> Tensor:
    pointwise = getattr(torch.ops.mkldnn, _POINTWISE)
    found: Tensor = pointwise(_whole(rows), _whole(weight), None, then, [], "")
    return found


def _whole(matrix: Tensor) -> Tensor:
    """Return a matrix without gaps between rows or columns: with gaps oneDNN is very slow."""
    whole = matrix.is_contiguous() or matrix.T.is_contiguous()
    return matrix if whole else matrix.contiguous()


def has_onednn(tensor: Tensor) -> bool:
    """Tell whether oneDNN can multiply a tensor, and does so quicker than MKL."""
    built = torch._C._has_mkldnn and hasattr(torch.ops.mkldnn, _POINTWISE)
    of_cpu = tensor.device.type == "cpu" and tensor.dtype == torch.float32
    return of_cpu and built and not mkl_is_quicker()


@cache
def mkl_is_quicker() -> bool:
    """Tell whether this is a processor that MKL was made for."""
    return torch._C.has_mkl and "Intel" in device_name(torch.device("cpu"))
