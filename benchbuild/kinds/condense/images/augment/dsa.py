r"""Differentiable siamese augmentation (Zhao and Bilen, 2021).

One operation of a strategy such as ``color_crop_cutout_flip_scale_rotate`` is chosen and drawn:

========  ==============================================================================
color     :math:`x + u - \frac12`, then :math:`\bar{x}_c + 2u\,(x - \bar{x}_c)` with the
          mean over channels, then :math:`\bar{x} + (u + \frac12)(x - \bar{x})`
crop      moved by up to an eighth of the side; zero comes in
cutout    a square of half the side becomes zero
flip      mirrored, every second time
scale     both sides stretched by :math:`1/1.2` to :math:`1.2`
rotate    turned by up to 15 degrees
========  ==============================================================================

All are differentiable for the images. Siamese: what is drawn once is applied to real and synthetic
images alike (`draw` with the mode "shared").
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import torch
from torch import Tensor

from benchbuild.errors import HyperParameterError
from benchbuild.kinds.condense.images.augment.base import (
    Augmentation,
    Operation,
    by_choice,
    whole,
)
from benchbuild.kinds.condense.images.augment.geometry import (
    affine,
    crop,
    flip,
    matrices,
    rotation,
)
from benchquery.naming import unknown

STRATEGY = "color_crop_cutout_flip_scale_rotate"
FLIP, SCALE, ROTATE, CROP, CUTOUT = 0.5, 1.2, 15.0, 0.125, 0.5
BRIGHTNESS, SATURATION, CONTRAST = 1.0, 2.0, 0.5


def _colour(images: Tensor, draws: Tensor) -> Tensor:
    first, second, third = draws.to(images.dtype).T.view(3, -1, 1, 1, 1)
    images = images + (first - 0.5) * BRIGHTNESS
    mean = images.mean(dim=1, keepdim=True)
    images = mean + (images - mean) * (second * SATURATION)
    mean = images.mean(dim=(1, 2, 3), keepdim=True)
    out: Tensor = mean + (images - mean) * (third + CONTRAST)
    return out


def _crop(images: Tensor, draws: Tensor) -> Tensor:
    shifts = [_rounded(side, CROP) for side in images.shape[2:]]
    down, right = (
        whole(draws[:, axis], 2 * shift + 1) - shift for axis, shift in enumerate(shifts)
    )
    return crop(images, down, right, max(shifts))


def _cutout(images: Tensor, draws: Tensor) -> Tensor:
    inside = []
    for axis, side in enumerate(images.shape[2:]):
        size = _rounded(side, CUTOUT)
        start = whole(draws[:, axis], side + 1 - size % 2) - size // 2
        place = torch.arange(side, device=images.device) - start[:, None]
        inside.append((place >= 0) & (place < size))
    rows, columns = inside
    return images * ~(rows[:, None, :, None] & columns[:, None, None, :])


def _rounded(side: int, ratio: float) -> int:
    return int(side * ratio + 0.5)


def _flip(images: Tensor, draws: Tensor) -> Tensor:
    return flip(images, draws[:, 0] < FLIP)


def _scale(images: Tensor, draws: Tensor) -> Tensor:
    x, y = (draws[:, axis] * (SCALE - 1 / SCALE) + 1 / SCALE for axis in range(2))
    return affine(images, matrices(x, 0.0, 0.0, 0.0, y, 0.0, count=len(images)), "bilinear")


def _rotate(images: Tensor, draws: Tensor) -> Tensor:
    return affine(images, rotation((0.5 - draws[:, 0]) * 2 * ROTATE), "bilinear")


OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        "color": _colour,
        "crop": _crop,
        "cutout": _cutout,
        "flip": _flip,
        "scale": _scale,
        "rotate": _rotate,
    }
)


class DSA(Augmentation):
    """Differentiable siamese augmentation.

    Args:
        strategy: Names of operations, joined by underscores.

    Raises:
        HyperParameterError: If an operation does not exist.
    """

    numbers, common = 4, 1

    def __init__(self, strategy: str = STRATEGY) -> None:
        self.names = tuple(strategy.split("_"))
        for name in self.names:
            if name not in OPERATIONS:
                raise HyperParameterError(
                    f"strategy {strategy!r}: {unknown('operation', name, OPERATIONS)}"
                )

    def apply(self, images: Tensor, draws: Tensor) -> Tensor:
        """See the base class; gradients get through."""
        rows = draws.to(images.device).expand(len(images), -1)
        operations = [OPERATIONS[name] for name in self.names]
        return by_choice(images, whole(rows[:, 0], len(operations)), rows[:, 1:], operations)
