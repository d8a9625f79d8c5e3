"""How far a run is: done, failed, missing, and how fast it goes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchbuild.errors import CorruptPartError
from benchbuild.pipeline.parts import better, keys_of
from benchbuild.pipeline.plan import assign, units_of
from benchbuild.pipeline.records import STATUSES, JobKey
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder

RECENT_SECONDS = 3600.0
"""The rate is that of the jobs finished in so many seconds before the last one."""


@dataclass(frozen=True)
class ShardStatus:
    """How far a shard is.

    Attributes:
        shard: Which one, as in ``3/32``.
        jobs: Its jobs.
        done: How many of them have a record.
    """

    shard: str
    jobs: int
    done: int


@dataclass(frozen=True)
class Status:
    """How far a run is.

    Attributes:
        kind: The kind of its jobs.
        jobs: All of its jobs.
        done: How many have a record.
        failed: How many of those are not ok.
        missing: How many have none.
        ends: How many ended in each way.
        rate: Jobs an hour of late; None as long as it can't be told.
        parts: How many part files there are.
        damaged: What is wrong with damaged ones.
        shards: The shards that were begun here.
    """

    kind: str
    jobs: int
    done: int
    failed: int
    missing: int
    ends: Mapping[str, int]
    rate: float | None
    parts: int
    damaged: tuple[str, ...]
    shards: tuple[ShardStatus, ...]


def status_of(folder: RunFolder) -> Status:
    """Read all parts of a run and count."""
    kind = kind_of(folder.run.kind)
    parts = folder.parts
    done: dict[JobKey, str] = {}
    times: list[float] = []
    damaged: list[str] = []
    paths = parts.paths()
    for path in paths:
        try:
            part = parts.read(path, [*kind.record.key_names(), "status", "finished"])
        except FileNotFoundError:
            continue
        except CorruptPartError as error:
            damaged.append(str(error))
            continue
        statuses = part.table.column("status").to_pylist()
        for key, status in zip(keys_of(kind.record, part.table), statuses, strict=True):
            done[key] = better(status, done.get(key))
        times += part.table.column("finished").to_pylist()
    keys = folder.job_keys()
    finished = [done[key] for key in keys if key in done]
    ends = Counter(finished)
    return Status(
        kind=kind.name,
        jobs=len(keys),
        done=len(finished),
        failed=len(finished) - ends["ok"],
        missing=len(keys) - len(finished),
        ends={status: ends[status] for status in STATUSES},
        rate=_rate(times),
        parts=len(paths),
        damaged=tuple(damaged),
        shards=_shards(folder, keys, done),
    )


def _rate(times: list[float]) -> float | None:
    """Return the jobs an hour up to the last one."""
    known = [time for time in times if math.isfinite(time)]
    if not known:
        return None
    last = max(known)
    recent = [time for time in known if time >= last - RECENT_SECONDS]
    span = last - min(recent)
    return (len(recent) - 1) / span * 3600 if span > 0 else None


def _shards(
    folder: RunFolder, keys: Sequence[JobKey], done: Mapping[JobKey, str]
) -> tuple[ShardStatus, ...]:
    begun = folder.shards()
    costs = folder.costs(keys) if begun else []
    units = units_of(folder.run, keys) if begun else []
    deals = {count: assign(costs, count, units) for count in {shard.count for shard in begun}}
    states = []
    for shard in begun:
        positions = deals[shard.count][shard.index - 1]
        finished = sum(keys[position] in done for position in positions)
        states.append(ShardStatus(str(shard), len(positions), finished))
    return tuple(states)
