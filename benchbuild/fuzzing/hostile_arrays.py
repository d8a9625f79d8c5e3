"""Named arrays that were changed by hand: other values, types, shapes and names."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

WHOLE = (0, 1, -1, -2, 7, 2**15, 2**31 - 1, -(2**31), 2**31, 2**62, -(2**63), 2**63 - 1)
"""Whole numbers that are unlikely, or that not every type can hold."""
REAL = (0.0, -0.0, 1.0, -1.0, 1e-7, 6e4, 1e30, np.nan, np.inf, -np.inf)
"""Numbers that figures can't be, or should not."""
_TYPES = (
    "uint8", "int8", "int16", "int32", "int64", "uint64", "float16", "float32", "float64",
    "longdouble", ">f4", ">i8",
)  # fmt: skip
_NAMES = ("x", "y", "sizes", "edges", "weights", "by_row", "parents", "trees", "bonds", "new", "é")

Change = Callable[[dict[str, Any], str, random.Random], None]
"""Changes one of some named arrays, in place."""


def changed(arrays: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return arrays of which one or some are others.

    Args:
        arrays: Some named arrays of numbers.
        rng: What decides.
    """
    result = {name: np.array(values) for name, values in arrays.items()}
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if result:
            with np.errstate(all="ignore"):
                rng.choice(_CHANGES)(result, rng.choice(sorted(result)), rng)
    return result


def _set(arrays: dict[str, Any], name: str, rng: random.Random) -> None:
    """Write another number in one place, or in all."""
    values = arrays[name].copy()
    whole = values.dtype.kind in "iu"
    number = rng.choice(WHOLE if whole else REAL)
    if whole:
        number = int(np.clip(number, np.iinfo(values.dtype).min, np.iinfo(values.dtype).max))
    if values.size and rng.random() < _ONE:
        values.reshape(-1)[rng.randrange(values.size)] = number
    else:
        values[...] = number
    arrays[name] = values


_ONE = 0.8
"""How often it is one place only."""


def _retype(arrays: dict[str, Any], name: str, rng: random.Random) -> None:
    arrays[name] = arrays[name].astype(rng.choice(_TYPES))


def _reshape(arrays: dict[str, Any], name: str, rng: random.Random) -> None:
    values = arrays[name]
    shapes: tuple[tuple[int, ...], ...] = ((-1,), (1, -1), (-1, 1), values.shape[::-1], (1, 1, -1))
    arrays[name] = values.reshape(rng.choice(shapes))


def _cut(arrays: dict[str, Any], name: str, rng: random.Random) -> None:
    if arrays[name].ndim:
        arrays[name] = arrays[name][: rng.choice((0, 1, -1))]


def _lengthen(arrays: dict[str, Any], name: str, rng: random.Random) -> None:
    if arrays[name].ndim:
        arrays[name] = np.concatenate([arrays[name]] * rng.choice((2, 3)))


def _only(arrays: dict[str, Any], name: str, rng: random.Random) -> None:
    arrays[name] = np.array(rng.choice((0, 3, 0.5)))


def _wrap_around(arrays: dict[str, Any], name: str, rng: random.Random) -> None:
    """Let whole numbers add up to what they did, if sums may overflow."""
    if arrays[name].ndim == 1 and arrays[name].dtype.kind == "i":
        arrays[name] = np.concatenate([arrays[name].astype(np.int64), np.full(4, 2**62, np.int64)])


def _remove(arrays: dict[str, Any], name: str, rng: random.Random) -> None:
    del arrays[name]


def _rename(arrays: dict[str, Any], name: str, rng: random.Random) -> None:
    arrays[rng.choice(_NAMES)] = arrays.pop(name)


def _copy(arrays: dict[str, Any], name: str, rng: random.Random) -> None:
    arrays[rng.choice(_NAMES)] = arrays[name]


def _exchange(arrays: dict[str, Any], name: str, rng: random.Random) -> None:
    other = rng.choice(sorted(arrays))
    arrays[name], arrays[other] = arrays[other], arrays[name]


def _shuffle(arrays: dict[str, Any], name: str, rng: random.Random) -> None:
    flat = arrays[name].reshape(-1).copy()
    order = rng.sample(range(flat.size), flat.size)
    arrays[name] = flat[order].reshape(arrays[name].shape)


_CHANGES: tuple[Change, ...] = (
    _set, _set, _set, _set, _retype, _reshape, _cut, _lengthen, _only, _wrap_around, _remove,
    _rename, _copy, _exchange, _shuffle, _shuffle,
)  # fmt: skip
