"""Condensed images as they are shown: pixels from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Ints
else:
    np = LazyModule("numpy")

_BRIGHTEST = 255
_COLOURS = 3
_MOST_CLASSES = 20
"""How many classes fit beside each other."""


def shown_pixels(arrays: Mapping[str, Array]) -> Array:
    """Return the pixels of images, cut off where they leave the range from 0 to 1.

    Args:
        arrays: Those of a set of images, see `benchquery.kinds.condensed.forms`.

    Returns:
        (images, height, width, 3), or (images, height, width) of images of another number of
        channels, which is one as a rule: their mean.
    """
    x = arrays["x"]
    if x.dtype == np.uint8:
        pixels = x.astype(np.float32) / _BRIGHTEST
    else:
        mean, std = (arrays[name].reshape(-1, 1, 1) for name in ("mean", "std"))
        pixels = np.clip(x.astype(np.float32) * std + mean, 0, 1)
    shown: Array = np.moveaxis(pixels, 1, -1)
    return shown if shown.shape[-1] == _COLOURS else shown.mean(axis=-1)


def shown_classes(arrays: Mapping[str, Array]) -> Ints:
    """Return the class of each image; the likeliest where there are probabilities."""
    y: Ints = arrays["y"]
    return y if y.ndim == 1 else y.argmax(axis=1)


def first_of_each(classes: Ints, most: int) -> list[tuple[int, Ints]]:
    """Return each of the first 20 classes with where its first images stand.

    Args:
        classes: The class of each image.
        most: How many images of a class at most.
    """
    shown = np.unique(classes)[:_MOST_CLASSES].tolist()
    return [(one, np.flatnonzero(classes == one)[:most]) for one in shown]
