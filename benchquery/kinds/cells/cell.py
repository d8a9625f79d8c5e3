"""The cells of NAS-Bench-201: how they are written, counted, drawn at random and compared.

A cell has four nodes; between each and every earlier one there is one of five operations, so there
are :math:`5^6 = 15,625` of them. ``|nor_conv_3x3~0|+|none~0|skip_connect~1|+|...|`` has a group
for each node but the first; an entry is an operation and the node that it comes from.
"""

from __future__ import annotations

import dataclasses
import random
import re
from functools import lru_cache
from typing import Self

from benchquery.errors import ArchitectureError

OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
NODES = 4
EDGES = NODES * (NODES - 1) // 2
SPACE = len(OPERATIONS) ** EDGES
"""How many cells there are."""
CHANNELS, REPEATED, STAGES = 16, 5, 3
"""Of the benchmark's networks: channels of the first stage, cells of each stage, and stages."""

_ENTRY = re.compile(r"([a-z0-9_]+)~([0-9]+)\|")
_GROUPS = 256
"""Groups whose reading is kept: there are 155 that are right."""
_NOTHING, _INPUT = "#", "0"
"""What forms write for a node that gets nothing, and for the first one."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell.

    Attributes:
        groups: For each node but the first: the operations from every node before it.

    Raises:
        ArchitectureError: If there is no such cell.

    Example:
        >>> cell = Cell.parse("|none~0|+|none~0|none~1|+|skip_connect~0|none~1|none~2|")
        >>> cell.form, cell.parameters()
        ('#+#+0', 73306)
    """

    groups: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        """Refuse what is no cell."""
        right = [len(group) for group in self.groups] == list(range(1, NODES))
        if not right or any(op not in OPERATIONS for group in self.groups for op in group):
            raise ArchitectureError(
                f"{self.groups!r} is no cell of NAS-Bench-201: its {NODES - 1} groups have 1 to "
                f"{NODES - 1} operations of {', '.join(OPERATIONS)}"
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a cell.

        Raises:
            ArchitectureError: If the text names no cell of NAS-Bench-201.
        """
        groups = text.split("+")
        found = tuple(map(_read, groups))
        for node, (group, ops) in enumerate(zip(groups, found, strict=True), start=1):
            if len(ops) != node:
                raise ArchitectureError(
                    f"{text!r} is no architecture of NAS-Bench-201: group {node} is {group!r}; it "
                    f"must have an entry for each of the {node} nodes before, as "
                    f"|{OPERATIONS[1]}~0|, of {', '.join(OPERATIONS)}"
                )
        if len(found) != NODES - 1:
            raise ArchitectureError(
                f"{text!r} is no architecture of NAS-Bench-201: it has {len(found)} groups, not "
                f"{NODES - 1}"
            )
        return cls(found)

    @classmethod
    def at(cls, number: int) -> Self:
        """Return the cell of a number from 0 to `SPACE` - 1, in the order of the operations."""
        ops = []
        for _ in range(EDGES):
            number, digit = divmod(number, len(OPERATIONS))
            ops.append(OPERATIONS[digit])
        return cls(tuple(tuple(ops[node * (node - 1) // 2 :][:node]) for node in range(1, NODES)))

    @property
    def text(self) -> str:
        """The cell as the benchmark writes it."""
        return "+".join(_written(group) for group in self.groups)

    @property
    def form(self) -> str:
        """What the last node computes, written so that cells that compute the same look the same.

        Inputs of a node are sorted; a ``skip_connect`` is what it passes on, and whatever comes
        from ``none`` is nothing. 6,466 forms are left of all cells.
        """
        nodes = [_INPUT]
        for group in self.groups:
            inputs = [_passed(op, nodes[source]) for source, op in enumerate(group)]
            nodes.append("+".join(sorted(inputs)))
        return nodes[-1]

    def count(self, operation: str) -> int:
        """Return how many of the six operations are one."""
        return sum(group.count(operation) for group in self.groups)

    def parameters(
        self,
        num_classes: int = 10,
        *,
        inputs: int = 3,
        channels: int = CHANNELS,
        cells: int = REPEATED,
    ) -> int:
        """Return how many weights the network of such cells has.

        Args:
            num_classes: Number of classes.
            inputs: Channels of the images.
            channels: Channels of the first stage, doubled by each that follows.
            cells: Cells of each stage.
        """
        by_size = {size: self.count(f"nor_conv_{size}x{size}") for size in (1, 3)}
        total = _convolved(inputs, channels, 3)
        for stage in range(STAGES):
            width = channels << stage
            if stage:
                half = width // 2
                total += _convolved(half, width, 3) + _convolved(width, width, 3) + half * width
            for size, count in by_size.items():
                total += cells * count * _convolved(width, width, size)
        return total + 2 * width + (width + 1) * num_classes

    def __str__(self) -> str:
        """Return the text."""
        return self.text


@lru_cache(_GROUPS)
def _read(group: str) -> tuple[str, ...]:
    """Return the operations of a group; nothing if it is not written as one."""
    ops = tuple(name for name, _ in _ENTRY.findall(group))
    right = _written(ops) == group and all(name in OPERATIONS for name in ops)
    return ops if right else ()


@lru_cache(_GROUPS)
def _written(group: tuple[str, ...]) -> str:
    return "|" + "".join(f"{name}~{source}|" for source, name in enumerate(group))


def _passed(operation: str, node: str) -> str:
    """Return what an operation makes of a node; a node of which nothing comes has no other form."""
    if operation == "none" or node == _NOTHING:
        return _NOTHING
    return node if operation == "skip_connect" else f"({node})@{operation}"


def _convolved(inputs: int, outputs: int, size: int) -> int:
    """Return the weights of a convolution without bias and of the normalisation behind it."""
    return inputs * outputs * size**2 + 2 * outputs


def sample_cells(count: int, seed: int) -> tuple[Cell, ...]:
    """Draw different cells.

    Args:
        count: How many.
        seed: The seed: the same ones for the same seed, everywhere.

    Raises:
        ArchitectureError: If there are not so many.
    """
    if not 1 <= count <= SPACE:
        raise ArchitectureError(f"there are 1 to {SPACE:,} cells to draw, not {count}")
    return tuple(map(Cell.at, random.Random(seed).sample(range(SPACE), count)))
