"""What an augmentation is, and how images of a batch are given different operations at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

from benchbuild.errors import HyperParameterError
from benchquery.naming import unknown

Mode = Literal["per-batch", "per-image", "shared"]
"""What is drawn anew.

per-batch
    As in the code of DC-Bench: one draw for the whole batch. With DSA one operation for the whole
    batch, and how strong it is for each image.
per-image
    Everything for each image.
shared
    One draw, to be used for several batches: siamese augmentation.
"""
MODES: tuple[Mode, ...] = get_args(Mode)


class Augmentation(ABC):
    """An augmentation of normalised images.

    Attributes:
        numbers: How many numbers it takes for an image.
        common: How many of these, from the first, are the same for a batch in the mode per-batch.
    """

    numbers: int
    common: int

    def draw(self, count: int, mode: Mode, generator: torch.Generator) -> Tensor:
        """Return the numbers for some images.

        Args:
            count: How many images there are; any number may be augmented with what is shared.
            mode: What is drawn anew.
            generator: Where to draw from; on the CPU.

        Returns:
            Numbers from 0 to 1, (count, numbers), or (1, numbers) if shared.

        Raises:
            HyperParameterError: If there is no such mode.
        """
        if mode not in MODES:
            raise HyperParameterError(unknown("mode of augmentation", mode, MODES))
        rows = 1 if mode == "shared" else count
        draws = torch.rand(rows, self.numbers, dtype=torch.float64, generator=generator)
        if mode == "per-batch":
            draws[:, : self.common] = draws[:1, : self.common]
        return draws

    @abstractmethod
    def apply(self, images: Tensor, draws: Tensor) -> Tensor:
        """Return augmented images.

        Args:
            images: (images, channels, height, width), normalised.
            draws: What `draw` gave.
        """

    def __call__(self, images: Tensor, mode: Mode, generator: torch.Generator) -> Tensor:
        """Return augmented images, with numbers drawn for them."""
        return self.apply(images, self.draw(len(images), mode, generator))


class Unchanged(Augmentation):
    """No augmentation."""

    numbers = common = 0

    def apply(self, images: Tensor, draws: Tensor) -> Tensor:
        """See the base class."""
        return images


class PixelAugmentation(Augmentation):
    """An augmentation of whole numbers from 0 to 255, as pictures are stored.

    Images are brought back to pixels, cut off where they leave the range, rounded, and normalised
    again afterwards; so gradients don't get through.

    Args:
        mean: Mean by channel that images were normalised with, of pixels from 0 to 1.
        std: Standard deviation of the same.
    """

    def __init__(self, mean: Tensor, std: Tensor) -> None:
        self._mean = mean.view(-1, 1, 1)
        self._std = std.view(-1, 1, 1)

    def apply(self, images: Tensor, draws: Tensor) -> Tensor:
        """See the base class."""
        mean, std = self._mean.to(images), self._std.to(images)
        pixels = ((images * std + mean) * 255).round().clamp(0, 255).to(torch.uint8)
        changed = self.transform(pixels, draws.to(images.device).expand(len(images), -1))
        return (changed.to(images.dtype) / 255 - mean) / std

    @abstractmethod
    def transform(self, pixels: Tensor, draws: Tensor) -> Tensor:
        """Return augmented pixels, uint8 as they were; `draws` has a row for each image."""


Operation = Callable[[Tensor, Tensor], Tensor]
"""Changes images by numbers, of which there is a row for each image."""


def whole(draws: Tensor, count: int) -> Tensor:
    """Return whole numbers from 0 to below a count, made of numbers from 0 to 1."""
    return (draws * count).long().clamp(max=count - 1)


def by_choice(
    images: Tensor, choice: Tensor, numbers: Tensor, operations: Sequence[Operation | None]
) -> Tensor:
    """Give each image the operation that is chosen for it, all images of an operation at once.

    Args:
        images: The images.
        choice: For each the place of its operation.
        numbers: What the operations take, a row for each image.
        operations: The operations; None for one that changes nothing.
    """
    chosen = choice.unique().tolist()  # type: ignore[no-untyped-call]
    if len(chosen) == 1:
        operation = operations[chosen[0]]
        return images if operation is None else operation(images, numbers)
    places, parts = [], []
    for number in chosen:
        place = (choice == number).nonzero().view(-1)
        part, operation = images[place], operations[number]
        places.append(place)
        parts.append(part if operation is None else operation(part, numbers[place]))
    return torch.cat(parts)[torch.cat(places).argsort()]
