r"""Training a linear model by Adam, written out: what SGC learns on a synthetic graph.

With :math:`U = [\hat{A}^L X, 1]` and :math:`\Theta = [W, b]`,

.. math:: \nabla \Theta = \tfrac1n \bigl( \operatorname{softmax}(U \Theta^\top) - Y \bigr)^\top U.

The model is so small that what an optimiser does around its arithmetic would be most of the time.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.compute.adam import Adam
from benchbuild.compute.products import product
from benchbuild.kinds.condense.nodes.backbones import Weights


class LinearTraining:
    """Weights and bias of a linear model on their way, with the moments of Adam.

    Args:
        weights: (classes, features) and (classes,); they are updated in place.
        lr: The learning rate.
    """

    def __init__(self, weights: Weights, lr: float) -> None:
        self._weights = weights
        self._joined = torch.column_stack([weight.detach() for weight in weights])
        self._update = Adam([self._joined], lr)

    @torch.no_grad()
    def run(self, features: Tensor, labels: Tensor, steps: int) -> None:
        """Make some steps on the mean cross-entropy.

        Args:
            features: (nodes, features) as the model sees them.
            labels: (nodes,) classes.
            steps: How many.
        """
        inputs = functional.pad(features, (0, 1), value=1.0)
        columns = inputs.T.contiguous()
        parts = inputs / len(inputs)
        targets = functional.one_hot(labels, len(self._joined)).T.to(inputs)
        for _ in range(steps):
            error = product(self._joined, columns).softmax(dim=0).sub_(targets)
            self._update([product(error, parts)])
        weight, bias = self._weights
        weight.copy_(self._joined[:, :-1])
        bias.copy_(self._joined[:, -1])
