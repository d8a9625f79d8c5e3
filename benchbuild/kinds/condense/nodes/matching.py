r"""What makes a synthetic graph alike to the real one for a model with given weights.

.. math::
    \mathcal{L}_{\text{gradient}} = \sum_c \frac{n_c}{\max n}
        D\bigl( \nabla_\theta \ell_c(S), \nabla_\theta \ell_c(T) \bigr), \qquad
    \mathcal{L}_{\text{distribution}} =
        \frac{\sum_c \| \mu_c(S) - \mu_c(T) \|^2}{\sum_c \| \mu_c(T) - \bar\mu(T) \|^2}

:math:`\ell_c` is the mean cross-entropy of the nodes of a class, :math:`\mu_c` their mean
embedding, :math:`n_c` the number of synthetic nodes of a class. The denominator, which the papers
don't have, makes all weights count alike and is a matter of scale: without it, gradients on
bags of words are smaller than Adam's epsilon, and A' stays as it was drawn. The protocol
``as-released`` has the mean of the squares instead, as GC-Bench does.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from benchbuild.kinds.condense.distances import DISTANCES
from benchbuild.kinds.condense.nodes.backbones import Backbone, Weights
from benchbuild.kinds.condense.nodes.batches import ClassBatches
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.views import View
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.domains.spec import AS_RELEASED

TINY = 1e-30
Objective = Callable[[Weights, View], Tensor]
"""The loss of a synthetic graph at some weights."""


def class_shares(labels: Tensor) -> Tensor:
    """Return (classes, nodes): one over the size of its class where a node belongs to the class."""
    member = (torch.bincount(labels).nonzero() == labels).float()
    return member / member.sum(dim=1, keepdim=True)


class GradientMatching:
    """The loss of gradient matching.

    Args:
        problem: The graph that is condensed.
        config: Says ``distance``, ``batch`` and ``fanout``.
        backbone: The model.
        labels: The classes of the synthetic nodes, ascending.
        generator: The source of everything random.
    """

    def __init__(
        self,
        problem: Problem,
        config: CondenseConfig,
        backbone: Backbone,
        labels: Tensor,
        generator: torch.Generator,
    ) -> None:
        self._distance = DISTANCES[str(config["distance"])]
        self._backbone = backbone
        self._batches = ClassBatches(problem, config, backbone, generator)
        self._stack = self._batches.stack()
        self._labels = labels
        self._shares = class_shares(labels)
        counts = (self._shares > 0).sum(dim=1)
        self._importance = counts / counts.max()

    def __call__(self, weights: Weights, view: View) -> Tensor:
        """Return the loss of the synthetic graph."""
        with torch.no_grad():
            theirs = self._real(weights)
        ours = self._backbone.gradients(weights, view, self._labels, self._shares)
        return self._importance @ self._distance(ours, theirs)

    def _real(self, weights: Weights) -> list[Tensor]:
        """Return the gradients of the real graph, class by class."""
        if self._stack is not None:
            stack = self._stack
            return self._backbone.gradients(weights, stack.view, stack.labels, stack.shares)
        each = [self._of_class(weights, label) for label in self._batches.classes]
        return [torch.cat(of_weight) for of_weight in zip(*each, strict=True)]

    def _of_class(self, weights: Weights, label: int) -> list[Tensor]:
        view = self._batches.view(label)
        labels = self._labels.new_full((view.targets,), label)
        shares = self._shares.new_full((1, view.targets), 1 / view.targets)
        return self._backbone.gradients(weights, view, labels, shares)


class DistributionMatching:
    """The loss of distribution matching.

    Args:
        problem: The graph that is condensed.
        config: Says ``batch`` and ``fanout``.
        backbone: The model.
        labels: The classes of the synthetic nodes, ascending.
        generator: The source of everything random.
    """

    def __init__(
        self,
        problem: Problem,
        config: CondenseConfig,
        backbone: Backbone,
        labels: Tensor,
        generator: torch.Generator,
    ) -> None:
        self._backbone = backbone
        self._batches = ClassBatches(problem, config, backbone, generator)
        self._shares = class_shares(labels)
        self._scales = config.protocol != AS_RELEASED

    def __call__(self, weights: Weights, view: View) -> Tensor:
        """Return the loss of the synthetic graph."""
        with torch.no_grad():
            theirs = torch.stack([self._real(weights, c) for c in self._batches.classes])
        ours, _ = self._backbone.outputs(weights, view)
        between = (self._shares @ ours - theirs).square()
        if not self._scales:
            return between.mean()
        spread = (theirs - theirs.mean(dim=0)).square().sum()
        return between.sum() / spread.clamp(min=TINY)

    def _real(self, weights: Weights, label: int) -> Tensor:
        embeddings, _ = self._backbone.outputs(weights, self._batches.view(label))
        return embeddings.mean(dim=0)
