"""Products of matrices that nothing is differentiated through."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def linear(rows: Tensor, weight: Tensor, *, relu: bool = False) -> Tensor:
    r"""Return :math:`X W^\top`, with 0 for negative numbers if asked for.

    Single precision on a CPU is oneDNN's, which on processors of AMD takes half the time of the
    library that torch gives such products to.
    """
    single = rows.device.type == "cpu" and rows.dtype == torch.float32
    if single and hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        then = "relu" if relu else "none"
        out: Tensor = torch.ops.mkldnn._linear_pointwise(rows, weight, None, then, [], "")
        return out
    out = functional.linear(rows, weight)
    return out.relu_() if relu else out
