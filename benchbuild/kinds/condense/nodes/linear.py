r"""Training a linear model by Adam, written out: what SGC learns on a synthetic graph.

With :math:`U = [\hat{A}^L X, 1]` and :math:`\Theta = [W, b]`,

.. math:: \nabla \Theta = \tfrac1n \bigl( \operatorname{softmax}(U \Theta^\top) - Y \bigr)^\top U.

The model is so small that what an optimiser does around its arithmetic would be most of the time.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.kinds.condense.nodes.backbones import Weights

DECAYS = (0.9, 0.999)
EPSILON = 1e-8
"""Adam's usual settings."""


class LinearTraining:
    """Weights and bias of a linear model on their way, with the moments of Adam.

    Args:
        weights: (classes, features) and (classes,); they are updated in place.
        lr: The learning rate.
    """

    def __init__(self, weights: Weights, lr: float) -> None:
        self._weights = weights
        self._lr = lr
        self._steps = 0
        joined = torch.column_stack([weight.detach() for weight in weights])
        self._joined, self._mean, self._square = (
            joined,
            torch.zeros_like(joined),
            torch.zeros_like(joined),
        )

    @torch.no_grad()
    def run(self, features: Tensor, labels: Tensor, steps: int) -> None:
        """Make some steps on the mean cross-entropy.

        Args:
            features: (nodes, features) as the model sees them.
            labels: (nodes,) classes.
            steps: How many.
        """
        inputs = functional.pad(features, (0, 1), value=1.0)
        targets = functional.one_hot(labels, len(self._joined)).to(inputs)
        for _ in range(steps):
            error = (inputs @ self._joined.T).softmax(dim=1).sub_(targets).div_(len(inputs))
            self._step(error.T @ inputs)
        weight, bias = self._weights
        weight.copy_(self._joined[:, :-1])
        bias.copy_(self._joined[:, -1])

    def _step(self, gradient: Tensor) -> None:
        self._steps += 1
        first, second = DECAYS
        self._mean.lerp_(gradient, 1 - first)
        self._square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        scale = math.sqrt(1 - second**self._steps)
        divisor = self._square.sqrt().div_(scale).add_(EPSILON)
        self._joined.addcdiv_(self._mean, divisor, value=-self._lr / (1 - first**self._steps))
