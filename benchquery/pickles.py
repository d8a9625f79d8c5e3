"""A reader for pickles of plain data that can build nothing else.

The original ``.bench`` files are pickles, and a pickle may run any code when it is
loaded. This reader knows dictionaries, lists, tuples, strings, bytes, booleans, numbers,
None, numpy scalars and numpy arrays of numbers. Whatever else a pickle names is refused
before it is touched. numpy's own constructors are not called either: their stand-ins
here build numbers from bytes, and nothing more.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import re
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


class _MakeArrayAtOnce(_Constructor):
    __slots__ = ()

    def __call__(self, content: bytes, dtype: _Dtype, shape: Any, order: Any) -> Any:
        return np.frombuffer(content, dtype.dtype).reshape(shape, order=order)


class _MakeBytes(_Constructor):
    """Old pickles hold bytes as text in Latin-1."""

    __slots__ = ()

    def __call__(self, text: str = "", encoding: object = None) -> bytes:
        return text.encode("latin1")


_NAMES: dict[tuple[str, str], type[_Constructor]] = {
    ("_codecs", "encode"): _MakeBytes,
    ("__builtin__", "bytes"): _MakeBytes,
    ("numpy", "dtype"): _MakeDtype,
    ("numpy", "ndarray"): _Constructor,
    ("numpy.core.multiarray", "scalar"): _MakeScalar,
    ("numpy._core.multiarray", "scalar"): _MakeScalar,
    ("numpy.core.multiarray", "_reconstruct"): _MakeArray,
    ("numpy._core.multiarray", "_reconstruct"): _MakeArray,
    ("numpy.core.numeric", "_frombuffer"): _MakeArrayAtOnce,
    ("numpy._core.numeric", "_frombuffer"): _MakeArrayAtOnce,
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


def _settle(value: Any, done: dict[int, tuple[Any, Any]]) -> Any:
    """Replace the stand-ins of arrays inside a loaded value by the arrays.

    Args:
        value: The value.
        done: By identity, each container met so far with what becomes of it, so that
            one that is shared is visited once.
    """
    if isinstance(value, _Array):
        return value.values
    if not isinstance(value, (dict, list, tuple)):
        return value
    if id(value) in done:
        return done[id(value)][1]
    if isinstance(value, tuple):
        settled = tuple(_settle(item, done) for item in value)
        done[id(value)] = (value, settled)
        return settled
    done[id(value)] = (value, value)
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        value[key] = _settle(item, done)
    return value


_PUT = b"r"
_LINES = {b"c": 2, b"i": 2}
_PREFIX = {
    pickletools.TAKEN_FROM_ARGUMENT1: 1,
    pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4,
    pickletools.TAKEN_FROM_ARGUMENT8U: 8,
}
_ARGUMENTS = {op.code.encode("latin1"): op.arg.n if op.arg else 0 for op in pickletools.opcodes}
_FIXED = re.compile(
    b"(?:%s)*+"
    % b"|".join(
        b"%s.{%d}" % (re.escape(code), size)
        for code, size in _ARGUMENTS.items()
        if size >= 0 and code not in (_PUT, pickle.STOP)
    ),
    re.DOTALL,
)


def _check_memo(content: bytes) -> None:
    """Refuse a pickle that numbers its objects beyond its own size.

    Old pickles may put an object under any number, and the unpickler makes room for all
    numbers below: five damaged bytes can take all memory.

    Raises:
        ValueError: If there is such a number, or the opcodes don't end with a stop.
    """
    position = 0
    while True:
        match = _FIXED.match(content, position)
        position = match.end() if match else position
        code = content[position : position + 1]
        position += 1
        if code == pickle.STOP:
            return
        if code not in _ARGUMENTS:
            raise ValueError("it ends too early or has an unknown opcode")
        size = _ARGUMENTS[code]
        if size == pickletools.UP_TO_NEWLINE:
            for _ in range(_LINES.get(code, 1)):
                position = content.index(b"\n", position) + 1
        elif size < 0:
            prefix = content[position : position + _PREFIX[size]]
            position += _PREFIX[size] + int.from_bytes(prefix, "little")
        elif code == _PUT:
            number = int.from_bytes(content[position : position + size], "little")
            if number > len(content):
                raise ValueError(f"it numbers an object {number:,}")
            position += size
        else:
            raise ValueError("it ends within an argument")


def load_plain_pickle(path: Path) -> Any:
    """Load a pickle that holds plain data only.

    Raises:
        UnsafePickleError: If the pickle asks for anything but plain data.
        CorruptTableError: If the file is missing, truncated or no pickle.
    """
    try:
        content = path.read_bytes()
        _check_memo(content)
        unpickler = _PlainUnpickler(io.BytesIO(content), encoding="latin1")
        value = unpickler.load()
        return _settle(value, {}) if unpickler.has_arrays else value
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
