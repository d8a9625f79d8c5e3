"""Which jobs a machine gets: shards that are deterministic, balanced, disjoint and complete."""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchbuild.errors import PlanError
from benchbuild.pipeline.jobs import MOST_JOBS, AnyRun, Cost
from benchbuild.pipeline.records import JobKey
from benchbuild.pipeline.registry import kind_of

MOST_SHARDS = 100_000


@dataclass(frozen=True)
class Shard:
    """Share ``index`` of ``count``, counted from 1.

    Raises:
        PlanError: If there is no such share.
    """

    index: int = 1
    count: int = 1

    def __post_init__(self) -> None:
        """Refuse shares that do not exist."""
        if self.count > MOST_SHARDS:
            raise PlanError(f"there is no shard {self}: at most {MOST_SHARDS:,} are allowed")
        if not 1 <= self.index <= self.count:
            raise PlanError(
                f"there is no shard {self}: shards are counted from 1, so with {self.count} of "
                f"them the first is 1/{self.count} and the last {self.count}/{self.count}"
                if self.count >= 1
                else f"there is no shard {self}: the number of shards must be at least 1"
            )

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read a share such as ``3/32``.

        Raises:
            PlanError: If it is not of that form, or there is no such share.
        """
        match = re.fullmatch(r"\s*(\d{1,18})\s*/\s*(\d{1,18})\s*", text, flags=re.ASCII)
        if not match:
            raise PlanError(
                f"shard {text!r} is not of the form INDEX/COUNT, as in 3/32 for the third of 32"
            )
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        """Write it as it is read."""
        return f"{self.index}/{self.count}"

    @property
    def slug(self) -> str:
        """The share as a part of a file name."""
        return f"{self.index}-of-{self.count}"


Units = Sequence[Sequence[int]]
"""Positions of jobs that stay together; every job is in one unit."""


def units_of(run: AnyRun, keys: Sequence[JobKey]) -> Units:
    """Return what is dealt of a run: its jobs one by one, or those together that can be joined.

    Args:
        run: The run.
        keys: All its jobs, in the order of the plan.
    """
    if not run.joined:
        return [[position] for position in range(len(keys))]
    places = {key: position for position, key in enumerate(keys)}
    groups = kind_of(run.kind).together(keys, MOST_JOBS)
    return [[places[key] for key in group] for group in groups]


def assign(costs: Sequence[Cost], count: int, units: Units) -> list[list[int]]:
    """Deal jobs out to shards so that each has about the same predicted time.

    The longest unit goes first, each to the shard that has least so far; ties go to the lower
    number. No shard then exceeds another by more than one unit. Times are compared in whole
    microseconds, so that the result does not hang on the last bit of a prediction. A unit takes
    what its jobs take alone: what joining saves is not known beforehand.

    Args:
        costs: The predicted cost of every job.
        count: How many shards.
        units: What stays together.

    Returns:
        The positions of every shard's jobs, each in ascending order.
    """
    times = [sum(round(costs[position].seconds * 1e6) for position in unit) for unit in units]
    shards: list[list[int]] = [[] for _ in range(count)]
    loads = [(0, shard) for shard in range(count)]
    for number in sorted(range(len(times)), key=lambda i: -times[i]):
        load, shard = loads[0]
        shards[shard].extend(units[number])
        heapq.heapreplace(loads, (load + times[number], shard))
    for positions in shards:
        positions.sort()
    return shards


def positions_of(shard: Shard, costs: Sequence[Cost], units: Units) -> list[int]:
    """Return the positions of one shard's jobs, in ascending order."""
    if shard.count == 1:
        return list(range(len(costs)))
    return assign(costs, shard.count, units)[shard.index - 1]
