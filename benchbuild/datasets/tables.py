"""Tables of numbers in text files, as the publishers of datasets write them."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.errors import DatasetError

if TYPE_CHECKING:
    import numpy as np

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
        told = " ".join(str(error).split())
        raise DatasetError(f"{path} is damaged: {type(error).__name__}: {told}") from error
    return table.to_numpy(copy=True)


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
