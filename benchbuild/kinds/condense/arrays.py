"""Named arrays as one array of bytes: how records of a run keep payloads of any form."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np


def pack(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return named arrays as bytes in numpy's own format; the same arrays give the same bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **dict(sorted(arrays.items())))
    return np.frombuffer(buffer.getvalue(), np.uint8)


def unpack(packed: np.ndarray) -> dict[str, np.ndarray]:
    """Return the arrays that `pack` packed."""
    with np.load(io.BytesIO(np.asarray(packed, np.uint8).tobytes()), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
