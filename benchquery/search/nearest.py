"""What stands in for an architecture that a table does not hold: the nearest one that it does.

A table may hold a part of its space, as one that is still being built does. Strategies that choose
links and operations one by one name architectures all over the space. Without an answer for those
that are missing they would learn nothing but where the table has gaps.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.kinds.architectures.arch import OPS, Arch
from benchquery.kinds.architectures.space import Space

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Ints
else:
    np = LazyModule("numpy")


class Nearest:
    """Finds the nearest of some architectures: the fewest changed choices, then the least hash.

    A choice is the link or the operation of a node. All raw forms of both architectures are
    compared and the two most alike count, so that the answer depends on the architecture and not
    on how it is written down.

    Args:
        hashes: The architectures to choose from; at least one.
        space: The space that they are from.
    """

    def __init__(self, hashes: Iterable[int], space: Space) -> None:
        self._space = space
        forms = [(number, self._forms(number)) for number in sorted(hashes)]
        self._hashes = np.repeat([number for number, _ in forms], [len(rows) for _, rows in forms])
        self._rows = np.concatenate([rows for _, rows in forms])
        self._known: dict[int, int] = {}

    def _forms(self, number: int) -> Ints:
        """Return the choices of every raw form of an architecture: (forms, 8)."""
        raw = self._space.raw_forms(Arch.from_hash(number))
        return np.array([(*form.link, *map(OPS.index, form.ops)) for form in raw], dtype=np.int8)

    def find(self, number: int) -> int:
        """Return the hash of the architecture that is nearest to one of the space."""
        if number not in self._known:
            changed = np.min(
                [(self._rows != form).sum(axis=1) for form in self._forms(number)], axis=0
            )
            self._known[number] = int(self._hashes[changed.argmin()])
        return self._known[number]
