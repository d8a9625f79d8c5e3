r"""A trial of a GCN, written out: what `run_trial` does, several times as fast.

Judging snapshots is most of what a condensation takes, and it is trainings of one small model. This
one makes the same steps from the same random numbers, with these differences:

- Gradients are written out, and large matrices are written where the last ones were: on a CPU most
  of an epoch would go into getting memory for them.
- Weights after a step are those before the next one, so the first product with the condensed
  features serves both the evaluation of an epoch and the training of the next.
- Of the original graph, only those rows are computed that the tried nodes depend on.
- What is measured is worked out for many epochs at once.

One training after the other, rather than a stack of them: weights and moments of one fit into a
processor's cache, those of twenty do not, and an epoch of a stack takes longer than its parts.

.. math:: D_L = \tfrac1n (P - Y), \quad \nabla W_l = H_{l-1}^\top \hat{A}^\top D_l, \quad
    D_{l-1} = \mathrm{relu}'(Z_{l-1}) \odot M_{l-1} \odot (\hat{A}^\top D_l W_l^\top)

with :math:`Z` the inputs of ReLU, :math:`M` the masks of dropout and :math:`H = M \odot
\mathrm{relu}(Z)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.compute.devices import reproducible
from benchbuild.compute.loop import History
from benchbuild.compute.objective import SPLITS, in_order
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.evaluate.models import build_model
from benchbuild.kinds.evaluate.operands import Factor, adjoint_product
from benchbuild.kinds.evaluate.trial import conclude
from benchquery.kinds.condensed.config import EvalConfig

KEPT = 1 << 22
"""How many logits are kept before they are measured."""


@dataclass(frozen=True, eq=False)
class GcnTask:
    """What a GCN learns on and what it is tried on.

    Attributes:
        lesson: What each layer multiplies with on the graph that is learnt from; see
            `benchbuild.kinds.evaluate.operands.Operands.factors`.
        exam: The same on the original graph, towards the nodes that are tried.
        labels: Classes, or probabilities of them, of the nodes that are learnt from; then classes
            of one or several sets of nodes that are tried, in the order of the last factor's rows.
            Where there is but one set, it takes the place of the test set too.
        num_features: The width of the features.
        num_classes: The number of classes.
    """

    lesson: tuple[Factor, ...]
    exam: tuple[Factor, ...]
    labels: tuple[Tensor, ...]
    num_features: int
    num_classes: int


def run_gcn_trial(config: EvalConfig, task: GcnTask) -> Evaluation:
    """Train a GCN and try it in every epoch.

    Args:
        config: Its size and training.
        task: What it learns on and is tried on.
    """
    device = task.labels[0].device
    history = History(config.count("epochs"), device)
    rows = sum(len(labels) for labels in task.labels)
    together = max(min(KEPT // (rows * task.num_classes), len(history.values)), 1)
    kept = torch.empty(together, rows, task.num_classes, device=device)
    with reproducible(device, config.seed, threads=1), torch.no_grad():
        training = _Training(config, task)
        for epoch in range(len(history.values)):
            training.step()
            training.write_logits(kept[epoch % together])
            if epoch % together == together - 1 or epoch == len(history.values) - 1:
                for measured in _measure(kept[: epoch % together + 1], task.labels):
                    history.add(measured)
    return conclude(history)


class _Training:
    """The weights of a GCN on their way.

    Those of the first layer are stored as (features, width), since that is what a sparse product
    gathers from; all others as (outputs, inputs), in which few outputs cost a third of the time.
    """

    def __init__(self, config: EvalConfig, task: GcnTask) -> None:
        """Draw the first weights, as `run_trial` does."""
        model = build_model(config, task.num_features, task.num_classes)
        convolutions: Sequence[Any] = model.get_submodule("layers")  # type: ignore[assignment]
        device = task.labels[0].device
        weights = [layer.lin.weight.detach() for layer in convolutions]
        weights[0] = weights[0].t().contiguous()
        biases = [layer.bias.detach() for layer in convolutions]
        self._weights, self._biases = (
            [tensor.to(device).requires_grad_() for tensor in part] for part in (weights, biases)
        )
        self._optimizer = torch.optim.Adam(
            [*self._weights, *self._biases],
            lr=config.number("lr"),
            weight_decay=config.number("weight_decay"),
            fused=True,
        )
        self._remains = 1 - config.number("dropout")
        self._task = task
        self._first = self._first_layer(task.lesson)

    def step(self) -> None:
        """Make the step of an epoch."""
        lesson, out = self._task.lesson, self._first
        hidden, masks, inputs = [], [], []
        for layer in range(1, len(lesson)):
            hidden.append(out.relu())
            masks.append(torch.empty_like(out).bernoulli_(self._remains).div_(self._remains))
            inputs.append(hidden[-1] * masks[-1])
            narrow = functional.linear(inputs[-1], self._weights[layer])
            out = lesson[layer] @ narrow + self._biases[layer]
        delta = _slope(out, self._task.labels[0])
        for layer in reversed(range(1, len(lesson))):
            self._biases[layer].grad = delta.sum(dim=0)
            delta = adjoint_product(lesson[layer], delta)
            self._weights[layer].grad = delta.T @ inputs[layer - 1]
            delta = (delta @ self._weights[layer]).mul_(masks[layer - 1])
            delta = torch.ops.aten.threshold_backward(delta, hidden[layer - 1], 0.0)
        first = self._weights[0]
        self._biases[0].grad = delta.sum(dim=0)
        first.grad = adjoint_product(lesson[0], delta, out=first.grad)
        self._optimizer.step()
        self._first = self._first_layer(lesson)

    def write_logits(self, logits: Tensor) -> None:
        """Write what the model says of all nodes, those that it learns on first."""
        learnt = len(self._task.labels[0])
        logits[:learnt] = self._after(self._task.lesson, self._first.clone())
        logits[learnt:] = self._after(self._task.exam, self._first_layer(self._task.exam))

    def _first_layer(self, factors: Sequence[Factor]) -> Tensor:
        out: Tensor = (factors[0] @ self._weights[0]).add_(self._biases[0])
        return out

    def _after(self, factors: Sequence[Factor], out: Tensor) -> Tensor:
        """Return the logits that follow from the outputs of the first layer, which are lost."""
        for layer in range(1, len(factors)):
            narrow = functional.linear(out.relu_(), self._weights[layer])
            out = (factors[layer] @ narrow).add_(self._biases[layer])
        return out


def _slope(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the gradient of the mean cross-entropy."""
    leaf = logits.requires_grad_()
    with torch.enable_grad():
        loss = functional.cross_entropy(leaf, labels)
        (gradient,) = torch.autograd.grad(loss, leaf)
    return gradient


def _measure(logits: Tensor, labels: Sequence[Tensor]) -> Tensor:
    """Return what is measured of some epochs, a row each, in the order of the curves."""
    perfs, losses = [], []
    parts = torch.split(logits, [len(y) for y in labels], dim=1)
    for part, y in zip(parts, labels, strict=True):
        classes = y if y.dim() == 1 else y.argmax(dim=1)
        perfs.append((part.argmax(dim=2) == classes).double().mean(dim=1))
        each = y.expand(len(part), *y.shape).flatten(0, 1)
        entropy = functional.cross_entropy(part.flatten(0, 1), each, reduction="none")
        losses.append(entropy.view(len(part), -1).mean(dim=1).double())
    return in_order(_of_three(perfs), _of_three(losses))


def _of_three(figures: list[Tensor]) -> list[Tensor]:
    """Return the figures of three sets; where there are two, the second is taken again."""
    return figures if len(figures) == len(SPLITS) else [*figures, figures[-1]]
