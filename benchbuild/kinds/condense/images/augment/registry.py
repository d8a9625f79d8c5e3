"""The augmentations by name."""

from __future__ import annotations

from torch import Tensor

from benchbuild.errors import HyperParameterError
from benchbuild.kinds.condense.images.augment.base import Augmentation, Unchanged
from benchbuild.kinds.condense.images.augment.dsa import DSA
from benchbuild.kinds.condense.images.augment.imagenet import ImageNetAugmentation
from benchbuild.kinds.condense.images.augment.policies import AutoAugment, RandAugment
from benchbuild.kinds.condense.images.networks import LARGE, Shape
from benchquery.naming import unknown

AUGMENTATIONS = ("none", "imagenet", "dsa", "autoaugment", "randaugment")


def make_augmentation(name: str, shape: Shape, mean: Tensor, std: Tensor) -> Augmentation:
    """Return an augmentation.

    Args:
        name: Its name.
        shape: Shape of the images; large ones get AutoAugment's policies for ImageNet.
        mean: Mean by channel that images were normalised with, of pixels from 0 to 1.
        std: Standard deviation of the same.

    Raises:
        HyperParameterError: If there is none of this name.
    """
    match name:
        case "none":
            return Unchanged()
        case "imagenet":
            return ImageNetAugmentation(mean, std)
        case "dsa":
            return DSA()
        case "autoaugment":
            policy = "imagenet" if min(shape[1:]) >= LARGE else "cifar10"
            return AutoAugment(mean, std, policy)
        case "randaugment":
            return RandAugment(mean, std)
        case _:
            raise HyperParameterError(unknown("augmentation", name, AUGMENTATIONS))
