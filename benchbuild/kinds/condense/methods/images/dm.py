r"""DM: distribution matching, after Zhao and Bilen (2023).

.. math:: \min_{X'} \; \mathbb{E}_{\theta, \omega} \sum_c \Big\|
    \frac{1}{|T_c|} \sum_{i \in T_c} f_\theta(\mathcal{A}_\omega(x_i)) -
    \frac{1}{|S_c|} \sum_{j \in S_c} f_\theta(\mathcal{A}_\omega(x'_j)) \Big\|^2

f is a ConvNet with weights that are drawn anew for every step, without its last map; the images
of a class, real and synthetic, are augmented alike. All classes go through the network together.
From 100 images of a class on the learning rate is 10 instead of 1, as in the published code.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from benchbuild.kinds.condense.images.backbone import Weights, together
from benchbuild.kinds.condense.images.matching import Matching
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.learning import snapshots
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchquery.kinds.condensed.config import CondenseConfig


def condense(
    problem: ImagesProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield synthetic images, beginning with the initialisation."""
    state = DistributionMatching(problem, config)
    return snapshots(config, lambda _epoch: {"matching": state.step()}, state.payload)


class DistributionMatching(Matching):
    """Images on their way to the mean embeddings of real ones."""

    def step(self) -> Tensor:
        """Make an update; return the loss before it."""
        weights = self._backbone.draw(self._generator, self._problem.device)
        draws = self._siamese.draw(self._problem.num_classes)
        wanted = self.real_means(weights, self._real.draw(), draws)

        def slopes() -> Iterator[tuple[Tensor, Tensor, Tensor]]:
            for classes, made in self.groups():
                images = self._siamese.apply(self.x[made], draws[self._labels[made].cpu()])
                passed = self._backbone.passed(weights, images)
                each = len(images) // len(wanted[classes])
                means = passed.embedded.view(-1, each, wanted.shape[1]).mean(dim=1)
                gap = means - wanted[classes]
                at = (gap * (2 / each)).repeat_interleave(each, dim=0)
                yield gap.square().sum(), images, passed.slopes(at)

        return self._update(slopes())

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
        most = together(self.x)
        for part, classes in zip(torch.split(chosen, most), torch.split(labels, most), strict=True):
            images = self._siamese.apply(self._problem.images(part), draws[classes.cpu()])
            rows = self._backbone.passed(weights, images).embedded
            if total is None:
                total = rows.new_zeros(len(numbers), rows.shape[1])
            total.index_add_(0, classes, rows)
        assert total is not None
        return total / counts[:, None]
