"""The space as a landscape: architectures, their neighbours, hills and valleys.

Two architectures are neighbours if one operation or one link in any of their raw forms
makes one the other (`Space.neighbours`). The whole graph of neighbours is made at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.analysis.statistics import correlation, top_rows
from benchquery.errors import QueryError
from benchquery.kinds.architectures.analysis.agreement import goodness
from benchquery.kinds.architectures.arch import NODES, OPS, RAW_LINKS, RAW_OPS, raw_hashes
from benchquery.kinds.architectures.space import get_space
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Ints
else:
    np = LazyModule("numpy")

_TOP = 0.01


@dataclass(frozen=True)
class Landscape:
    """What a local search would meet.

    Attributes:
        local_optima: Positions of the architectures that no neighbour beats. One without a
            figure is none of them, and beats none.
        distance: Of every architecture, the number of changes to the best one.
        fitness_distance: Pearson's correlation of how good an architecture is with that
            distance; the nearer to -1, the surer a climb leads to the best. NaN if all are
            equally good.
        ends: Of every architecture, the position at which steepest ascent from it ends; its own for
            one without a figure.
        good_ends: Of the architectures with a figure, the share whose climb ends among the top 1%.
        left_out: How many architectures have no figure.
    """

    local_optima: Ints
    distance: Ints
    fitness_distance: float
    ends: Ints
    good_ends: float
    left_out: int

    def basins(self) -> dict[int, int]:
        """Return from how many architectures a climb ends at each position, the most first."""
        places, counts = np.unique(self.ends, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return dict(zip(places[order].tolist(), counts[order].tolist(), strict=True))


@cache
def neighbour_pairs(name: str) -> tuple[Ints, Ints]:
    """Return all pairs of neighbours of a space, by position, each pair both ways.

    The pairs are sorted by their first member.
    """
    space = get_space(name)
    none = len(space)
    position = np.full(10 ** (NODES + 1), none)
    position[space.hashes] = np.arange(none)
    forms = np.full((len(RAW_LINKS), len(RAW_OPS)), none)
    inside = np.array([set(ops) <= set(space.ops) for ops in RAW_OPS[:-1]])
    for row, link in enumerate(RAW_LINKS):
        hashes = np.frombuffer(raw_hashes(link), np.int32)
        forms[row, :-1] = np.where(inside, position[hashes], none)

    by_op = forms.reshape(len(RAW_LINKS), *[len(OPS)] * NODES)
    changed = [
        (by_op, np.roll(by_op, shift, axis=node + 1))
        for node in range(NODES)
        for shift in range(1, len(OPS))
    ]
    links = np.array(RAW_LINKS)
    differing = (links[:, None] != links[None]).sum(axis=2)
    changed += [(forms[a], forms[b]) for a, b in np.argwhere(differing == 1)]
    codes = np.unique(
        np.concatenate([first.ravel() * (none + 1) + second.ravel() for first, second in changed])
    )
    first, second = codes // (none + 1), codes % (none + 1)
    real = (first != second) & (first < none) & (second < none)
    return first[real], second[real]


def _distances(first: Ints, second: Ints, size: int, start: int) -> Ints:
    """Return the number of steps from one position to every other, along the pairs."""
    distance = np.full(size, -1)
    distance[start] = 0
    steps = 0
    while (reached := second[(distance[first] == steps)]).size:
        fresh = np.unique(reached[distance[reached] < 0])
        steps += 1
        distance[fresh] = steps
    return distance


def _climb(values: Array, first: Ints, second: Ints) -> Ints:
    """Return where steepest ascent ends from every position; of equal neighbours the first."""
    heights = np.where(np.isnan(values), -np.inf, values)
    starts = np.unique(first, return_index=True)[1]
    steepest = np.full(len(values), -np.inf)
    steepest[first[starts]] = np.maximum.reduceat(heights[second], starts)
    up = (heights[second] == steepest[first]) & (heights[second] > heights[first])
    climbing, place = np.unique(first[up & ~np.isnan(values[first])], return_index=True)
    ends = np.arange(len(values))
    ends[climbing] = second[up & ~np.isnan(values[first])][place]
    while not np.array_equal(ends[ends], ends):
        ends = ends[ends]
    return ends


def landscape(table: ArchTable, by: str = "perf") -> Landscape:
    """Return the local optima of a table and how figures fall with distance to the best.

    Raises:
        QueryError: If the table does not hold its whole space, or has fewer than two figures.
    """
    space = get_space(table.manifest.space)
    if len(table) != len(space):
        raise QueryError(
            f"the table of {table.name!r} holds {len(table):,} of the {len(space):,} "
            f"architectures of space {space.name!r}; a landscape needs all of them"
        )
    known_part(table, by, least=2)
    values: Array = goodness(table.lookup(space.hashes, by), by)
    failed = np.isnan(values)
    first, second = neighbour_pairs(space.name)
    beaten = np.zeros(len(values), dtype=bool)
    beaten[first[values[second] > values[first]]] = True
    distance = _distances(first, second, len(values), int(np.nanargmax(values)))
    ends, best = _climb(values, first, second), top_rows(values, _TOP)
    return Landscape(
        local_optima=np.flatnonzero(~(beaten | failed)),
        distance=distance,
        fitness_distance=correlation(values, distance),
        ends=ends,
        good_ends=float(np.isin(ends[~failed], best).mean()),
        left_out=int(failed.sum()),
    )
