"""An architecture: four computing nodes, each with one input and one operation.

``link[i]`` is the input of node ``i + 1``: 0 is the network's input, ``k`` is node
``k``, and ``link[i] <= i``. Nodes that feed no other node are the output.

Many raw forms mean the same network. Node numbers are arbitrary, and a skip that
passes its input on unchanged may stand anywhere along a chain. The canonical form of
an architecture is found in two steps:

1. *Contract*: remove each skip that has children, is an only child, or sees the raw
   input only. Put the removed ones in front, as a chain.
2. *Number*: of all node orders whose link list is one of the nine in `LINKS`, take the
   one with the smallest operation indices.

The hash reads the canonical form as a decimal number: the index of the link list, then
the four operation indices. It equals ``valid_hash()`` of the published package.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import (
    AllSkipError,
    ArchitectureError,
    UnknownHashError,
    UnknownNameError,
)
from benchquery.kinds.architectures.drawing import draw_svg, draw_text
from benchquery.naming import match_name, suggestion, unknown

if TYPE_CHECKING:
    import numpy as np

    from benchquery.kinds.architectures.space import Space
else:
    np = LazyModule("numpy")

NODES = 4
LINKS: tuple[tuple[int, ...], ...] = (
    (0, 0, 0, 0),
    (0, 0, 0, 1),
    (0, 0, 1, 1),
    (0, 0, 1, 2),
    (0, 0, 1, 3),
    (0, 1, 1, 1),
    (0, 1, 1, 2),
    (0, 1, 2, 2),
    (0, 1, 2, 3),
)
OPS = ("gat", "gcn", "gin", "cheb", "sage", "arma", "graph", "fc", "skip")
SPACE_OPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"full": OPS, "proteins": ("gcn", "sage", "arma", "fc", "skip")}
)
"""The spaces by name, and the operations of their architectures."""

RAW_LINKS = tuple(itertools.product(*(range(i + 1) for i in range(NODES))))
RAW_OPS = tuple(itertools.product(OPS, repeat=NODES))

_LINK_INDEX = {link: index for index, link in enumerate(LINKS)}
_ORDERS = tuple(itertools.permutations(range(NODES)))
_FEW = 100


def _contract(link: tuple[int, ...], skips: frozenset[int]) -> tuple[int, ...]:
    """Move the removable skips of a raw form to the front.

    Args:
        link: A raw link list.
        skips: The nodes, counted from 1, whose operation is skip.

    Returns:
        The parent of each node after the move, by the old node numbers.
    """
    parent = dict(enumerate(link, start=1))
    moved: list[int] = []

    def children(node: int) -> list[int]:
        return [child for child, above in parent.items() if above == node]

    for node in sorted(skips):
        below = children(node)
        only_child = len(children(parent[node])) == 1
        if below or only_child or parent[node] == 0:
            parent.update(dict.fromkeys(below, parent[node]))
            del parent[node]
            moved.append(node)

    chain = [0, *moved]
    for node in children(0):
        parent[node] = chain[-1]
    parent.update(zip(moved, chain, strict=False))
    return tuple(parent[node] for node in range(1, NODES + 1))


@functools.cache
def _readings(link: tuple[int, ...], skips: frozenset[int]) -> tuple[int, list[tuple[int, ...]]]:
    """Find every node order that reads a raw form as one of the nine link lists.

    Returns:
        The index of that link list in `LINKS` and the orders: ``order[i]`` is the old
        position of the node that comes to position ``i``.
    """
    parent = _contract(link, skips)
    found: dict[int, list[tuple[int, ...]]] = {}
    for order in _ORDERS:
        number = {0: 0} | {old + 1: new + 1 for new, old in enumerate(order)}
        index = _LINK_INDEX.get(tuple(number[parent[old]] for old in order))
        if index is not None:
            found.setdefault(index, []).append(order)
    ((index, orders),) = found.items()
    return index, orders


_Entry = tuple[tuple[int, ...], memoryview]
_HASHES: dict[int, dict[int, dict[int, dict[int, _Entry]]]]
_HASHES = {0: {b: {c: {} for c in range(3)} for b in range(2)}}
"""The four links, one after another -> (the link list, the hashes of all `RAW_OPS` on it).

