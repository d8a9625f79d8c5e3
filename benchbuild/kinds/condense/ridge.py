r"""Kernel ridge regression: what synthetic data with its labels says of real data.

.. math:: \hat{y} = K_{TS} \Big(K_{SS} + \lambda \frac{\operatorname{tr} K_{SS}}{n} I\Big)^{-1} y'
"""

from __future__ import annotations

import torch
from torch import Tensor

LEAST = 1e-12
"""What is added to, or taken for, a diagonal entry that would be zero: graphs without edges."""


def regression(k_ss: Tensor, k_st: Tensor, y: Tensor, ridge: float) -> Tensor:
    """Return (real, classes) of what kernel ridge regression predicts.

    Args:
        k_ss: (synthetic, synthetic) kernel.
        k_st: (synthetic, real) kernel.
        y: (synthetic, classes).
        ridge: How much of the mean of the kernel's diagonal is added to it.
    """
    amount = (ridge * k_ss.diagonal().mean()).clamp(min=LEAST)
    eye = torch.eye(len(k_ss), dtype=k_ss.dtype, device=k_ss.device)
    weights: Tensor = torch.linalg.solve(k_ss + amount * eye, y)
    return k_st.T @ weights
