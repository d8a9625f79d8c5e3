"""Synthetic images: what they begin as, and the real ones that they are held against.

========  ==================================================================================
noise     normally distributed
sample    training images of the class, drawn without replacement
k-center  training images of the class, near the centres of their embeddings
========  ==================================================================================
"""

from __future__ import annotations

import torch
from torch import Tensor

from benchbuild.kinds.condense.images.augment.base import Augmentation, Unchanged
from benchbuild.kinds.condense.images.augment.dsa import DSA
from benchbuild.kinds.condense.images.backbone import Backbone
from benchbuild.kinds.condense.images.coreset import raw, selection, trained
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.selection import at_random, by_embedding
from benchquery.kinds.condensed.config import CondenseConfig


def first_images(
    problem: ImagesProblem,
    config: CondenseConfig,
    generator: torch.Generator,
    backbone: Backbone | None = None,
) -> Tensor:
    """Return what synthetic images begin as, those of the first class first.

    Args:
        problem: The set that is condensed.
        config: Says which initialisation, and how many images.
        generator: The source of everything random.
        backbone: What K-Center embeds images with; None for their pixels.

    Raises:
        CondenseError: If a class has fewer training images than are asked for.
    """
    choose = at_random(generator)
    if config.init == "k-center":
        embed = raw(problem) if backbone is None else trained(problem, backbone, config.seed)
        choose = by_embedding(embed, selection("k-means", config.seed))
    chosen = problem.chosen(config, choose)
    if config.init == "noise":
        return torch.randn(len(chosen), *problem.shape, generator=generator).to(problem.device)
    return problem.images(chosen)


class RealBatches:
    """Training images of each class, drawn anew every time.

    Args:
        problem: The images.
        batch: How many of a class; all of them where there are fewer.
        generator: The source of everything random.
    """

    def __init__(self, problem: ImagesProblem, batch: int, generator: torch.Generator) -> None:
        self._problem = problem
        self._members = [problem.members(label) for label in range(problem.num_classes)]
        self._batch = batch
        self._generator = generator

    def draw(self) -> list[Tensor]:
        """Return the numbers of some images of each class."""
        choose = at_random(self._generator)
        return [choose(members, self._batch) for members in self._members]


class Siamese:
    """Augmentation that real and synthetic images of a class share.

    Args:
        config: Its ``augmentation`` is dsa or none.
        generator: The source of everything random.
    """

    def __init__(self, config: CondenseConfig, generator: torch.Generator) -> None:
        self._augmentation: Augmentation = DSA() if config["augmentation"] == "dsa" else Unchanged()
        self._generator = generator

    def draw(self, classes: int) -> Tensor:
        """Return a row of numbers for each class."""
        rows = [self._augmentation.draw(1, "shared", self._generator) for _ in range(classes)]
        return torch.cat(rows)

    def apply(self, images: Tensor, draws: Tensor) -> Tensor:
        """Return augmented images; `draws` has a row for each of them, or one for all."""
        return self._augmentation.apply(images, draws)

    def each(self, images: Tensor) -> Tensor:
        """Return images augmented with what is drawn for them alone, as a network learns on."""
        return self._augmentation(images, "per-batch", self._generator)
