"""How checks say what is wrong; unlike ``assert``, also where Python leaves those out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")


def claim(holds: object, message: str) -> None:
    """Say what is wrong where something does not hold.

    Raises:
        AssertionError: If it does not.
    """
    if not holds:
        raise AssertionError(message)


@contextlib.contextmanager
def works(what: str) -> Iterator[None]:
    """Turn every error of a block into one that says what it means.

    Args:
        what: What it means if the block fails, such as "the report can't be written".

    Raises:
        AssertionError: If the block raises anything.
    """
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error


@contextlib.contextmanager
def refuses(what: str, error: type[Exception]) -> Iterator[None]:
    """Demand that a block raises an error.

    Args:
        what: What must not work, such as "a condition on no column".
        error: The error.

    Raises:
        AssertionError: If the block raises nothing, or something else.
    """
    try:
        yield
    except error:
        return
    except Exception as other:
        raise AssertionError(
            f"{what}: {type(other).__name__} is raised instead of {error.__name__}: {other}"
        ) from other
    raise AssertionError(f"{what}: no {error.__name__} is raised")


def same(first: Any, second: Any) -> bool:
    """Tell whether two arrays, or what makes one, have equal values; missing ones equal."""
    one, other = np.asarray(first), np.asarray(second)
    if one.shape != other.shape:
        return False
    if one.dtype.kind == other.dtype.kind == "f":
        return bool(np.array_equal(one, other, equal_nan=True))
    if one.dtype.hasobject or other.dtype.hasobject:
        return bool(one.astype(str).tolist() == other.astype(str).tolist())
    return bool(np.array_equal(one, other))
