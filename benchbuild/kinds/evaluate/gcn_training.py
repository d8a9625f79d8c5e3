r"""The training of a GCN, written out: the steps of `run_trial`, in a fraction of the time.

Judging snapshots is most of what a condensation takes, and it is trainings of one small model. This
one makes the same steps from the same random numbers, with these differences:

- Gradients are written out, and products are those of `benchbuild.compute.products`.
- Weights after a step are those before the next one, so the first product with the condensed
  features serves both the evaluation of an epoch and the training of the next.
- First weights and masks of dropout follow from the seed and the sizes: they are drawn once for all
  snapshots that are judged with a seed.

One training after the other, rather than a stack of them: weights and moments of one fit into a
processor's cache, those of twenty do not, and an epoch of a stack takes longer than its parts.

.. math:: D_L = \tfrac1n (P - Y), \quad \nabla W_l = H_{l-1}^\top \hat{A}^\top D_l, \quad
    D_{l-1} = \mathrm{relu}'(Z_{l-1}) \odot M_{l-1} \odot (\hat{A}^\top D_l W_l^\top)

with :math:`Z` the inputs of ReLU, :math:`M` the masks of dropout and :math:`H = M \odot
\mathrm{relu}(Z)`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.compute.adam import Adam
from benchbuild.compute.devices import reproducible
from benchbuild.compute.products import product
from benchbuild.compute.sparse import SparseRows
from benchbuild.kinds.evaluate.models import build_model
from benchbuild.kinds.evaluate.operands import Factor, adjoint, plain_product
from benchquery.kinds.condensed.config import EvalConfig

KEPT_MASKS = 1 << 25
"""How many entries the masks of a training may have to be kept for the next one, with its first
weights."""


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


class GcnTraining:
    """The weights of a GCN on their way.

    Those of the first layer are stored as (features, width), since that is what a sparse product
    gathers from; all others as (outputs, inputs), in which few outputs cost a third of the time.
    """

    def __init__(self, config: EvalConfig, task: GcnTask) -> None:
        """Draw the first weights, as `run_trial` does."""
        self._weights, self._biases, self._masks = _beginning(config, task)
        self._update = Adam(
            [*self._weights, *self._biases],
            config.number("lr"),
            config.number("weight_decay"),
        )
        self._task = task
        self._adjoints = [adjoint(factor) for factor in task.lesson]
        chances = _chances(task.labels[0], task.num_classes)
        self._targets = chances / len(chances)
        self._totals = self._targets.sum(dim=1, keepdim=True)
        self._first = self._first_layer(task.lesson)

    def step(self) -> None:
        """Make the step of an epoch."""
        lesson, out = self._task.lesson, self._first
        masks, inputs = [], []
        for layer in range(1, len(lesson)):
            masks.append(next(self._masks))
            inputs.append(out.relu().mul_(masks[-1]))
            out = self._layer(layer, lesson[layer], inputs[-1])
        slopes: dict[int, Tensor] = {}
        shifts: dict[int, Tensor] = {}
        delta = out.softmax(dim=1).mul_(self._totals).sub_(self._targets)
        for layer in reversed(range(1, len(lesson))):
            shifts[layer] = delta.sum(dim=0)
            delta = plain_product(self._adjoints[layer], delta)
            slopes[layer] = delta.T @ inputs[layer - 1]
            delta = (delta @ self._weights[layer]).mul_(masks[layer - 1])
            delta = torch.ops.aten.threshold_backward(delta, inputs[layer - 1], 0.0)
        shifts[0] = delta.sum(dim=0)
        slopes[0] = plain_product(self._adjoints[0], delta)
        order = range(len(lesson))
        self._update([*(slopes[at] for at in order), *(shifts[at] for at in order)])
        self._first = self._first_layer(lesson)

    def learnt_logits(self) -> Tensor:
        """Return what the model says of the nodes that it learns on."""
        return self._after(self._task.lesson, self._first.clone())

    def logits(self, factors: Sequence[Factor]) -> Tensor:
        """Return what the model says of the nodes that some factors lead to."""
        return self._after(factors, self._first_layer(factors))

    @property
    def largest(self) -> float:
        """The magnitude of the largest weight; NaN once one is."""
        weights = (*self._weights, *self._biases)
        return float(torch.stack([weight.abs().max() for weight in weights]).max())

    def _first_layer(self, factors: Sequence[Factor]) -> Tensor:
        return plain_product(factors[0], self._weights[0]).add_(self._biases[0])

    def _layer(self, layer: int, factor: Factor, inputs: Tensor) -> Tensor:
        """Return the outputs of a later layer, by the shorter one of two ways."""
        weight = self._weights[layer].T
        if isinstance(factor, SparseRows) and _is_shorter_spread_first(factor, weight):
            return product(factor @ inputs, weight).add_(self._biases[layer])
        return plain_product(factor, product(inputs, weight)).add_(self._biases[layer])

    def _after(self, factors: Sequence[Factor], out: Tensor) -> Tensor:
        """Return the logits that follow from the outputs of the first layer, which are lost."""
        for layer in range(1, len(factors)):
            out = self._layer(layer, factors[layer], out.relu_())
        return out


def _is_shorter_spread_first(factor: SparseRows, weight: Tensor) -> bool:
    """Tell whether a product of three has fewer multiplications if it begins on the left."""
    entries, rows, (inputs, outputs) = len(factor.values), factor.rows, weight.shape
    left = entries * inputs + rows * inputs * outputs
    return left < factor.columns * inputs * outputs + entries * outputs


def _beginning(
    config: EvalConfig, task: GcnTask
) -> tuple[list[Tensor], list[Tensor], Iterator[Tensor]]:
    """Return the first weights and biases, and the masks of dropout in their order."""
    remains, labels = 1 - config.number("dropout"), task.labels[0]
    shape = (len(labels), config.count("hidden"))
    sizes = (shape, task.num_features, task.num_classes, labels.device)
    if _mask_count(config) * math.prod(shape) > KEPT_MASKS:
        weights, biases = _first_weights(config, *sizes[1:])
        drawn = _drawn_masks(shape, remains, labels.device)
    else:
        kept_weights, kept_biases, masks = _kept_beginning(config, *sizes)
        weights, biases = ([w.clone() for w in kept] for kept in (kept_weights, kept_biases))
        drawn = iter(masks)
    scale = float(torch.ones(()).div_(remains))
    return weights, biases, (mask.float().mul_(scale) for mask in drawn)


def _first_weights(
    config: EvalConfig, num_features: int, num_classes: int, device: torch.device
) -> tuple[list[Tensor], list[Tensor]]:
    """Draw the first weights and biases from torch's generator."""
    model = build_model(config, num_features, num_classes)
    convolutions: Sequence[Any] = model.get_submodule("layers")  # type: ignore[assignment]
    first, *later = (layer.lin.weight.detach().to(device) for layer in convolutions)
    biases = [layer.bias.detach().to(device) for layer in convolutions]
    return [first.t().contiguous(), *later], biases


