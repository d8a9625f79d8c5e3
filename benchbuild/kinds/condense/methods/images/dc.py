r"""DC: condensation by gradient matching, after Zhao et al. (2021).

.. math:: \min_{X'} \; \mathbb{E}_{\theta_0} \sum_t \sum_c D\big(
    \nabla_\theta \mathcal{L}(S_c; \theta_t), \nabla_\theta \mathcal{L}(T_c; \theta_t)\big)

A network is drawn anew in every epoch. In each of its ``outer`` loops synthetic images are moved so
that their gradients, class by class, have the direction of those of real images; between two of
them the network learns on the synthetic images for ``inner`` epochs. Gradients, and
what the images have to move by, are by formula, see `benchbuild.kinds.condense.images.passes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.kinds.condense.distances import SLOPES
from benchbuild.kinds.condense.images.backbone import Weights, together
from benchbuild.kinds.condense.images.matching import Matching
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.learning import snapshots
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchquery.kinds.condensed.config import CondenseConfig

LOOPS: Mapping[int, tuple[int, int]] = MappingProxyType(
    {1: (1, 1), 10: (10, 50), 20: (20, 25), 30: (30, 20), 40: (40, 15), 50: (50, 10)}
)
"""The paper's outer and inner loops by images of a class. For other numbers they are those of the
next greater one, or of 50."""


def loops(config: CondenseConfig) -> tuple[int, int]:
    """Return how many outer and inner loops an epoch has."""
    wanted = config.count("per_class")
    nearest = next((size for size in LOOPS if wanted <= size), max(LOOPS))
    outer, inner = LOOPS[nearest]
    return config.count("outer") or outer, config.count("inner") or inner


def condense(
    problem: ImagesProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield synthetic images, beginning with the initialisation."""
    state = GradientMatching(problem, config)
    return snapshots(config, lambda _epoch: {"matching": state.epoch()}, state.payload)


class GradientMatching(Matching):
    """Images on their way to the gradients of real ones.

    Args:
        problem: The set that is condensed.
        config: The method's settings.
    """

    def __init__(self, problem: ImagesProblem, config: CondenseConfig) -> None:
        super().__init__(problem, config)
        self._loops = loops(config)
        self._slopes = SLOPES[str(config["distance"])]

    def epoch(self) -> Tensor:
        """Make the updates of an epoch; return the mean loss over outer loops and classes."""
        weights = self._backbone.draw(self._generator, self._problem.device)
        outer, inner = self._loops
        total = torch.zeros((), device=self._problem.device)
        for turn in range(outer):
            total += self.step(weights)
            if turn < outer - 1:
                self._teach(weights, inner)
        return total / (outer * self._problem.num_classes)

    def step(self, weights: Weights) -> Tensor:
        """Make an update for some weights of the network; return the loss before it."""
        draws = self._siamese.draw(self._problem.num_classes)
        wanted = self.real_gradients(weights, self._real.draw(), draws)

        sizes = self._labels.bincount()

        def slopes() -> Iterator[tuple[Tensor, Tensor, Tensor]]:
            for classes, made in self.groups():
                labels = self._labels[made]
                images = self._siamese.apply(self.x[made], draws[labels.cpu()])
                passed = self._backbone.passed(weights, images)
                found = passed.gradients(labels, sizes, further=True)
                loss, changes = self._slopes(found, [part[classes] for part in wanted])
                yield loss.sum(), images, passed.moved_slopes(changes)

        return self._update(slopes())

    def real_gradients(self, weights: Weights, numbers: list[Tensor], draws: Tensor) -> Weights:
        """Return the gradients of real images, each with a first dimension of classes.

        Args:
            weights: Where to take them.
            numbers: The images of each class.
            draws: How those of each class are augmented.
        """
        sizes = torch.tensor([len(chosen) for chosen in numbers], device=self.x.device)
        most = together(self.x)
        step = max(most // int(sizes.max()), 1)
        found = []
        for first in range(0, len(numbers), step):
            sums: Weights = []
            for part in torch.split(torch.cat(numbers[first : first + step]), most):
                labels = self._problem.y[part]
                images = self._siamese.apply(self._problem.images(part), draws[labels.cpu()])
                some = self._backbone.passed(weights, images).gradients(labels, sizes)
                sums = [total + one for total, one in zip(sums, some, strict=False)] or some
            found.append(sums)
        return [torch.cat(parts) for parts in zip(*found, strict=True)]

    def _teach(self, weights: Weights, epochs: int) -> None:
        """Let the network learn on the synthetic images; its weights change in place."""
        images, lr = self.x.detach(), self._config.number("lr_model")
        for _ in range(epochs):
            order = torch.randperm(len(images), generator=self._generator).to(images.device)
            for chosen in torch.split(order, self._config.count("batch_model")):
                at = [weight.detach().requires_grad_() for weight in weights]
                logits = self._backbone.logits(at, self._siamese.each(images[chosen]))
                loss = functional.cross_entropy(logits, self._labels[chosen])
                for weight, slope in zip(weights, torch.autograd.grad(loss, at), strict=True):
                    weight.sub_(slope, alpha=lr)
