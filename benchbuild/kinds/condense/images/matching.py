"""What methods share that move images until a network finds them like real ones, class by class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from benchbuild.kinds.condense.images.backbone import Backbone, together
from benchbuild.kinds.condense.images.payload import CondensedImages
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.images.synthetic import RealBatches, Siamese, first_images
from benchquery.kinds.condensed.config import CondenseConfig


class Matching:
    """Synthetic images that are learnt beside real ones.

    Args:
        problem: The set that is condensed.
        config: The method's settings.

    Attributes:
        x: The synthetic images, as many of each class, one class after another.
    """

    def __init__(self, problem: ImagesProblem, config: CondenseConfig) -> None:
        self._problem = problem
        self._config = config
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

    def groups(self) -> Iterator[tuple[slice, slice]]:
        """Give classes whose synthetic images are passed through the network together.

        What is matched is a sum over classes, so large sets are taken a few classes at a time: that
        needs the memory of those alone.

        Returns:
            Which classes, and which of the synthetic images these have.
        """
        each = len(self.x) // self._problem.num_classes
        step = max(together(self.x) // each, 1)
        for first in range(0, self._problem.num_classes, step):
            last = min(first + step, self._problem.num_classes)
            yield slice(first, last), slice(first * each, last * each)

    def _update(self, slopes: Iterable[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
        """Make a step down the sum of some losses; return it.

        Args:
            slopes: Of each loss its value, images that are made of `x`, and its slopes there. Each
                is done with before the next.
        """
        self._optimizer.zero_grad()
        total = torch.zeros((), device=self._problem.device)
        for loss, images, slope in slopes:
            torch.autograd.backward(images, slope)
            total += loss
        self._optimizer.step()
        return total
