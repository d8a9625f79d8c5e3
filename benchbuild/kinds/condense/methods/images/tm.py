r"""TM: matching training trajectories, after Cazenavette et al. (2022).

.. math:: \min_{X', \eta} \;
    \frac{\lVert \hat\theta_{t+N} - \theta_{t+M} \rVert^2}
    {\lVert \theta_t - \theta_{t+M} \rVert^2}, \qquad
    \hat\theta_{i+1} = \hat\theta_i - \eta \nabla \mathcal{L}(\mathcal{A}(X', y'); \hat\theta_i),
    \quad \hat\theta_t = \theta_t

Experts :math:`\theta` are trained on the real images; a student begins where one was after a random
epoch up to ``start_epochs``, takes N ``steps`` on synthetic images, and is to be where the expert
was M epochs later (``stretch``). The student's learning rate is learnt too. Checkpoints are read
from disk two at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.kinds.condense.distances import matching_loss
from benchbuild.kinds.condense.images.backbone import Backbone, Weights
from benchbuild.kinds.condense.images.experts import ImageExperts
from benchbuild.kinds.condense.images.payload import CondensedImages
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.images.synthetic import Siamese, first_images
from benchbuild.kinds.condense.learning import snapshots
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchquery.kinds.condensed.config import CondenseConfig


def condense(
    problem: ImagesProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield synthetic images, beginning with the initialisation."""
    generator = torch.Generator().manual_seed(config.seed)
    backbone = Backbone.of(config, problem.shape, problem.num_classes)
    x = first_images(problem, config, generator, backbone).requires_grad_()
    labels = problem.synthetic_labels(config)
    experts = ImageExperts(problem, config, backbone, workspace.scratch)
    experts.add_costs(workspace)
    student = Student(backbone, config, generator)
    rate = torch.tensor(config.number("lr_student"), device=problem.device, requires_grad=True)
    optimizer = torch.optim.SGD(
        [
            {"params": [x], "lr": config.number("lr_image")},
            {"params": [rate], "lr": config.number("lr_rate")},
        ],
        momentum=config.number("momentum"),
    )
    interval = config.count("expert_interval")
    latest = config.count("start_epochs") // interval
    stretch = max(config.count("stretch") // interval, 1)

    def learn(_epoch: int) -> dict[str, Tensor]:
        expert = int(torch.randint(len(experts), (), generator=generator))
        first = int(torch.randint(latest + 1, (), generator=generator))
        start = experts.checkpoint(expert, first)
        reached = student.taught(x, labels, rate, start)
        loss = matching_loss(reached, start, experts.checkpoint(expert, first + stretch))
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        return {"matching": loss.detach()}

    def payload() -> CondensedImages:
        return CondensedImages(x, labels, problem.mean, problem.std)

    return snapshots(config, learn, payload)


class Student:
    """A network that learns on synthetic images, differentiably.

    Args:
        backbone: The ConvNet.
        config: Its ``steps``, ``batch_student`` images in each, and ``augmentation``.
        generator: The source of everything random.
    """

    def __init__(
        self, backbone: Backbone, config: CondenseConfig, generator: torch.Generator
    ) -> None:
        self._backbone = backbone
        self._steps = config.count("steps")
        self._batch = config.count("batch_student")
        self._siamese = Siamese(config, generator)
        self._generator = generator
        self._left = torch.zeros(0, dtype=torch.long)

    def taught(self, x: Tensor, labels: Tensor, rate: Tensor, start: Weights) -> Weights:
        """Return the weights after all steps; differentiable in the images and the rate.

        Args:
            x: The images.
            labels: Their classes.
            rate: The learning rate, a scalar.
            start: The weights it begins with.
        """
        weights = [weight.detach().requires_grad_() for weight in start]
        for _ in range(self._steps):
            chosen = self._next(len(x)).to(x.device)
            logits = self._backbone.logits(weights, self._siamese.each(x[chosen]))
            loss = functional.cross_entropy(logits, labels[chosen])
            slopes = torch.autograd.grad(loss, weights, create_graph=True)
            weights = [at - rate * slope for at, slope in zip(weights, slopes, strict=True)]
        return weights

    def _next(self, count: int) -> Tensor:
        """Return the numbers of the images of a step: all of them in turn, in a random order."""
        if not len(self._left):
            self._left = torch.randperm(count, generator=self._generator)
        chosen, self._left = self._left[: self._batch], self._left[self._batch :]
        return chosen
