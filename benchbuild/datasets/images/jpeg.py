"""Images out of JPEG files, with Pillow."""

from __future__ import annotations

import io
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
