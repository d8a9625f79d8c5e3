"""A set of images that is to be condensed, as methods may see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from benchbuild.datasets.graph import checksum_of
from benchbuild.datasets.images.image_set import ImageSet
from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.images.networks import Shape
from benchquery.kinds.condensed.config import CondenseConfig


@dataclass(frozen=True, eq=False)
class ImagesProblem:
    """The training images of a set with their classes, and no others.

    Attributes:
        pixels: uint8 (images, channels, height, width).
        y: (images,) their classes.
        mean: Mean by channel that networks are given images normalised with, of pixels from 0 to 1.
        std: Standard deviation of the same.
        num_classes: The number of classes.
    """

    pixels: Tensor
    y: Tensor
    mean: Tensor
    std: Tensor
    num_classes: int

    @classmethod
    def of(cls, data: ImageSet, device: torch.device) -> ImagesProblem:
        """Return what methods may see of a set of images.

        Args:
            data: The dataset.
            device: Where to compute.
        """
        parts = (data.pixels[data.train_index], data.y[data.train_index], data.mean, data.std)
        pixels, y, mean, std = (part.to(device) for part in parts)
        return cls(pixels, y, mean, std, data.num_classes)

    def __len__(self) -> int:
        """Return how many training images there are."""
        return len(self.pixels)

    @property
    def device(self) -> torch.device:
        """Where to compute."""
        return self.y.device

    @property
    def shape(self) -> Shape:
        """Channels, height and width of an image."""
        channels, height, width = self.pixels.shape[1:]
        return int(channels), int(height), int(width)

    @cached_property
    def checksum(self) -> str:
        """sha256 over all that is observed: what names the files that depend on it."""
        return checksum_of((part, getattr(self, part).cpu()) for part in ("pixels", "y"))

    def images(self, numbers: Tensor) -> Tensor:
        """Return some training images by their numbers, normalised."""
        values = self.pixels[numbers].float() / 255
        return (values - self.mean.view(-1, 1, 1)) / self.std.view(-1, 1, 1)

    def members(self, label: int) -> Tensor:
        """Return the numbers of the training images of a class, ascending."""
        return (self.y == label).nonzero().view(-1)

    def classes(self, config: CondenseConfig) -> Iterator[tuple[int, Tensor]]:
        """Give every class with its training images.

        Raises:
            CondenseError: If a class has fewer images than are to be made of each.
        """
        wanted = config.count("per_class")
        for label in range(self.num_classes):
            members = self.members(label)
            if len(members) < wanted:
                raise CondenseError(
                    f"{wanted} images of each class are asked for, but class {label} has "
                    f"{len(members)} training images"
                )
            yield label, members

    def synthetic_labels(self, config: CondenseConfig) -> Tensor:
        """Return the classes of the synthetic images, ascending: as many of each."""
        labels = torch.arange(self.num_classes, device=self.device)
        return labels.repeat_interleave(config.count("per_class"))
