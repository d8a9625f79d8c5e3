"""AutoAugment (Cubuk et al., 2019) and RandAugment (2020).

Both choose among the same operations. How strong an operation is stands on a scale from nothing to
its strongest; AutoAugment divides it by 10 and takes pairs of operations that were found by
search, each with its probability; RandAugment divides it by 31 and takes any operation at one
place of the scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor

from benchbuild.errors import HyperParameterError
from benchbuild.kinds.condense.images.augment import colour
from benchbuild.kinds.condense.images.augment.base import (
    Operation,
    PixelAugmentation,
    by_choice,
    whole,
)
from benchbuild.kinds.condense.images.augment.geometry import affine, matrices, rotation
from benchquery.naming import unknown

SHEAR, TURN, BLEND = 0.3, 30.0, 0.9
SHIFT = 150 / 331
"""The greatest shift by the side of an image: 150 pixels of the 331 it was searched with."""
AUTO_STEPS, RAND_STEPS = 10, 31


def _sheared_along_x(pixels: Tensor, level: Tensor) -> Tensor:
    """Shear about the upper left corner, which is half an image away from the centre."""
    matrix = matrices(1.0, level, level * (pixels.shape[2] / 2), 0.0, 1.0, 0.0, count=len(pixels))
    return affine(pixels, matrix, "nearest")


def _sheared_along_y(pixels: Tensor, level: Tensor) -> Tensor:
    matrix = matrices(1.0, 0.0, 0.0, level, 1.0, level * (pixels.shape[3] / 2), count=len(pixels))
    return affine(pixels, matrix, "nearest")


def _moved_along_x(pixels: Tensor, level: Tensor) -> Tensor:
    shift = (level * pixels.shape[3]).trunc()
    return affine(pixels, matrices(1.0, 0.0, -shift, 0.0, 1.0, 0.0, count=len(pixels)), "nearest")


def _moved_along_y(pixels: Tensor, level: Tensor) -> Tensor:
    shift = (level * pixels.shape[2]).trunc()
    return affine(pixels, matrices(1.0, 0.0, 0.0, 0.0, 1.0, -shift, count=len(pixels)), "nearest")


def _turned(pixels: Tensor, level: Tensor) -> Tensor:
    return affine(pixels, rotation(-level), "nearest")


def _brightness(pixels: Tensor, level: Tensor) -> Tensor:
    return colour.brightness(pixels, 1 + level)


def _colour(pixels: Tensor, level: Tensor) -> Tensor:
    return colour.saturation(pixels, 1 + level)


def _contrast(pixels: Tensor, level: Tensor) -> Tensor:
    return colour.contrast(pixels, 1 + level)


def _sharpness(pixels: Tensor, level: Tensor) -> Tensor:
    return colour.sharpness(pixels, 1 + level)


@dataclass(frozen=True)
class Scale:
    """An operation and how strong it may be.

    Attributes:
        operation: The operation; None for none.
        least: Its weakest form.
        most: Its strongest form.
        signed: Whether it goes both ways.
        whole: Whether strengths are whole numbers.
    """

    operation: Operation | None
    least: float = 0.0
    most: float = 0.0
    signed: bool = False
    whole: bool = False

    def levels(self, steps: int) -> Tensor:
        """Return how strong it is at each step."""
        share = torch.arange(steps, dtype=torch.float64) / (steps - 1)
        values = self.least + (self.most - self.least) * share
        return values.round() if self.whole else values


SCALES: Mapping[str, Scale] = MappingProxyType(
    {
        "identity": Scale(None),
        "shear-x": Scale(_sheared_along_x, 0.0, SHEAR, signed=True),
        "shear-y": Scale(_sheared_along_y, 0.0, SHEAR, signed=True),
        "translate-x": Scale(_moved_along_x, 0.0, SHIFT, signed=True),
        "translate-y": Scale(_moved_along_y, 0.0, SHIFT, signed=True),
        "rotate": Scale(_turned, 0.0, TURN, signed=True),
        "brightness": Scale(_brightness, 0.0, BLEND, signed=True),
        "color": Scale(_colour, 0.0, BLEND, signed=True),
        "contrast": Scale(_contrast, 0.0, BLEND, signed=True),
        "sharpness": Scale(_sharpness, 0.0, BLEND, signed=True),
        "posterize": Scale(colour.posterise, 8, 4, whole=True),
        "solarize": Scale(colour.solarise, 255, 0),
        "autocontrast": Scale(colour.auto_contrast),
        "equalize": Scale(colour.equalise),
        "invert": Scale(colour.invert),
    }
)
"""Operations by name, in RandAugment's order, and AutoAugment's inversion last."""
NAMES = tuple(SCALES)
_IDENTITY = NAMES.index("identity")

_CIFAR10 = """
invert .1 0, contrast .2 6         | rotate .7 2, translate-x .3 9
sharpness .8 1, sharpness .9 3     | shear-y .5 8, translate-y .7 9
autocontrast .5 0, equalize .9 0   | shear-y .2 7, posterize .3 7
color .4 3, brightness .6 7        | sharpness .3 9, brightness .7 9
equalize .6 0, equalize .5 0       | contrast .6 7, sharpness .6 5
color .7 7, translate-x .5 8       | equalize .3 0, autocontrast .4 0
translate-y .4 3, sharpness .2 6   | brightness .9 6, color .2 8
solarize .5 2, invert 0 0          | equalize .2 0, autocontrast .6 0
equalize .2 0, equalize .6 0       | color .9 9, equalize .6 0
autocontrast .8 0, solarize .2 8   | brightness .1 3, color .7 0
solarize .4 5, autocontrast .9 0   | translate-y .9 9, translate-y .7 9
autocontrast .9 0, solarize .8 3   | equalize .8 0, invert .1 0
translate-y .7 9, autocontrast .9 0
"""
_IMAGENET = """
posterize .4 8, rotate .6 9        | solarize .6 5, autocontrast .6 0
equalize .8 0, equalize .6 0       | posterize .6 7, posterize .6 6
equalize .4 0, solarize .2 4       | equalize .4 0, rotate .8 8
solarize .6 3, equalize .6 0       | posterize .8 5, equalize 1 0
rotate .2 3, solarize .6 8         | equalize .6 0, posterize .4 6
rotate .8 8, color .4 0            | rotate .4 9, equalize .6 0
equalize 0 0, equalize .8 0        | invert .6 0, equalize 1 0
color .6 4, contrast 1 8           | rotate .8 8, color 1 2
color .8 8, solarize .8 7          | sharpness .4 7, invert .6 0
shear-x .6 5, equalize 1 0         | color .4 0, equalize .6 0
equalize .4 0, solarize .2 4       | solarize .6 5, autocontrast .6 0
invert .6 0, equalize 1 0          | color .6 4, contrast 1 8
equalize .8 0, equalize .6 0
"""

Step = tuple[str, float, int]
"""An operation, its probability and the place on its scale."""


def _parsed(text: str) -> tuple[tuple[Step, Step], ...]:
    policies = []
    for policy in text.strip().replace("\n", "|").split("|"):
        first, second = (step.split() for step in policy.split(","))
        policies.append(
            (
                (first[0], float(first[1]), int(first[2])),
                (second[0], float(second[1]), int(second[2])),
            )
        )
    return tuple(policies)


POLICIES: Mapping[str, tuple[tuple[Step, Step], ...]] = MappingProxyType(
    {"cifar10": _parsed(_CIFAR10), "imagenet": _parsed(_IMAGENET)}
)
"""AutoAugment's policies by the data that they were found on."""


