"""The usual augmentation of ImageNet at a small size: crop, flip and jitter of colours.

Images are padded by 4 and cropped, mirrored every second time, and changed in brightness, contrast
and saturation by up to 0.4 and in hue by up to 0.2, one after the other in any order.
"""

from __future__ import annotations

from itertools import permutations

import torch
from torch import Tensor

from benchbuild.kinds.condense.images.augment import colour
from benchbuild.kinds.condense.images.augment.base import PixelAugmentation, by_choice, whole
from benchbuild.kinds.condense.images.augment.geometry import crop, flip

PADDING, FLIP = 4, 0.5
JITTER = (
    (colour.brightness, 0.6, 1.4),
    (colour.contrast, 0.6, 1.4),
    (colour.saturation, 0.6, 1.4),
    (colour.hue, -0.2, 0.2),
)
"""Operations with the least and the greatest strength of each."""
ORDERS = tuple(permutations(range(len(JITTER))))


class ImageNetAugmentation(PixelAugmentation):
    """Crop, flip and jitter of colours. See the base class for the arguments."""

    numbers = common = 4 + len(JITTER)

    def transform(self, pixels: Tensor, draws: Tensor) -> Tensor:
        """See the base class."""
        down, right = (whole(draws[:, axis], 2 * PADDING + 1) - PADDING for axis in range(2))
        pixels = flip(crop(pixels, down, right, PADDING), draws[:, 2] < FLIP)
        orders = torch.tensor(ORDERS, device=pixels.device)[whole(draws[:, 3], len(ORDERS))]
        strengths = torch.stack(
            [
                draws[:, 4 + place] * (high - low) + low
                for place, (_, low, high) in enumerate(JITTER)
            ],
            dim=1,
        )
        operations = [operation for operation, _, _ in JITTER]
        for turn in orders.T:
            strength = strengths.gather(1, turn[:, None])[:, 0]
            pixels = by_choice(pixels, turn, strength, operations)
        return pixels
