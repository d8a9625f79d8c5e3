"""A set of images that is to be condensed, as methods may see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from benchbuild.datasets.graph import checksum_of
from benchbuild.datasets.images.image_set import ImageSet
from benchbuild.kinds.condense.classes import LabelledSet
from benchbuild.kinds.condense.images.networks import Shape


@dataclass(frozen=True, eq=False)
class ImagesProblem(LabelledSet):
    """The training images of a set with their classes, and no others.

    Attributes:
        pixels: uint8 (images, channels, height, width).
        y: (images,) their classes.
        mean: Mean by channel that networks are given images normalised with, of pixels from 0 to 1.
        std: Standard deviation of the same.
        num_classes: The number of classes.
    """

    many: ClassVar[str] = "images"
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
    def labels(self) -> Tensor:
        """The classes of the training images."""
        return self.y

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
