"""What pickles of bytes, numpy numbers and numpy arrays call, built from their bytes alone.

numpy's own constructors are not called by a pickle. These here take the arguments that numpy
writes, and no others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from benchquery.errors import UnsafePickleError
from benchquery.pickles.budget import Budget
from benchquery.pickles.machine import Constructor, Name, StandIn

_MOST_DIMENSIONS = 32
_DTYPE = re.compile(r"[<>=|]?(?:b1|[iu][1248]|f(?:2|4|8|12|16)|\?)")
_ORDERS: tuple[Literal["<", ">", "=", "|"], ...] = ("<", ">", "=", "|")
_DTYPE_STATE = (3, None, None, None, -1, -1, 0)
"""What numpy writes beside the byte order of a type of plain numbers."""
_SCALAR, _ARRAY = 40, 200


class Dtype(StandIn):
    """Stands in for ``numpy.dtype`` while a pickle is read."""

    __slots__ = ("_complete", "dtype")

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self._complete = False

    def build(self, state: Any, budget: Budget) -> Dtype:
        """Take the byte order."""
        if self._complete or type(state) is not tuple:
            raise UnsafePickleError("it changes a type of numbers")
        version, order, *details = state
        kinds = [type(part) for part in (version, *details)]
        plain = kinds == list(map(type, _DTYPE_STATE)) and (version, *details) == _DTYPE_STATE
        if not plain or type(order) is not str or order not in _ORDERS:
            raise UnsafePickleError("it has a type of numbers with parts")
        self.dtype = self.dtype.newbyteorder(_ORDERS[_ORDERS.index(order)])
        self._complete = True
        return self


class Array(StandIn):
    """Stands in for an array until its content arrives; then the array takes its place."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: np.ndarray[Any, Any] | None = None

    def build(self, state: Any, budget: Budget) -> np.ndarray[Any, Any]:
        """Take the content."""
        version, shape, dtype, fortran, content = state
        if type(version) is not int or version != 1 or type(fortran) not in (bool, int):
            raise UnsafePickleError("it has an array in an unknown order")
        self._values = _array(content, dtype, shape, "F" if fortran else "C", budget)
        return self._values

    def fetched(self) -> Any:
        """Return the array, once it is there."""
        return super().fetched() if self._values is None else self._values


def _make_dtype(args: tuple[Any, ...], budget: Budget) -> Dtype:
    name, *flags = args
    written = all(type(flag) in (int, bool) for flag in flags)
    if not (isinstance(name, str) and _DTYPE.fullmatch(name)):
        raise UnsafePickleError(f"it has an array of type {str(name)[:40]!r}")
    if not written or flags not in ([], [0], [0, 1]):
        raise UnsafePickleError("it makes a type of numbers in an unknown way")
    budget.take(_ARRAY)
    return Dtype(np.dtype(name))


def _make_scalar(args: tuple[Any, ...], budget: Budget) -> Any:
    dtype, content = args
    budget.take(_SCALAR)
    if type(dtype) is Dtype and type(content) is bytes and dtype.dtype.kind != "b":
        (value,) = np.frombuffer(content, dtype.dtype)
        return value
    return _values(content, dtype, ())[()]


def _make_array(args: tuple[Any, ...], budget: Budget) -> Array:
    subtype, shape, code = args
    plain = type(subtype) is Name and (subtype.module, subtype.name) == ("numpy", "ndarray")
    if not plain or type(shape) is not tuple or shape != (0,) or code not in ("b", b"b"):
        raise UnsafePickleError("it makes an array in an unknown way")
    budget.take(_ARRAY)
    return Array()


def _make_array_at_once(args: tuple[Any, ...], budget: Budget) -> np.ndarray[Any, Any]:
    content, dtype, shape, order = args
    return _array(content, dtype, shape, order, budget)


def _make_bytes(args: tuple[Any, ...], budget: Budget) -> bytes:
    """Old pickles hold bytes as text in Latin-1."""
    if not args:
        return b""
    text, encoding = args
    if type(text) is not str or encoding != "latin1":
        raise UnsafePickleError("it makes bytes in an unknown way")
    budget.take(len(text) + _SCALAR)
    return text.encode("latin1")


def _array(
    content: Any, dtype: Any, shape: Any, order: Any, budget: Budget
) -> np.ndarray[Any, Any]:
    if order not in ("C", "F"):
        raise UnsafePickleError("it has an array in an unknown order")
    budget.take(_ARRAY + (len(content) if type(content) is str else 0))
    return _values(content, dtype, shape, order)


def _values(content: Any, dtype: Any, shape: Any, order: Any = "C") -> np.ndarray[Any, Any]:
    """Return an array that has just the bytes that are there."""
    if type(dtype) is not Dtype:
        raise UnsafePickleError("it has an array without a type")
    if type(content) is str:
        content = content.encode("latin1")
    if type(content) not in (bytes, bytearray):
        raise UnsafePickleError("it has an array whose content is no bytes")
    sizes = type(shape) is tuple and all(type(size) is int and size >= 0 for size in shape)
    if not sizes or len(shape) > _MOST_DIMENSIONS:
        raise UnsafePickleError("it has an array of an unknown shape")
    if math.prod(shape) * dtype.dtype.itemsize != len(content):
        raise ValueError(f"an array of {len(content):,} bytes does not have its shape")
    if dtype.dtype.kind == "b" and content.translate(None, b"\0\1"):
        raise ValueError("a truth value is neither 0 nor 1")
    return np.ndarray(shape, dtype.dtype, content, order=order)


CONSTRUCTORS: Mapping[tuple[str, str], Constructor | None] = {
    ("_codecs", "encode"): _make_bytes,
    ("__builtin__", "bytes"): _make_bytes,
    ("numpy", "dtype"): _make_dtype,
    ("numpy", "ndarray"): None,
    ("numpy.core.multiarray", "scalar"): _make_scalar,
    ("numpy._core.multiarray", "scalar"): _make_scalar,
    ("numpy.core.multiarray", "_reconstruct"): _make_array,
    ("numpy._core.multiarray", "_reconstruct"): _make_array,
    ("numpy.core.numeric", "_frombuffer"): _make_array_at_once,
    ("numpy._core.numeric", "_frombuffer"): _make_array_at_once,
}
"""By module and name what a pickle may call; None for what it may only hand to another."""
