"""Images out of JPEG files, with Pillow."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchbuild.errors import DatasetError
from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image
else:
    np = LazyModule("numpy")
    Image = LazyModule("PIL.Image", extra="images")


def decode(content: bytes, shape: tuple[int, int, int], where: str) -> np.ndarray:
    """Return the pixels of a JPEG file, uint8 of the shape (channels, height, width).

    Args:
        content: The file.
        shape: The shape that the image must have; grey ones are given three channels if need be.
        where: What it is called in messages.

    Raises:
        DatasetError: If it is damaged or of another size.
    """
    channels, height, width = shape
    try:
        with Image.open(io.BytesIO(content), formats=["JPEG"]) as image:
            size = image.size
            if size == (width, height):
                wanted = "RGB" if channels == 3 else "L"
                pixels = np.asarray(image if image.mode == wanted else image.convert(wanted))
                return pixels.reshape(height, width, channels).transpose(2, 0, 1)
    except (OSError, ValueError, SyntaxError) as error:
        raise DatasetError(f"{where} is no whole JPEG: {type(error).__name__}: {error}") from error
    raise DatasetError(f"{where} has {size[0]} x {size[1]} pixels; it must have {width} x {height}")


@dataclass(frozen=True)
class JpegImages:
    """Many images in JPEG files, decoded when they are chosen.

    Attributes:
        count: How many there are.
        size: Channels, height and width of an image.
        read: Returns the file of an image, and what it is called in messages.
    """

    count: int
    size: tuple[int, int, int]
    read: Callable[[int], tuple[bytes, str]]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The shape of all of them as an array."""
        return self.count, *self.size

    def __getitem__(self, places: np.ndarray) -> np.ndarray:
        """Return some images.

        Raises:
            DatasetError: If one is damaged or of another size.
        """
        pixels = np.empty((len(places), *self.size), np.uint8)
        for row, place in enumerate(places.tolist()):
            content, where = self.read(place)
            pixels[row] = decode(content, self.size, where)
        return pixels
