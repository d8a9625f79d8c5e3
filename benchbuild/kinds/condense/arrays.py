"""Named arrays as one array of bytes: how records of a run keep payloads of any form.

The bytes are a file in numpy's own format. They are read back as if they came from an enemy: one
that is packed, or that claims more numbers than it has, is refused before memory is taken for it.
Files of others may be packed, up to a size.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from benchquery.table.files import open_regular

_SUFFIX = ".npy"
_PLAIN = (1, 0)
"""The version of numpy's format that plain numbers are written in."""


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


def read_npz(path: Path, allowed: Collection[str], at_most: int) -> dict[str, np.ndarray]:
    """Return the arrays of a file of others; nothing in it is unpickled.

    Args:
        path: The file.
        allowed: What they may be called.
        at_most: How many bytes they may take.

    Raises:
        FileNotFoundError: If there is none.
        ValueError: If it can't be read as such a file; the message says why.
    """
    try:
        with open_regular(path, follow=True) as whole, zipfile.ZipFile(whole) as file:
            members = {one.filename.removesuffix(_SUFFIX): one for one in file.infolist()}
            if len(members) < len(file.infolist()):
                raise ValueError("it holds an array twice")
            if unknown := [name for name in members if name not in allowed]:
                raise ValueError(f"it holds {unknown[0]!r:.60}; allowed are {', '.join(allowed)}")
            if (size := sum(one.file_size for one in members.values())) > at_most:
                raise ValueError(f"its arrays take {size:,} bytes, more than {at_most:,}")
            return {name: _read(file.read(one), "fiub") for name, one in members.items()}
    except FileNotFoundError:
        raise
    except Exception as error:
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ValueError(said) from error


def _read(content: bytes, kinds: str = "fiu") -> np.ndarray:
    """Read one array of plain numbers that fills its file."""
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != _PLAIN:
        raise ValueError("an array is none of plain numbers")
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
    start = file.tell()
    if dtype.kind not in kinds or math.prod(shape) * dtype.itemsize != len(content) - start:
        raise ValueError(f"an array of the type {dtype} and the shape {shape} is not there")
    values = np.frombuffer(content, dtype, offset=start)
    return values.reshape(shape[::-1]).T if by_column else values.reshape(shape)