Filled by `raw_hashes`. The hashes are packed numbers, so that all 24 lists stay in a
processor's cache: for random look-ups that is worth more than anything else.
"""

_LAST_TWO = {a: {b: 9 * i + j for j, b in enumerate(OPS)} for i, a in enumerate(OPS)}
_FIRST_TWO = {a: {b: 81 * k for b, k in row.items()} for a, row in _LAST_TWO.items()}


def raw_hashes(link: tuple[int, ...]) -> memoryview:
    """Return the hashes of all `RAW_OPS`, in order, on one of the `RAW_LINKS`.

    All skip, the last of `RAW_OPS`, has none. The list is made on first use, in about a
    millisecond.
    """
    first, second, third, fourth = link
    known = _HASHES[first][second][third]
    if fourth not in known:
        codes = np.indices((len(OPS),) * NODES, dtype=np.int32).reshape(NODES, -1).T
        is_skip = codes == OPS.index("skip")
        hashes = np.empty(len(codes), dtype=np.int32)
        for pattern in itertools.product((False, True), repeat=NODES):
            skips = frozenset(node for node, skip in enumerate(pattern, start=1) if skip)
            index, orders = _readings(link, skips)
            rows = np.flatnonzero((is_skip == pattern).all(axis=1))
            digits = codes[rows][:, orders] @ 10 ** np.arange(NODES - 1, -1, -1)
            hashes[rows] = index * 10**NODES + digits.min(axis=1)
        known[fourth] = (link, hashes[:-1].data)
    return known[fourth][1]


@functools.lru_cache(_FEW)
def _one_hash(link: tuple[int, ...], ops: tuple[str, ...]) -> int:
    """Return the hash of one raw form without the table of its link list."""
    skips = frozenset(node for node, op in enumerate(ops, start=1) if op == "skip")
    index, orders = _readings(link, skips)
    codes = [OPS.index(op) for op in ops]
    digits = min([codes[old] for old in order] for order in orders)
    return int("".join(map(str, [index, *digits])))


class Arch:
    """An immutable architecture, equal to every other that computes the same network.

    Args:
        link: The input of each of the four nodes, in any order with ``link[i] <= i``.
        ops: The operation of each node, names from `OPS`.

    Raises:
        AllSkipError: If all four operations are skip.
        ArchitectureError: If a list has the wrong length, a link points forward, or an
            operation is unknown.

    Example:
        >>> a = Arch([0, 1, 2, 1], ["gcn", "gin", "fc", "cheb"])
        >>> b = Arch([0, 1, 1, 3], ["gcn", "cheb", "gin", "fc"])
        >>> a == b, a.valid_hash()
        (True, 61237)
    """

    __slots__ = ("_hash", "_link", "_ops_index")

    def __init__(self, link: Sequence[int], ops: Sequence[str]) -> None:
        try:
            a, b, c, d = ops
            w, x, y, z = link
            self._ops_index = index = _FIRST_TWO[a][b] + _LAST_TWO[c][d]
            self._link, hashes = _HASHES[w][x][y][z]
            self._hash = hashes[index]
        except (KeyError, ValueError, TypeError, IndexError):
            self._link, self._ops_index, self._hash = _resolve(link, ops)

    @classmethod
    def from_hash(cls, number: int) -> Arch:
        """Return the canonical architecture of a hash.

        Raises:
            UnknownHashError: If no architecture has this hash.
        """
        try:
            index, *digits = map(int, f"{number:05d}")
            arch = cls(LINKS[index], [OPS[digit] for digit in digits])
        except (ValueError, TypeError, IndexError):
            arch = None
        if arch is None or arch._hash != number:
            raise UnknownHashError(
                f"{number!r} is the hash of no architecture; a hash is a link index (0-8) "
                "followed by four operation indices (0-8), in canonical form"
            )
        return arch

    @property
    def link(self) -> tuple[int, ...]:
        """The link list as given."""
        return self._link

    @property
    def ops(self) -> tuple[str, ...]:
        """The operations as given."""
        return RAW_OPS[self._ops_index]

    def valid_hash(self) -> int:
        """Return the hash of the canonical form: the key of every table."""
        return self._hash

    def canonical(self) -> Arch:
        """Return the same architecture in its canonical raw form."""
        return Arch.from_hash(self._hash)

    @property
    def depth(self) -> int:
        """How many nodes the longest way from input to output passes (canonical form)."""
        depth = [0]
        for parent in self.canonical().link:
            depth.append(depth[parent] + 1)
        return max(depth)

    @property
    def leaves(self) -> tuple[int, ...]:
        """The nodes, counted from 1, that make up the output (canonical form)."""
        link = self.canonical().link
        return tuple(node for node in range(1, NODES + 1) if node not in link)

    def is_in(self, space: Space | str) -> bool:
        """Tell whether a space, or the space of this name, holds the architecture.

        Raises:
            UnknownNameError: If there is no such space.
        """
        ops = space_ops(space) if isinstance(space, str) else space.ops
        return set(self.ops) <= set(ops)

    def draw(self) -> str:
        """Return a drawing of the canonical form in text."""
        form = self.canonical()
        return draw_text(form.link, form.ops)

    def to_svg(self) -> str:
        """Return a drawing of the canonical form as an SVG document."""
        form = self.canonical()
        return draw_svg(form.link, form.ops, repr(form))

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __eq__(self, other: object) -> bool:
        return self._hash == other._hash if isinstance(other, Arch) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Arch({list(self.link)}, {list(self.ops)})"

    def __reduce__(self) -> tuple[type[Arch], tuple[tuple[int, ...], tuple[str, ...]]]:
        return Arch, (self.link, self.ops)


def hash_of(key: Arch | int) -> int:
    """Return the hash of an architecture, or a number that already is one."""
    return key.valid_hash() if isinstance(key, Arch) else key


def space_ops(name: str) -> tuple[str, ...]:
    """Return the operations of the space of a name.

    Raises:
        UnknownNameError: If there is no such space.
    """
    if name not in SPACE_OPS:
        raise UnknownNameError(unknown("space", name, SPACE_OPS))
    return SPACE_OPS[name]


def canonical_op(name: str) -> str:
    """Return an operation by its name in any letter case; what is no operation stays as it is."""
    return match_name(name, OPS) or name


def _resolve(link: Sequence[int], ops: Sequence[str]) -> tuple[tuple[int, ...], int, int]:
    """Do what `Arch` does, for a link list without a table yet, or for a wrong one.

    The first few architectures of a process are hashed one by one, as importing numpy to
    make a table would take longer than a thousand of them.

    Raises:
        ArchitectureError: If the raw form describes no architecture.
    """
    try:
        plain = RAW_LINKS[RAW_LINKS.index(tuple(link))]
        index = RAW_OPS.index(tuple(map(canonical_op, ops)), 0, -1)
    except (ValueError, TypeError):
        raise _explain(link, ops) from None
    if _one_hash.cache_info().currsize < _FEW:
        return plain, index, _one_hash(plain, RAW_OPS[index])
    return plain, index, raw_hashes(plain)[index]


def _explain(link: Sequence[int], ops: Sequence[str]) -> ArchitectureError:
    """Say what is wrong with a raw form that was not accepted."""
    try:
        link, ops = list(link), list(ops)
    except TypeError:
        return ArchitectureError(
            f"link and ops must be lists of {NODES} entries, not {link!r} and {ops!r}"
        )
    for what, values in (("link", link), ("ops", ops)):
        if len(values) != NODES:
            return ArchitectureError(
                f"{what} must have {NODES} entries, not {len(values)}: {values!r}"
            )
    for position, parent in enumerate(link):
        if parent not in range(position + 1):
            return ArchitectureError(
                f"link[{position}] is {parent!r} in {link!r}; the input of node {position + 1} "
                f"must be 0 (the network's input) or an earlier node, so an integer "
                f"from 0 to {position}"
            )
    for op in ops:
        if canonical_op(op) not in OPS:
            guess = suggestion(op, OPS) or ";"
            return ArchitectureError(f"unknown operation {op!r}{guess} allowed: {', '.join(OPS)}")
    return AllSkipError(
        f"{link!r} with four skips computes nothing and is in no table; "
        f"at least one operation must be one of: {', '.join(OPS[:-1])}"
    )
