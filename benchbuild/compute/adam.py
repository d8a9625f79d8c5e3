"""Adam without what an optimiser does around its arithmetic: for models so small that it counts."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

DECAYS = (0.9, 0.999)
EPSILON = 1e-8
"""The usual settings."""


class Adam:
    """Steps of Adam on some tensors.

    Args:
        tensors: What is updated, in place.
        lr: The learning rate.
        weight_decay: What of the tensors is added to their gradients.
    """

    def __init__(self, tensors: Sequence[Tensor], lr: float, weight_decay: float = 0.0) -> None:
        self._tensors = list(tensors)
        self._means, self._squares = (
            [torch.zeros_like(tensor) for tensor in tensors] for _ in range(2)
        )
        self._step = torch.zeros((), device=self._tensors[0].device)
        self._lr, self._weight_decay = lr, weight_decay

    @torch.no_grad()
    def __call__(self, gradients: Sequence[Tensor]) -> None:
        """Make a step."""
        self._step += 1
        torch._fused_adam_(
            self._tensors,
            list(gradients),
            self._means,
            self._squares,
            [],
            [self._step] * len(self._tensors),
            lr=self._lr,
            beta1=DECAYS[0],
            beta2=DECAYS[1],
            weight_decay=self._weight_decay,
            eps=EPSILON,
            amsgrad=False,
            maximize=False,
        )
