"""A reader for pickles of plain data that can build nothing else.

The original ``.bench`` files are pickles, and a pickle may run any code when it is loaded.
Python's own loader is not used here. A small machine of this project carries out the instructions
that plain data needs: dictionaries, lists, tuples, strings, bytes, booleans, numbers, None, numpy
numbers and numpy arrays of numbers. Whatever else a pickle names or asks for is refused before it
is touched, and so is one that would take far more time or memory than a file of its size can need.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchquery.errors import CorruptTableError, UnsafePickleError
from benchquery.pickles.arrays import CONSTRUCTORS
from benchquery.pickles.machine import Machine

__all__ = ["load_plain_pickle"]


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the collector of cycles from looking at everything again and again: there are none."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def load_plain_pickle(path: Path) -> Any:
    """Load a pickle that holds plain data only.

    Raises:
        UnsafePickleError: If the pickle asks for anything but plain data, or for too much.
        CorruptTableError: If the file is missing, truncated or no pickle.
    """
    try:
        with _without_collector():
            return Machine(path.read_bytes(), CONSTRUCTORS).run()
    except UnsafePickleError as error:
        raise UnsafePickleError(
            f"{path} is not opened: {error}, and only dictionaries, lists, strings, numbers "
            "and numpy numbers and arrays are allowed"
        ) from None
    except OSError as error:
        raise CorruptTableError(f"{path} can't be read: {error.strerror}") from error
    except Exception as error:
        raise CorruptTableError(
            f"{path} is truncated or no pickle: {type(error).__name__}: {error}"
        ) from error
