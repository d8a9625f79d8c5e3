"""The space as a landscape: architectures, their neighbours, hills and valleys.

Two architectures are neighbours if one operation or one link in any of their raw forms
makes one the other (`Space.neighbours`). The whole graph of neighbours is made at once.

Figures are noisy, so most hills may be bumps. The depth of a hill is how far one must go down
from its top, at least, to get to where it is higher (topographic prominence). A hill survives noise
if it is deeper than two figures must be apart for a test at 5% to tell them apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.analysis.statistics import correlation, top_rows
from benchquery.errors import QueryError
from benchquery.kinds.architectures.analysis.agreement import goodness
from benchquery.kinds.architectures.analysis.noise import known_seed_errors
from benchquery.kinds.architectures.arch import NODES, OPS, RAW_LINKS, RAW_OPS, raw_hashes
from benchquery.kinds.architectures.space import get_space
from benchquery.kinds.architectures.table import ArchTable
from benchquery.table.ties import level

if TYPE_CHECKING:
    import numpy as np
    from scipy import sparse
    from scipy.sparse import csgraph

    from benchquery._typing import Array, Floats, Ints
else:
    np = LazyModule("numpy")
    sparse = LazyModule("scipy.sparse", extra="analysis")
    csgraph = LazyModule("scipy.sparse.csgraph", extra="analysis")

_TOP = 0.01
_DRAWS = 20


@dataclass(frozen=True)
class Landscape:
    """What a local search would meet.

    Attributes:
        by: The figure.
        local_optima: Positions of the architectures that no neighbour beats; a tie
            (`benchquery.table.ties`) beats none. One without a figure is none of them, and beats
            none.
        distance: Of every architecture, the number of changes to the best one.
        fitness_distance: Pearson's correlation of how good an architecture is with that
            distance; the nearer to -1, the surer a climb leads to the best. NaN if all are
            equally good.
        ends: Of every architecture, the position at which steepest ascent from it ends; its own for
            one without a figure.
        good_ends: Of the architectures with a figure, the share whose climb ends among the top 1%.
        end_ranks: Of the architectures with a figure, the rank of where their climb ends.
        end_regrets: And how far below the best that is.
        depths: Of every local optimum, how far one must go down from it to get to where it is
            higher; infinite for the best.
        margin: How far apart two figures must be for a test at 5% to tell them apart; NaN where no
            seeds say how large noise is, and so is what follows.
        kept: The share of the local optima that are still local optima after one more standard
            error of noise.
        left_out: How many architectures have no figure.
    """

    by: str
    local_optima: Ints
    distance: Ints
    fitness_distance: float
    ends: Ints
    good_ends: float
    end_ranks: Ints
    end_regrets: Floats
    depths: Floats
    margin: float
    kept: float
    left_out: int

    @property
    def surviving(self) -> Ints:
        """The local optima that survive noise: they are deeper than it.

        Raises:
            QueryError: If no seeds say how large noise is.
        """
        if math.isnan(self.margin):
            raise QueryError(
                f"how large noise is in {self.by!r} is not known, as no architecture of this "
                "dataset was run with several seeds; so no optimum can be told from noise"
            )
        return self.local_optima[self.depths > self.margin]

    @property
    def note(self) -> str:
        """What the rows are about."""
        known = len(self.end_ranks)
        noise = (
            "how large noise is, is not known"
            if math.isnan(self.margin)
            else f"noise: figures closer than {self.margin:.4f} can't be told apart"
        )
        return (
            f"steepest ascent from {known:,} architectures by {self.by}, {self.left_out:,} left "
            f"out; {noise}"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each number."""
        starts = np.array(list(self.basins().values()))
        half = int(np.searchsorted(np.cumsum(starts), starts.sum() / 2)) + 1
        above = np.maximum(self.end_regrets - self.margin, 0.0)
        figures = {
            "local optima": len(self.local_optima),
            "of them deeper than noise": math.nan
            if math.isnan(self.margin)
            else len(self.surviving),
            "share that is kept after noise": self.kept,
            "climbs that end in the top 1%": self.good_ends,
            "median rank of the ends": np.median(self.end_ranks),
            "mean regret of the ends": self.end_regrets.mean(),
            "mean regret beyond noise": above.mean(),
            "share of the largest basin": starts[0] / starts.sum(),
            "basins that half of the climbs end in": half,
            "correlation with distance to the best": self.fitness_distance,
        }
        return [{"": name, "value": float(value)} for name, value in figures.items()]

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
    values: Array = level(goodness(table.lookup(space.hashes, by), by))
    failed = np.isnan(values)
    first, second = neighbour_pairs(space.name)
    optima = _optima(values, first, second)
    distance = _distances(first, second, len(values), int(np.nanargmax(values)))
    ends, best = _climb(values, first, second), top_rows(values, _TOP)
    reached = values[ends[~failed]]
    measured = known_seed_errors(table, by)
    return Landscape(
        by=by,
        local_optima=optima,
        distance=distance,
        fitness_distance=correlation(values, distance),
        ends=ends,
        good_ends=float(np.isin(ends[~failed], best).mean()),
        end_ranks=1 + np.searchsorted(np.sort(-values[~failed]), -reached),
        end_regrets=np.nanmax(values) - reached,
        depths=_depths(values, first, second)[optima],
        margin=math.nan if measured is None else measured.margin,
        kept=math.nan if measured is None else _kept(values, measured.top_error, first, second),
        left_out=int(failed.sum()),
    )


def _optima(values: Array, first: Ints, second: Ints) -> Ints:
    """Return the positions that no neighbour beats; one without a figure is none of them."""
    beaten = np.isnan(values)
    beaten[first[values[second] > values[first]]] = True
    return np.flatnonzero(~beaten)


def _kept(values: Array, error: float, first: Ints, second: Ints) -> float:
    """Return the share of the optima that are optima after one standard error of noise."""
    rng = np.random.default_rng(0)
    optima = _optima(values, first, second)
    found = [
        np.isin(optima, _optima(values + error * rng.standard_normal(len(values)), first, second))
        for _ in range(_DRAWS)
    ]
    return float(np.mean(found))


def _depths(values: Array, first: Ints, second: Ints) -> Floats:
    """Return how far one must go down from each position to get to where it is higher.

    A flood that falls uncovers hills and then the passes that join them, and all that matters of
    it is in the tree of the highest passes. Where two hills join, the lower one's depth is known.
    """
    once = (first < second) & ~np.isnan(values[first]) & ~np.isnan(values[second])
    one, other = first[once], second[once]
    top = float(np.nanmax(values))
    fall = 1 + top - np.minimum(values[one], values[other])
    tree = csgraph.minimum_spanning_tree(
        sparse.coo_matrix((fall, (one, other)), shape=(len(values), len(values)))
    ).tocoo()
    depths = np.full(len(values), np.inf)
    summit = list(range(len(values)))

    def find(place: int) -> int:
        while summit[place] != place:
            summit[place] = summit[summit[place]]
            place = summit[place]
        return place

    for step in np.argsort(tree.data, kind="stable"):
        low, high = sorted(
            (find(int(tree.row[step])), find(int(tree.col[step]))),
            key=lambda place: (values[place], -place),
        )
        depths[low] = values[low] - (1 + top - tree.data[step])
        summit[low] = high
    return depths
