"""Tables of numbers in text files, as the publishers of datasets write them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.errors import DatasetError

if TYPE_CHECKING:
    import numpy as np

CHUNK = 1 << 18
"""Rows of a long table that are read at once."""

_DAMAGE = (ValueError, OverflowError, EOFError, OSError, zlib.error)


def read_table(path: Path, dtype: type | None = None) -> np.ndarray:
    """Read a table with commas between its columns and no header, packed by gzip or not.

    Args:
        path: The file.
        dtype: Type of all numbers; None for what they look like.

    Raises:
        DatasetError: If the file can't be read or has something else than such numbers.
    """
    import pandas as pd

    try:
        table = pd.read_csv(path, header=None, dtype=dtype, skipinitialspace=True)
    except _DAMAGE as error:
        raise _damaged(path, error) from error
    return table.to_numpy(copy=True)


def read_chunks(path: Path, dtype: type) -> Iterator[np.ndarray]:
    """Read a long table as `read_table` does, some rows after another.

    What pandas makes of a table on the way takes as much memory as the table itself.

    Args:
        path: The file.
        dtype: Type of all numbers.

    Raises:
        DatasetError: If the file can't be read or has something else than such numbers.
    """
    import pandas as pd

    try:
        with pd.read_csv(
            path, header=None, dtype=dtype, skipinitialspace=True, chunksize=CHUNK
        ) as reader:
            for chunk in reader:
                yield chunk.to_numpy(copy=True)
    except _DAMAGE as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> DatasetError:
    told = " ".join(str(error).split())
    return DatasetError(f"{path} is damaged: {type(error).__name__}: {told}")


def read_rows(path: Path, dtype: type, rows: int, columns: int) -> np.ndarray:
    """Read a table of which the shape is known.

    Args:
        path: The file.
        dtype: Type of all numbers.
        rows: How many rows it has.
        columns: How many columns it has.

    Raises:
        DatasetError: If it can't be read or has another shape.
    """
    table = read_table(path, dtype)
    if table.shape != (rows, columns):
        raise DatasetError(
            f"{path} is damaged: it has {table.shape[0]:,} rows of {table.shape[1]}, not "
            f"{rows:,} of {columns}"
        )
    return table