def _changed(pixels: Tensor, choice: Tensor, level: Tensor, upwards: Tensor) -> Tensor:
    """Give each image its operation, with the sign of its level turned unless it goes upwards."""
    signed = torch.tensor([scale.signed for scale in SCALES.values()], device=pixels.device)
    level = torch.where(signed[choice] & ~upwards, -level, level)
    return by_choice(pixels, choice, level, [scale.operation for scale in SCALES.values()])


class AutoAugment(PixelAugmentation):
    """AutoAugment: for each draw one of 25 pairs of operations.

    Args:
        mean: See the base class.
        std: See the base class.
        policy: The data that the policies were found on.

    Raises:
        HyperParameterError: If there is no such policy.
    """

    numbers = common = 5

    def __init__(self, mean: Tensor, std: Tensor, policy: str = "cifar10") -> None:
        super().__init__(mean, std)
        if policy not in POLICIES:
            raise HyperParameterError(unknown("policy of AutoAugment", policy, POLICIES))
        found = POLICIES[policy]
        self._chosen = torch.tensor([[NAMES.index(step[0]) for step in pair] for pair in found])
        self._probability = torch.tensor(
            [[step[1] for step in pair] for pair in found], dtype=torch.float64
        )
        self._level = torch.tensor(
            [
                [float(SCALES[step[0]].levels(AUTO_STEPS)[step[2]]) for step in pair]
                for pair in found
            ],
            dtype=torch.float64,
        )

    def transform(self, pixels: Tensor, draws: Tensor) -> Tensor:
        """See the base class."""
        device = pixels.device
        policy = whole(draws[:, 0], len(self._chosen))
        for step in range(2):
            chosen, probability, level = (
                table.to(device)[policy, step]
                for table in (self._chosen, self._probability, self._level)
            )
            happens = draws[:, 1 + 2 * step] < probability
            choice = torch.where(happens, chosen, _IDENTITY)
            pixels = _changed(pixels, choice, level, draws[:, 2 + 2 * step] >= 0.5)
        return pixels


class RandAugment(PixelAugmentation):
    """RandAugment: any operations, all at one place of the scale.

    Args:
        mean: See the base class.
        std: See the base class.
        num_ops: How many operations follow each other.
        magnitude: The place on the scale.

    Raises:
        HyperParameterError: If a number is out of range.
    """

    def __init__(self, mean: Tensor, std: Tensor, num_ops: int = 1, magnitude: int = 9) -> None:
        super().__init__(mean, std)
        if num_ops < 1 or not 0 <= magnitude < RAND_STEPS:
            raise HyperParameterError(
                f"RandAugment of {num_ops} operations at {magnitude}: there must be 1 at least, at "
                f"0 to {RAND_STEPS - 1}"
            )
        self._steps = num_ops
        self.numbers = self.common = 2 * num_ops
        levels = [scale.levels(RAND_STEPS)[magnitude] for scale in SCALES.values()]
        self._level = torch.stack(levels[:-1])

    def transform(self, pixels: Tensor, draws: Tensor) -> Tensor:
        """See the base class."""
        level = self._level.to(pixels.device)
        for step in range(self._steps):
            choice = whole(draws[:, 2 * step], len(level))
            pixels = _changed(pixels, choice, level[choice], draws[:, 2 * step + 1] >= 0.5)
        return pixels
