"""A reader for pickles of plain data that can build nothing else.

The original ``.bench`` files are pickles, and a pickle may run any code when it is
loaded. This reader knows dictionaries, lists, tuples, strings, bytes, booleans, numbers,
None, numpy scalars and numpy arrays of numbers. Whatever else a pickle names is refused
before it is touched. numpy's own constructors are not called either: their stand-ins
here build numbers from bytes, and nothing more.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from benchquery.errors import CorruptTableError, UnsafePickleError

_KINDS = "biufSU"


class _Constructor:
    """A callable that a pickle may use; it takes no state."""

    __slots__ = ()

    def __setstate__(self, state: object) -> None:
        raise UnsafePickleError("it sets the state of a constructor")


class _Dtype:
    """Stands in for ``numpy.dtype`` while a pickle is read."""

    __slots__ = ("dtype",)

    def __init__(self, name: object) -> None:
        self.dtype = _plain_dtype(name)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        if state[1] in ("<", ">", "="):
            self.dtype = self.dtype.newbyteorder(state[1])


class _Array:
    """Stands in for an array until its content arrives, then is one."""

    __slots__ = ("values",)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, fortran, content = state
        values = np.frombuffer(content, dtype.dtype)
        self.values = values.reshape(shape, order="F" if fortran else "C")


class _MakeDtype(_Constructor):
    __slots__ = ()

    def __call__(self, name: object, align: object = 0, copy: object = 1) -> _Dtype:
        return _Dtype(name)


class _MakeScalar(_Constructor):
    __slots__ = ()

    def __call__(self, dtype: _Dtype, content: bytes) -> Any:
        (value,) = np.frombuffer(content, dtype.dtype)
        return value


class _MakeArray(_Constructor):
    __slots__ = ()

    def __call__(self, subtype: object, shape: object, kind: object) -> _Array:
        return _Array()


_NAMES: dict[tuple[str, str], type[_Constructor]] = {
    ("numpy", "dtype"): _MakeDtype,
    ("numpy", "ndarray"): _Constructor,
    ("numpy.core.multiarray", "scalar"): _MakeScalar,
    ("numpy._core.multiarray", "scalar"): _MakeScalar,
    ("numpy.core.multiarray", "_reconstruct"): _MakeArray,
    ("numpy._core.multiarray", "_reconstruct"): _MakeArray,
}


class _PlainUnpickler(pickle.Unpickler):
    """An unpickler that resolves the names above and no others."""

    has_arrays = False

    def find_class(self, module: str, name: str) -> Any:
        try:
            constructor = _NAMES[module, name]
        except KeyError:
            raise UnsafePickleError(f"it asks for {module}.{name}") from None
        self.has_arrays |= constructor is _MakeArray
        return constructor()

    def persistent_load(self, pid: object) -> Any:
        raise UnsafePickleError(f"it refers to an object outside the file: {pid!r}")


def _plain_dtype(name: object) -> np.dtype[Any]:
    """Return the numpy type of a name, if it is one of plain numbers or strings."""
    if isinstance(name, str) and (dtype := np.dtype(name)).kind in _KINDS:
        return dtype
    raise UnsafePickleError(f"it has an array of type {name!r}")


def _settle(value: Any) -> Any:
    """Replace the stand-ins of arrays inside a loaded value by the arrays."""
    if isinstance(value, _Array):
        return value.values
    if isinstance(value, dict):
        for key, item in value.items():
            value[key] = _settle(item)
    elif isinstance(value, list):
        value[:] = map(_settle, value)
    elif isinstance(value, tuple):
        return tuple(map(_settle, value))
    return value


def load_plain_pickle(path: Path) -> Any:
    """Load a pickle that holds plain data only.

    Raises:
        UnsafePickleError: If the pickle asks for anything but plain data.
        CorruptTableError: If the file is missing, truncated or no pickle.
    """
    try:
        with path.open("rb") as file:
            unpickler = _PlainUnpickler(file, encoding="latin1")
            content = unpickler.load()
            return _settle(content) if unpickler.has_arrays else content
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
