"""The search spaces: every architecture once, in one fixed order.

``full`` holds all 26,206 architectures, ``proteins`` the 2,021 that use only the five
operations which fit ogbn-proteins into memory. The order is that of the hashes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import QueryError, UnknownHashError, UnknownNameError
from benchquery.kinds.architectures.arch import (
    NODES,
    RAW_LINKS,
    RAW_OPS,
    SPACE_OPS,
    Arch,
    raw_hashes,
)
from benchquery.kinds.architectures.encoding import encode
from benchquery.naming import unknown

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Features, Ints
else:
    np = LazyModule("numpy")

SAMPLING = ("architectures", "raw")


class Space(Sequence[Arch]):
    """A set of architectures over some of the operations.

    Args:
        name: Its name.
        ops: Its operations, in the order of `OPS`.
    """

    def __init__(self, name: str, ops: tuple[str, ...]) -> None:
        self.name = name
        self.ops = ops

    @cached_property
    def _raw_forms(self) -> Mapping[int, Sequence[tuple[int, int]]]:
        """Hash -> its raw forms, each as positions in `RAW_LINKS` and `RAW_OPS`."""
        inside = [i for i, ops in enumerate(RAW_OPS[:-1]) if set(ops) <= set(self.ops)]
        forms: dict[int, list[tuple[int, int]]] = {}
        for position, link in enumerate(RAW_LINKS):
            hashes = raw_hashes(link)
            for index in inside:
                forms.setdefault(hashes[index], []).append((position, index))
        return forms

    @cached_property
    def hashes(self) -> Ints:
        """The hashes of all architectures, ascending."""
        hashes = np.array(sorted(self._raw_forms), dtype=np.int32)
        hashes.flags.writeable = False
        return hashes

    def __len__(self) -> int:
        return len(self.hashes)

    def __iter__(self) -> Iterator[Arch]:
        return map(Arch.from_hash, self.hashes.tolist())

    def __getitem__(self, position: Any) -> Any:
        """Return the architecture at a position, or a list of them for a slice."""
        numbers = self.hashes[position]
        if isinstance(position, slice):
            return [Arch.from_hash(number) for number in numbers.tolist()]
        return Arch.from_hash(int(numbers))

    def __contains__(self, key: object) -> bool:
        number = key.valid_hash() if isinstance(key, Arch) else key
        return number in self._raw_forms

    def __repr__(self) -> str:
        return f"<Space {self.name!r}: {len(self):,} architectures over {', '.join(self.ops)}>"

    def index(self, key: Arch | int, start: int = 0, stop: int | None = None) -> int:
        """Return the position of an architecture in the fixed order.

        Raises:
            UnknownHashError: If the space does not hold it.
        """
        self._check(key)
        number = key.valid_hash() if isinstance(key, Arch) else key
        return int(np.searchsorted(self.hashes, number))

    def _check(self, key: Arch | int) -> None:
        """Refuse an architecture from outside the space."""
        if key not in self:
            raise UnknownHashError(
                f"{key!r} is not in the space {self.name!r}, which has {len(self):,} "
                f"architectures over {', '.join(self.ops)}"
            )

    def raw_forms(self, arch: Arch) -> list[Arch]:
        """Return every raw form of an architecture.

        Raises:
            UnknownHashError: If the space does not hold it.
        """
        self._check(arch)
        forms = self._raw_forms[arch.valid_hash()]
        return [Arch(RAW_LINKS[link], RAW_OPS[ops]) for link, ops in forms]

    def sample(self, n: int, *, seed: int, over: str = "architectures") -> list[Arch]:
        """Draw without replacement, the same for the same seed everywhere.

        Args:
            n: How many.
            seed: The seed.
            over: ``architectures`` draws each architecture with the same chance;
                ``raw`` draws each raw form with the same chance, as strategies that
                choose links and operations one by one do, so an architecture may come
                up in several forms.

        Raises:
            QueryError: If there are fewer than n.
            UnknownNameError: If there is no such way of drawing.
        """
        if over not in SAMPLING:
            raise UnknownNameError(f"can't sample over {over!r}; allowed: {', '.join(SAMPLING)}")
        groups = self._raw_forms.values()
        size = len(self) if over == "architectures" else sum(map(len, groups))
        if not 0 <= n <= size:
            raise QueryError(f"can't draw {n} of the {size:,} {over} of space {self.name!r}")
        drawn = random.Random(seed).sample(range(size), n)
        if over == "architectures":
            return [self[position] for position in drawn]
        forms = sorted(form for group in groups for form in group)
        return [Arch(RAW_LINKS[link], RAW_OPS[ops]) for link, ops in (forms[i] for i in drawn)]

    def neighbours(self, arch: Arch) -> list[Arch]:
        """Return the architectures one change away, in the fixed order.

        A change replaces one operation or one link in any raw form, so being a
        neighbour is mutual.

        Raises:
            UnknownHashError: If the space does not hold the architecture.
        """
        self._check(arch)
        number = arch.valid_hash()
        hashes: set[int] = set()
        for link, ops in self._raw_forms[number]:
            hashes.update(self._one_op_changed(RAW_LINKS[link], RAW_OPS[ops]))
            hashes.update(_one_link_changed(RAW_LINKS[link], ops))
        return [
            Arch.from_hash(other) for other in sorted(hashes - {number}) if other in self._raw_forms
        ]

    def mutate(self, arch: Arch, rng: random.Random) -> Arch:
        """Change one operation or one link of the raw form at random.

        Each of the four operations and the three links that have a choice is changed
        with the same chance. Changes that lead to the same architecture, or to none, are
        drawn again.

        Raises:
            UnknownHashError: If the space does not hold the architecture.
        """
        self._check(arch)
        while True:
            link, ops = list(arch.link), list(arch.ops)
            place = rng.randrange(2 * NODES - 1)
            if place < NODES:
                ops[place] = rng.choice(self.ops)
            else:
                node = place - NODES + 1
                link[node] = rng.randrange(node + 1)
            if set(ops) != {"skip"} and (child := Arch(link, ops)) != arch:
                return child

    def crossover(self, first: Arch, second: Arch, rng: random.Random) -> Arch:
        """Take each node, with its link and operation, from one of two parents at random.

        Raises:
            UnknownHashError: If the space does not hold a parent.
        """
        self._check(first)
        self._check(second)
        while True:
            chosen = [rng.choice((first, second)) for _ in range(NODES)]
            ops = [parent.ops[node] for node, parent in enumerate(chosen)]
            if set(ops) != {"skip"}:
                return Arch([parent.link[node] for node, parent in enumerate(chosen)], ops)

    def encode(self, archs: Sequence[Arch] | Ints | None = None, kind: str = "one-hot") -> Features:
        """Encode architectures, or all of the space, as rows of numbers.

        Args:
            archs: Architectures or an array of hashes; None for all in the fixed order.
            kind: ``one-hot``, ``adjacency`` or ``path`` (see the module `encoding`).

        Raises:
            UnknownNameError: If there is no such encoding.
        """
        if archs is None:
            archs = self.hashes
        elif not isinstance(archs, np.ndarray):
            archs = np.array([arch.valid_hash() for arch in archs], dtype=np.int32)
        return encode(archs, kind)

    def _one_op_changed(self, link: tuple[int, ...], ops: tuple[str, ...]) -> Iterator[int]:
        """Yield the hashes of the forms with one other operation."""
        for node in range(NODES):
            for op in self.ops:
                changed = (*ops[:node], op, *ops[node + 1 :])
                if set(changed) != {"skip"}:
                    yield Arch(link, changed).valid_hash()


def _one_link_changed(link: tuple[int, ...], ops: int) -> Iterator[int]:
    """Yield the hashes of the forms with one other link."""
    for node in range(1, NODES):
        for parent in range(node + 1):
            yield raw_hashes((*link[:node], parent, *link[node + 1 :]))[ops]


SPACES: Mapping[str, Space] = MappingProxyType(
    {name: Space(name, ops) for name, ops in SPACE_OPS.items()}
)


def get_space(space: Space | str) -> Space:
    """Return the space of a name; a space is returned as it is.

    Raises:
        UnknownNameError: If there is no such space.
    """
    if isinstance(space, Space):
        return space
    if space not in SPACES:
        raise UnknownNameError(unknown("space", space, SPACES))
    return SPACES[space]
