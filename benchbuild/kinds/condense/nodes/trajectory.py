r"""Trajectory matching: a student on the synthetic nodes is to go where an expert went.

.. math::
    \mathcal{L} = \frac{\lVert \theta_S - \theta_T \rVert^2}{\lVert \theta_0 - \theta_T \rVert^2}

The student begins with the weights :math:`\theta_0` of an expert and takes some steps of gradient
descent on nodes without edges, where a GCN is a perceptron. The first layer of one moves only
within the span of the synthetic features,

.. math::
    \mathbf{W}_1^{(k)} = \mathbf{W}_1^{(0)} - \eta \sum_{j<k} \mathbf{D}_j^\top \mathbf{X}
    \quad\Rightarrow\quad
    \mathbf{Z}_{k+1} = \mathbf{Z}_k - \eta\,(\mathbf{X}\mathbf{X}^\top + 1)\, \mathbf{D}_k,

with :math:`\mathbf{Z}` the input of the ReLU and :math:`\mathbf{D}` the gradient there. So the
cost of a step depends on the number of synthetic nodes and not on that of the features: 70 and
1,433 on Cora. The gradient through all steps is written out by hand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from benchbuild.kinds.condense.distances import matching_loss
from benchbuild.kinds.condense.nodes.backbones import Backbone, Convolutional, Weights
from benchbuild.kinds.condense.nodes.experts import Experts
from benchbuild.kinds.condense.nodes.views import DenseMatrix, View, synthetic_view
from benchquery.kinds.condensed.config import CondenseConfig


class Matcher:
    """Compares students with experts.

    Experts come in an order drawn anew for every round. A student has to cover what is left
    between the latest start, ``start_epochs``, and the end of an expert's training.

    Args:
        experts: The experts.
        config: How experts were trained, ``start_epochs``, the ``steps`` of a student, the
            ``lr_student`` that it begins with, ``feature_scale``.
        generator: The source of everything random.
        device: Where to compute.

    Attributes:
        log_rate: The logarithm of the student's learning rate, to be learnt.
    """

    def __init__(
        self,
        experts: Experts,
        config: CondenseConfig,
        generator: torch.Generator,
        device: torch.device,
    ) -> None:
        self._experts = experts
        self._config = config
        self._generator = generator
        self._order: list[int] = []
        self._interval = config.count("expert_interval")
        epochs, latest = config.count("expert_epochs"), config.count("start_epochs")
        self._stretch = epochs // self._interval - latest // self._interval
        rate = torch.tensor(config.number("lr_student"), device=device)
        self.log_rate = rate.log().requires_grad_()

    def loss(self, x: Tensor, targets: Tensor, latest: int) -> tuple[Tensor, int]:
        """Return the matching loss of a draw, and which expert was drawn.

        Args:
            x: (n, f) synthetic features.
            targets: (n, c) probabilities of the classes.
            latest: The latest epoch at which the student may begin.
        """
        if not self._order:
            self._order = torch.randperm(len(self._experts), generator=self._generator).tolist()
        expert = self._order.pop()
        first = int(torch.randint(latest // self._interval + 1, (), generator=self._generator))
        start = self._experts.checkpoint(expert, first)
        target = self._experts.checkpoint(expert, first + self._stretch)
        reached = student(
            self._experts.backbone,
            x * self._config.number("feature_scale"),
            targets,
            self.log_rate.exp(),
            start=start,
            steps=self._config.count("steps"),
        )
        return matching_loss(reached, start, target), expert


def student(
    backbone: Backbone, x: Tensor, targets: Tensor, rate: Tensor, *, start: Weights, steps: int
) -> Weights:
    """Train a student on nodes without edges; differentiable in x, targets and rate.

    Args:
        backbone: The model.
        x: (n, f) features.
        targets: (n, c) probabilities of the classes.
        rate: The learning rate, a scalar.
        start: The weights it begins with.
        steps: Steps of gradient descent on the mean cross-entropy.
    """
    if isinstance(backbone, Convolutional) and len(start) == 4:
        return _perceptron(x, targets, rate, start, steps)
    view = lonely_view(backbone, x)
    weights = [weight.detach().requires_grad_() for weight in start]
    for _ in range(steps):
        _, logits = backbone.outputs(weights, view)
        loss = functional.cross_entropy(logits, targets)
        gradients = torch.autograd.grad(loss, weights, create_graph=True)
        weights = [weight - rate * step for weight, step in zip(weights, gradients, strict=True)]
    return weights


def lonely_view(backbone: Backbone, x: Tensor) -> View:
    """Return nodes without edges as a model sees them: propagation leaves features as they are."""
    edges = x.new_zeros(len(x), len(x))
    view = synthetic_view(x, edges, backbone.layers, backbone.aggregated)
    return replace(view, features=DenseMatrix(x))


def _perceptron(x: Tensor, targets: Tensor, rate: Tensor, start: Weights, steps: int) -> Weights:
    """Train a GCN of two layers on nodes without edges."""
    w1, b1, w2, b2 = start
    begin = torch.addmm(b1, x, w1.T)
    moved, second, bias = cast(
        tuple[Tensor, Tensor, Tensor],
        _Descent.apply(  # type: ignore[no-untyped-call]
            x @ x.T + 1, targets, rate, begin, w2, b2, steps
        ),
    )
    moved = rate * moved
    return [torch.addmm(w1, moved.T, x, alpha=-1), b1 - moved.sum(dim=0), second, bias]


class _Descent(torch.autograd.Function):
    """Gradient descent in the space of the nodes.

    Gives the sum of the gradients at the input of the ReLU, and the second layer. What is kept of
    a step is the input of the ReLU, the second layer's weights and the classes' probabilities.
    """

    @staticmethod
    def forward(  # noqa: PLR0917  (autograd passes no keywords)
        ctx: Any,
        gram: Tensor,
        targets: Tensor,
        rate: Tensor,
        z: Tensor,
        w2: Tensor,
        b2: Tensor,
        steps: int,
    ) -> tuple[Tensor, Tensor, Tensor]:
        eta = float(rate)
        moved = torch.zeros_like(z)
        inputs, weights = z.new_empty(steps, *z.shape), z.new_empty(steps, *w2.shape)
        chances = z.new_empty(steps, *targets.shape)
        for step in range(steps):
            inputs[step], weights[step] = z, w2
            hidden = z.relu()
            torch.softmax(torch.addmm(b2, hidden, w2.T), dim=1, out=chances[step])
            error = (chances[step] - targets).div_(len(z))
            slope = (error @ w2).mul_(hidden.sign())
            moved += slope
            z = torch.addmm(z, gram, slope, alpha=-eta)
            w2 = torch.addmm(w2, error.T, hidden, alpha=-eta)
            b2 = b2 - error.sum(dim=0).mul_(eta)
        ctx.save_for_backward(gram, targets, rate, inputs, weights, chances)
        return moved, w2, b2

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, of_moved: Tensor, of_w2: Tensor, of_b2: Tensor
    ) -> tuple[Tensor | None, ...]:
        gram, targets, rate, inputs, weights, chances = ctx.saved_tensors
        eta, size = float(rate), len(targets)
        of_gram, of_targets = torch.zeros_like(gram), torch.zeros_like(targets)
        of_rate, of_z = torch.zeros_like(rate), torch.zeros_like(of_moved)
        for step in reversed(range(len(inputs))):
            w2, chance, hidden = weights[step], chances[step], inputs[step].relu()
            active = hidden.sign()
            error = (chance - targets).div_(size)
            slope = (error @ w2).mul_(active)
            of_slope = torch.addmm(of_moved, gram, of_z, alpha=-eta).mul_(active)
            of_gram.addmm_(of_z, slope.T, alpha=-eta)
            second = torch.addmm(of_b2, hidden, of_w2.T)
            of_rate -= (error * second).sum()
            of_error = (of_slope @ w2.T).sub_(second, alpha=eta).div_(size)
            of_targets -= of_error
            of_logits = chance * (of_error - (chance * of_error).sum(dim=1, keepdim=True))
            of_hidden = (of_logits @ w2).addmm_(error, of_w2, alpha=-eta)
            of_z.addcmul_(of_hidden, active)
            of_w2 = torch.addmm(of_w2, error.T, of_slope).addmm_(of_logits.T, hidden)
            of_b2 = of_b2 + of_logits.sum(dim=0)
        of_rate += (gram * of_gram).sum() / rate
        return of_gram, of_targets, of_rate, of_z, None, None, None
