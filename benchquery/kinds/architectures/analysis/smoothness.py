r"""Whether similar architectures perform alike (Figure 5 of the paper).

For all pairs of architectures that differ in exactly d operations and nothing else, the
mean difference of a figure; the same for links; and for all pairs as the reference.

The pairs are never listed. With :math:`A(S)` the sum of differences over all pairs that
agree at least on the choices S, the sum over pairs that agree exactly on S is

.. math::
    E(S) = \sum_{T \supseteq S} (-1)^{|T \setminus S|} A(T)

and :math:`A(T)` needs one sort: among sorted values :math:`x_1 \le \dots \le x_n` the
differences add up to :math:`\sum_i (2i - n - 1)\, x_i`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.kinds.architectures.arch import LINKS, NODES
from benchquery.kinds.architectures.encoding import link_indices, op_indices
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Ints
else:
    np = LazyModule("numpy")


@dataclass(frozen=True)
class Smoothness:
    """Mean differences of a figure between pairs of architectures.

    Attributes:
        ops: By number of operations that differ, all links equal.
        links: By number of links that differ, all operations equal.
        random: Over all pairs.
        left_out: How many architectures have no figure, so that they are in no pair.
    """

    ops: Mapping[int, float]
    links: Mapping[int, float]
    random: float
    left_out: int


def _pair_sums(values: Array, groups: Ints) -> tuple[float, int]:
    """Return the sum of differences, and the number, of all pairs within groups."""
    order = np.lexsort((values, groups))
    _, start, size = np.unique(groups[order], return_index=True, return_counts=True)
    place = np.arange(len(values)) - np.repeat(start, size)
    weight = 2 * place + 1 - np.repeat(size, size)
    return float((weight * values[order]).sum()), int((size * (size - 1) // 2).sum())


def _group(choices: Ints, columns: Sequence[int]) -> Ints:
    """Give each row the number of what it has in some columns."""
    groups = np.zeros(len(choices), dtype=np.int64)
    for column in columns:
        groups = groups * (choices.max() + 1) + choices[:, column]
    return groups


def _by_distance(
    values: Array, choices: Ints, fixed: Sequence[int], free: Sequence[int]
) -> dict[int, float]:
    """Return the mean difference by how many of the free choices differ, the fixed equal."""
    agreeing = {
        kept: _pair_sums(values, _group(choices, [*fixed, *kept]))
        for size in range(len(free) + 1)
        for kept in itertools.combinations(free, size)
    }
    means = {}
    for distance in range(1, len(free) + 1):
        total, pairs = 0.0, 0
        for exact in itertools.combinations(free, len(free) - distance):
            for kept, (difference, number) in agreeing.items():
                if set(exact) <= set(kept):
                    sign = -1 if (len(kept) - len(exact)) % 2 else 1
                    total += sign * difference
                    pairs += sign * number
        if pairs:
            means[distance] = total / pairs
    return means


def smoothness(table: ArchTable, by: str = "perf") -> Smoothness:
    """Return how the difference of a figure grows with the number of changes.

    Architectures are compared in canonical form. Rows without a figure are left out.

    Raises:
        QueryError: If fewer than two rows have a figure.
    """
    known = known_part(table, by, least=2)
    values, hashes = known.column(by), known.hashes
    choices = np.concatenate([np.array(LINKS)[link_indices(hashes)], op_indices(hashes)], axis=1)
    links, ops = range(NODES), range(NODES, 2 * NODES)
    total, pairs = _pair_sums(values, np.zeros(len(values), dtype=np.int64))
    return Smoothness(
        ops=_by_distance(values, choices, links, ops),
        links=_by_distance(values, choices, ops, links),
        random=total / pairs,
        left_out=len(table) - len(known),
    )
