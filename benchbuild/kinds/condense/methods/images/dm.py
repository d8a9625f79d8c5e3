r"""DM: distribution matching, after Zhao and Bilen (2023).

.. math:: \min_{X'} \; \mathbb{E}_{\theta, \omega} \sum_c \Big\|
    \frac{1}{|T_c|} \sum_{i \in T_c} f_\theta(\mathcal{A}_\omega(x_i)) -
    \frac{1}{|S_c|} \sum_{j \in S_c} f_\theta(\mathcal{A}_\omega(x'_j)) \Big\|^2

f is a ConvNet with weights that are drawn anew for every step, without its last map; the images
of a class, real and synthetic, are augmented alike. All classes go through the network together.
The published code raises the learning rate from 1 to 10 from 100 images of a class on; here that is
``lr_image=10``.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from benchbuild.kinds.condense.images.backbone import AT_ONCE, Backbone, Weights
from benchbuild.kinds.condense.images.payload import CondensedImages
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.images.synthetic import RealBatches, Siamese, first_images
from benchbuild.kinds.condense.learning import snapshots
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchquery.kinds.condensed.config import CondenseConfig


def condense(
    problem: ImagesProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield synthetic images, beginning with the initialisation."""
    state = DistributionMatching(problem, config)
    return snapshots(config, lambda _epoch: {"matching": state.step()}, state.payload)


class DistributionMatching:
    """Images on their way to the mean embeddings of real ones.

    Args:
        problem: The set that is condensed.
        config: The method's settings.

    Attributes:
        x: The synthetic images, as many of each class, one class after another.
    """

    def __init__(self, problem: ImagesProblem, config: CondenseConfig) -> None:
        self._problem = problem
        self._generator = torch.Generator().manual_seed(config.seed)
        self._backbone = Backbone.of(config, problem.shape, problem.num_classes)
        self._siamese = Siamese(config, self._generator)
        self._real = RealBatches(problem, config.count("batch"), self._generator)
        self._labels = problem.synthetic_labels(config)
        self.x = first_images(problem, config, self._generator, self._backbone).requires_grad_()
        self._optimizer = torch.optim.SGD(
            [self.x], lr=config.number("lr_image"), momentum=config.number("momentum")
        )

    def payload(self) -> CondensedImages:
        """Return the images as they are."""
        return CondensedImages(self.x, self._labels, self._problem.mean, self._problem.std)

    def step(self) -> Tensor:
        """Make an update; return the loss before it."""
        weights = self._backbone.draw(self._generator, self._problem.device)
        draws = self._siamese.draw(self._problem.num_classes)
        wanted = self.real_means(weights, self._real.draw(), draws)
        images = self._siamese.apply(self.x, draws[self._labels.cpu()])
        found = self._backbone.embed(weights, images)
        found = found.view(len(wanted), -1, found.shape[1]).mean(dim=1)
        loss = (found - wanted).square().sum()
        self._optimizer.zero_grad()
        torch.autograd.backward(loss)
        self._optimizer.step()
        return loss.detach()

    @torch.no_grad()
    def real_means(self, weights: Weights, numbers: list[Tensor], draws: Tensor) -> Tensor:
        """Return (classes, embedded) the mean embeddings of real images.

        Args:
            weights: Those of the network.
            numbers: The images of each class.
            draws: How those of each class are augmented.
        """
        labels = torch.cat([torch.full_like(part, c) for c, part in enumerate(numbers)])
        chosen = torch.cat(numbers)
        counts = torch.bincount(labels, minlength=len(numbers))
        total: Tensor | None = None
        for part, classes in zip(
            torch.split(chosen, AT_ONCE), torch.split(labels, AT_ONCE), strict=True
        ):
            images = self._siamese.apply(self._problem.images(part), draws[classes.cpu()])
            rows = self._backbone.embed(weights, images)
            if total is None:
                total = rows.new_zeros(len(numbers), rows.shape[1])
            total.index_add_(0, classes, rows)
        assert total is not None
        return total / counts[:, None]
