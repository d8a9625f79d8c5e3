"""What every loop that learns a payload needs: steps of Adam, and means of losses."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


class Learner:
    """Tensors that Adam updates with gradients it is given."""

    def __init__(self, tensors: list[Tensor], lr: float) -> None:
        self.tensors = [tensor.requires_grad_() for tensor in tensors]
        self._optimizer = torch.optim.Adam(self.tensors, lr=lr, fused=True)

    def step(self, gradients: Sequence[Tensor]) -> None:
        """Update the tensors in place."""
        for tensor, gradient in zip(self.tensors, gradients, strict=True):
            tensor.grad = gradient
        self._optimizer.step()


def mean_losses(losses: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each loss over the steps that have it."""
    names = dict.fromkeys(name for each in losses for name in each)
    found = {name: [each[name] for each in losses if name in each] for name in names}
    return {name: sum(values) / len(values) for name, values in found.items()}
