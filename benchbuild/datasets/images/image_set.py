"""The value every set of images is loaded into: pixels, classes and a split."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from benchbuild.datasets.graph import checksum_of
from benchbuild.errors import DatasetError

CHANNELS = (1, 3)
SMALLEST = 8
"""Pixels that the side of an image has at least: networks halve it three times."""
_PARTS = ("train_index", "valid_index", "test_index")
_BLOCK = 1_024
"""How many images are turned into numbers at a time where all are gone through."""


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images with classes. Never changed after it was made; compared by identity.

    Attributes:
        name: The dataset's name, parameters included (``fashion-mnist:train=5000``).
        pixels: uint8 (images, channels, height, width).
        y: Class of every image (int64).
        train_index: Which images are trained on (int64).
        valid_index: Which images choose; they come from the training images of the source.
        test_index: Which images are reported.
        num_classes: Number of classes.
        split: How the three came about, in words; recorded with every table.
        provenance: In which way the pixels differ from the published ones, such as
            "JPEG-recompressed"; empty if they don't.
        metric: "accuracy".
        sort: The sort of data that this is.
    """

    sort: ClassVar[str] = "images"
    name: str
    pixels: Tensor
    y: Tensor
    train_index: Tensor
    valid_index: Tensor
    test_index: Tensor
    num_classes: int
    split: str
    provenance: str = ""
    metric: str = "accuracy"

    def __post_init__(self) -> None:
        """Check that the parts belong together."""
        if self.metric != "accuracy":
            raise DatasetError(f"{self.name}: metric {self.metric!r} is not accuracy")
        check_shape(self.name, tuple(self.pixels.shape))
        if self.pixels.dtype != torch.uint8:
            raise DatasetError(f"{self.name}: pixels are of type {self.pixels.dtype}, not uint8")
        if self.y.dtype != torch.int64 or tuple(self.y.shape) != (self.num_images,):
            raise DatasetError(
                f"{self.name}: y is {self.y.dtype} of the shape {tuple(self.y.shape)}; it must be "
                f"int64 of the shape {(self.num_images,)}"
            )
        check_labels(self.name, self.y, self.num_classes)
        self._check_split()

    def _check_split(self) -> None:
        for part in _PARTS:
            index: Tensor = getattr(self, part)
            if index.dtype != torch.int64 or index.dim() != 1 or not len(index):
                raise DatasetError(f"{self.name}: {part} must be a list of images, one at least")
            if int(index.min()) < 0 or int(index.max()) >= self.num_images:
                raise DatasetError(
                    f"{self.name}: {part} names an image beyond the {self.num_images} there are"
                )
        together = torch.cat([getattr(self, part) for part in _PARTS])
        if int(torch.bincount(together).max()) > 1:
            raise DatasetError(f"{self.name}: an image is used twice in the split")
        missing = torch.bincount(self.y[self.train_index], minlength=self.num_classes) == 0
        if bool(missing.any()):
            raise DatasetError(
                f"{self.name}: no training image is of class {int(missing.nonzero()[0])}"
            )

    @property
    def num_images(self) -> int:
        """Number of images."""
        return int(self.pixels.shape[0])

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of an image."""
        channels, height, width = self.pixels.shape[1:]
        return int(channels), int(height), int(width)

    @property
    def num_features(self) -> int:
        """Numbers that an image consists of."""
        channels, height, width = self.shape
        return channels * height * width

    @cached_property
    def moments(self) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of the training pixels, from 0 to 1, by channel.

        Raises:
            DatasetError: If all training pixels of a channel are alike.
        """
        first = second = torch.zeros(self.shape[0], dtype=torch.int64)
        for start in range(0, len(self.train_index), _BLOCK):
            index = self.train_index[start : start + _BLOCK]
            values = self.pixels[index].int()
            first = first + values.sum(dim=(0, 2, 3), dtype=torch.int64)
            second = second + values.square().sum(dim=(0, 2, 3), dtype=torch.int64)
        count = len(self.train_index) * self.shape[1] * self.shape[2]
        mean = first.double() / count
        std = (second.double() / count - mean.square()).clamp(min=0).sqrt()
        if bool((std == 0).any()):
            raise DatasetError(f"{self.name}: all training pixels of a channel are alike")
        return (mean / 255).float(), (std / 255).float()

    @property
    def mean(self) -> Tensor:
        """Mean of the training pixels by channel, from 0 to 1."""
        return self.moments[0]

    @property
    def std(self) -> Tensor:
        """Standard deviation of the training pixels by channel, with pixels from 0 to 1."""
        return self.moments[1]

    def normalised(self, index: Tensor) -> Tensor:
        """Return some images as float32 with mean 0 and deviation 1 of the training pixels."""
        return self.normalise(self.pixels[index].float() / 255)

    def normalise(self, images: Tensor) -> Tensor:
        """Return images of pixels from 0 to 1 in the form that networks are given."""
        mean, std = (part.to(images).view(-1, 1, 1) for part in self.moments)
        return (images - mean) / std

    def denormalise(self, images: Tensor) -> Tensor:
        """Return what `normalise` was given; what lies outside of 0 to 1 stays there."""
        mean, std = (part.to(images).view(-1, 1, 1) for part in self.moments)
        return images * std + mean

    @property
    def facts(self) -> dict[str, str | int]:
        """What the figures of a table depend on, as its manifest says it."""
        altered: dict[str, str | int] = {"provenance": self.provenance} if self.provenance else {}
        return {
            "checksum": self.checksum,
            "metric": self.metric,
            "images": self.num_images,
            "features": self.num_features,
            "classes": self.num_classes,
            **altered,
        }

    @cached_property
    def checksum(self) -> str:
        """sha256 over types, shapes and contents of all tensors; goes into every table."""
        return checksum_of((part, getattr(self, part)) for part in ("pixels", "y", *_PARTS))


def check_shape(name: str, shape: tuple[int, ...]) -> None:
    """Refuse what is no list of images that networks can take.

    Raises:
        DatasetError: If the shape is not (images, channels, height, width), or one is too small.
    """
    if len(shape) != 4 or not shape[0] or shape[1] not in CHANNELS or min(shape[2:]) < SMALLEST:
        raise DatasetError(
            f"{name}: pixels have the shape {shape}; allowed is (images, channels, height, width) "
            f"with {' or '.join(map(str, CHANNELS))} channels and sides of {SMALLEST} pixels at "
            "least"
        )


def check_labels(name: str, y: Tensor, num_classes: int) -> None:
    """Refuse a class that there is not.

    Raises:
        DatasetError: If there is one.
    """
    for label in (int(y.min()), int(y.max())):
        if not 0 <= label < num_classes:
            raise DatasetError(
                f"{name}: an image is of class {label}; classes are from 0 to {num_classes - 1}"
            )
