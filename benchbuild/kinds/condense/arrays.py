"""Named arrays as one array of bytes: how records of a run keep payloads of any form.

The bytes are a file in numpy's own format. They are read back as if they came from an enemy: one
that is packed, or that claims more numbers than it has, is refused before memory is taken for it.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping

import numpy as np

_SUFFIX = ".npy"


def pack(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return named arrays as bytes in numpy's own format; the same arrays give the same bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **dict(sorted(arrays.items())))
    return np.frombuffer(buffer.getvalue(), np.uint8)


def unpack(packed: np.ndarray) -> dict[str, np.ndarray]:
    """Return the arrays that `pack` packed.

    Raises:
        ValueError: If it did not pack them.
    """
    content = np.asarray(packed, np.uint8).tobytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            members = file.infolist()
            if any(one.compress_type != zipfile.ZIP_STORED for one in members):
                raise ValueError("its arrays are compressed")
            if sum(one.file_size for one in members) > len(content):
                raise ValueError("its arrays claim more bytes than there are")
            return {one.filename.removesuffix(_SUFFIX): _read(file.read(one)) for one in members}
    except Exception as error:
        raise ValueError(f"it keeps no arrays: {error}") from error


def _read(content: bytes) -> np.ndarray:
    """Read one array of plain numbers that fills its file."""
    file = io.BytesIO(content)
    np.lib.format.read_magic(file)
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
    start = file.tell()
    if dtype.kind not in "fiu" or math.prod(shape) * dtype.itemsize != len(content) - start:
        raise ValueError(f"an array of the type {dtype} and the shape {shape} is not there")
    values = np.frombuffer(content, dtype, offset=start)
    return values.reshape(shape[::-1]).T if by_column else values.reshape(shape)
