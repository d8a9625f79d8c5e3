"""What reading a pickle may take, in proportion to its size.

A few bytes can ask for gigabytes or for hours. The published files stay far below these limits:
what they build takes 4 to 7 times their size.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from typing import Any

import numpy as np

from benchquery.errors import UnsafePickleError

DEPTH = 100
"""How deep containers may stand inside each other."""
MOST_DIGITS = 1_024
"""The longest whole number, in bytes."""
_TIMES, _FREE_MEMORY = 12, 32 << 20
_FREE_ITEMS = 1_000_000
_SMALL, _LARGE_WEIGHT, _MOST_KEYS = 1 << 17, 50, 500_000
_TUPLE_KEY = 8

ATOMS = frozenset(
    {type(None), bool, int, float, str, bytes, np.ndarray}
    | {np.dtype(code).type for code in "?bhilqBHILQefdg"}
)
"""The types of what a pickle may hold in its containers."""


class Budget:
    """Counts what a pickle has used so far, and refuses it when that is too much.

    Args:
        size: The number of bytes of the pickle.

    Attributes:
        memory: How many bytes of memory are left. What takes few may count them here itself; the
            next `take` checks.
    """

    __slots__ = ("_items", "_keys", "memory")

    def __init__(self, size: int) -> None:
        self.memory = _TIMES * size + _FREE_MEMORY
        self._items = size + _FREE_ITEMS
        self._keys = _MOST_KEYS

    def take(self, memory: int) -> None:
        """Count so many bytes of memory.

        Raises:
            UnsafePickleError: If that is too much for the size of the file.
        """
        self.memory -= memory
        if self.memory < 0:
            raise UnsafePickleError("what it builds takes far more memory than its size warrants")

    def share(self, value: Any) -> None:
        """Count the items of a container that stands in a second place.

        Every place counts, as whoever walks through the data meets it there: a file of 100 bytes
        can hold the same pair in itself so often that nobody ever gets to its end.

        Raises:
            UnsafePickleError: If the items are too many, too deep or not plain.
        """
        self._items -= count_items(value, self._items)

    def check_keys(self, keys: Collection[Any]) -> None:
        """Check the keys of a dictionary before they are looked up.

        The hashes of whole numbers are known beforehand, so that a file can have keys that all
        collide. Small numbers do little harm; of others there may be fewer.

        Raises:
            UnsafePickleError: If a key is no text, whole number or short tuple of these, or if
                there are too many that may collide.
        """
        kinds = set(map(type, keys))
        if kinds <= {str, bytes}:
            return
        for key in keys if tuple in kinds else ():
            if type(key) is tuple:
                if len(key) > _TUPLE_KEY:
                    raise UnsafePickleError(f"it has a key of {len(key):,} parts")
                kinds.update(map(_simple_kind, key))
        if not kinds <= {str, bytes, int, tuple}:
            names = sorted(kind.__name__ for kind in kinds - {str, bytes, int, tuple})
            raise UnsafePickleError(f"it has keys of type {', '.join(names)}")
        small = kinds == {int} and min(keys) >= 0 and max(keys) < _SMALL
        self._keys -= len(keys) * (1 if small else _LARGE_WEIGHT)
        if self._keys < 0:
            raise UnsafePickleError("it has more numbers as keys than such a file needs")


def _simple_kind(part: object) -> type:
    """Return the type of a part of a key; a tuple inside a tuple is none that is allowed."""
    return type(None) if type(part) is tuple else type(part)


def count_items(value: Any, most: int, others: Iterable[type] = ()) -> int:
    """Count everything inside a value, again in every place where it stands.

    Args:
        value: The value.
        most: How many items there may be.
        others: Types that are allowed beside plain ones.

    Raises:
        UnsafePickleError: If there are more, or too deep inside each other, or one is not plain.
    """
    atoms = ATOMS.union(others)
    count, levels = 0, [iter((value,))]
    while levels:
        for item in levels[-1]:
            kind = type(item)
            if kind in atoms:
                continue
            if kind not in (dict, list, tuple):
                raise UnsafePickleError(f"it holds {_article(kind.__name__.strip('_'))}")
            inner = item.values() if kind is dict else item
            count += len(inner) + 1
            if count > most:
                raise UnsafePickleError("it repeats its parts more often than its size warrants")
            if atoms.issuperset(map(type, inner)):
                continue
            if len(levels) >= DEPTH:
                raise UnsafePickleError(f"it goes more than {DEPTH} levels deep")
            rows = _rows_of(inner)
            if rows is not None:
                below = sum(map(len, inner)) + len(inner)
                if count + below <= most and atoms.issuperset(map(type, chain.from_iterable(rows))):
                    count += below
                    continue
            levels.append(iter(inner))
            break
        else:
            levels.pop()
    return count


def _rows_of(items: Collection[Any]) -> Iterable[Any] | None:
    """Return what stands in containers of one kind, such as the rows of a table or of a curve.

    Returns:
        The items of each; None if there is something else than containers, or several kinds.
    """
    kinds = set(map(type, items))
    if kinds == {dict}:
        return map(dict.values, items)
    return items if kinds in ({list}, {tuple}) else None


def _article(name: str) -> str:
    return f"an {name}" if name[0].lower() in "aeiou" else f"a {name}"
