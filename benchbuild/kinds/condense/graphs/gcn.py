r"""The network whose gradients are matched, and the gradients themselves.

.. math::
    H_l = \mathrm{relu}(\hat{A} H_{l-1} W_l^\top + b_l), \quad l = 1, \dots, L, \qquad
    Z = \operatorname{pool}(H_L) W^\top + b

Gradients are written out, which is several times as fast as to differentiate twice. With
:math:`U_l` the input of a linear map and :math:`D_l` the gradient at its output,

.. math:: D = (P - Y) / n, \quad D_L = \mathrm{relu}'(H_L) \odot \operatorname{pool}^\top (D W),
    \quad D_{l-1} = \mathrm{relu}'(H_{l-1}) \odot \hat{A}^\top D_l W_l, \quad
    \nabla W_l = D_l^\top U_l.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.kinds.condense.graphs.views import View

Weights = list[Tensor]


@dataclass(frozen=True)
class GraphGcn:
    """A GCN that gives each graph its logits.

    Attributes:
        widths: Of the features and of every hidden layer.
        outputs: How many logits there are. One is that of the second of two classes.
        pooling: "mean" or "sum" over the nodes of a graph.
    """

    widths: Sequence[int]
    outputs: int
    pooling: str

    @property
    def layers(self) -> int:
        """How many propagations it has."""
        return len(self.widths) - 1

    def draw(self, generator: torch.Generator, device: torch.device) -> Weights:
        r"""Return fresh (out, in) weights and (out) biases, as PyG and torch draw them.

        Those of convolutions are from :math:`\mathcal{U}(-1, 1) \sqrt{6 / (\mathrm{in} +
        \mathrm{out})}` with biases of 0, those of the last map, biases too, from
        :math:`\mathcal{U}(-1, 1) / \sqrt{\mathrm{in}}`.
        """
        weights: Weights = []
        for width, out in pairwise(self.widths):
            weights.append(_drawn((out, width), math.sqrt(6 / (width + out)), generator))
            weights.append(torch.zeros(out))
        last = self.widths[-1]
        for shape in ((self.outputs, last), (self.outputs,)):
            weights.append(_drawn(shape, 1 / math.sqrt(last), generator))
        return [weight.to(device) for weight in weights]

    def embeddings(self, weights: Weights, view: View) -> Tensor:
        """Return (graphs, width) of pooled last layers."""
        return self._forward(weights, view)[2]

    def logits(self, weights: Weights, view: View) -> Tensor:
        """Return (graphs, outputs)."""
        return functional.linear(self.embeddings(weights, view), *weights[-2:])

    def gradients(self, weights: Weights, view: View, labels: Tensor) -> list[Tensor]:
        """Return the gradients of the mean cross-entropy, which are differentiable themselves.

        Args:
            weights: Where to take them.
            view: The graphs.
            labels: (graphs,) their classes.
        """
        inputs, hidden, pooled = self._forward(weights, view)
        error = self._error(functional.linear(pooled, *weights[-2:]), labels)
        found = [error.T @ pooled, error.sum(dim=0)]
        delta = error @ weights[-2]
        delta = view.spread(delta / view.sizes if self.pooling == "mean" else delta)
        for layer in reversed(range(self.layers)):
            delta = _through_relu(delta, hidden[layer])
            found = [delta.T @ inputs[layer], delta.sum(dim=0), *found]
            if layer:
                delta = view.propagate_back(layer - 1, delta @ weights[2 * layer])
        return found

    def _error(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the gradient of the mean cross-entropy for the logits."""
        if self.outputs == 1:
            return (logits.sigmoid() - labels[:, None]) / len(labels)
        return (logits.softmax(dim=1) - functional.one_hot(labels, self.outputs)) / len(labels)

    def _forward(self, weights: Weights, view: View) -> tuple[list[Tensor], list[Tensor], Tensor]:
        """Return what each convolution's map is given, what each gives, and the pooled graphs."""
        inputs: list[Tensor] = [view.features]
        hidden: list[Tensor] = []
        for layer in range(self.layers):
            if layer:
                inputs.append(view.propagate(layer - 1, hidden[-1]))
            weight, bias = weights[2 * layer : 2 * layer + 2]
            hidden.append(functional.linear(inputs[-1], weight, bias).relu())
        pooled = view.pool(hidden[-1])
        return inputs, hidden, pooled / view.sizes if self.pooling == "mean" else pooled


def _through_relu(gradient: Tensor, output: Tensor) -> Tensor:
    """Return the gradient before a relu; a product with a mask would be thirty times as slow."""
    through: Tensor = torch.ops.aten.threshold_backward(gradient, output, 0)
    return through


def _drawn(shape: tuple[int, ...], most: float, generator: torch.Generator) -> Tensor:
    return (torch.rand(shape, generator=generator) * 2 - 1) * most
