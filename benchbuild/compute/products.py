"""Products of dense matrices without gradients.

Torch multiplies matrices of single precision by MKL, which on AMD's processors uses half of their
vector units; oneDNN, which torch comes with too, uses all of them and takes half the time. Both add
up in single precision, in another order.
"""

from __future__ import annotations

import torch
from torch import Tensor

WORTHWHILE = 1 << 20
"""From how many multiplications on oneDNN is called: below, the call is most of the time."""
_POINTWISE = "_linear_pointwise"


def product(left: Tensor, right: Tensor) -> Tensor:
    """Return the product of two matrices of single precision.

    Args:
        left: (rows, inner).
        right: (inner, columns); quickest if it is the transpose of a matrix stored by rows.
    """
    multiplications = left.shape[0] * left.shape[1] * right.shape[1]
    if multiplications < WORTHWHILE or not has_onednn(left):
        return left @ right
    pointwise = getattr(torch.ops.mkldnn, _POINTWISE)
    found: Tensor = pointwise(left, right.T, None, "none", [], "")
    return found


def has_onednn(tensor: Tensor) -> bool:
    """Tell whether oneDNN can multiply a tensor, where it is and as torch was built."""
    built = torch._C._has_mkldnn and hasattr(torch.ops.mkldnn, _POINTWISE)
    return tensor.device.type == "cpu" and tensor.dtype == torch.float32 and built