def _mask_count(config: EvalConfig) -> int:
    return config.count("epochs") * (config.count("layers") - 1)


def _drawn_masks(shape: tuple[int, int], remains: float, device: torch.device) -> Iterator[Tensor]:
    """Yield masks as they are drawn, without end."""
    while True:
        yield torch.empty(shape, device=device).bernoulli_(remains)


@lru_cache(maxsize=8)
def _kept_beginning(
    config: EvalConfig,
    shape: tuple[int, int],
    num_features: int,
    num_classes: int,
    device: torch.device,
) -> tuple[Sequence[Tensor], Sequence[Tensor], Sequence[Tensor]]:
    """Return the first weights and biases of a training, which stay as they are, and all its masks.

    Masks are whole numbers, which are made floating-point ones sooner than truth values are.
    """
    with reproducible(device, config.seed, threads=1):
        weights, biases = _first_weights(config, num_features, num_classes, device)
        drawn = _drawn_masks(shape, 1 - config.number("dropout"), device)
        masks = [mask.to(torch.uint8) for mask in islice(drawn, _mask_count(config))]
        return weights, biases, masks


def _chances(labels: Tensor, num_classes: int) -> Tensor:
    """Return (nodes, classes): the probability that is learnt of each."""
    return labels if labels.dim() == 2 else functional.one_hot(labels, num_classes).float()
