"""Runs the missing jobs of a shard: hands them to an engine and writes what comes back.

A record is written as soon as it is there; records that come in while the disk is busy go into
one part together. So a kill at any moment loses the jobs in flight and no others.
"""

from __future__ import annotations

import logging
import signal
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchbuild.pipeline.engine import Engine, LostJob
from benchbuild.pipeline.jobs import AnyKind, AnyRun, label
from benchbuild.pipeline.plan import Shard, positions_of, units_of
from benchbuild.pipeline.progress import Progress, log_to
from benchbuild.pipeline.records import DETERMINED, JobKey, JobRecord, finished_now
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.pipeline.signals import Stop

ATTEMPTS = 2
"""How often a job is tried that its workers die on."""
TICK = 0.5
"""Seconds between two looks at whether to stop."""


@dataclass(frozen=True)
class ShardReport:
    """How running a shard ended.

    Attributes:
        total: Jobs of the shard.
        before: How many were finished before.
        ends: How many ended now, by status.
        stopped: The signal that ended it early, if one did.
        warnings: What else to know.
    """

    total: int
    before: int
    ends: Counter[str]
    stopped: signal.Signals | None
    warnings: tuple[str, ...]

    @property
    def all_failed(self) -> bool:
        """Whether jobs were run now, and none of them has a result."""
        return bool(self.ends) and not any(self.ends[status] for status in DETERMINED)

    @property
    def missing(self) -> int:
        """Jobs that are still to be run."""
        return self.total - self.before - self.ends.total()


def run_shard(
    folder: RunFolder,
    shard: Shard,
    engine: Engine,
    stop: Stop,
    *,
    retry_failed: bool = False,
    batch: int = 1,
    show: bool = True,
) -> ShardReport:
    """Run the jobs of a shard that have no record yet.

    Args:
        folder: The folder of the run.
        shard: Which of its jobs.
        engine: Where they run; it has been started.
        stop: Whether to end early.
        retry_failed: Whether to run those again that ended for reasons of the machine.
        batch: How many jobs may be run as one computation, where their kind can.
        show: Whether to show on standard error how far it is.

    Raises:
        RunFolderError: If another process runs this shard.
        WriteError: If results can't be written.
        WorkerError: If workers can't run.
    """
    kind = kind_of(folder.run.kind)
    keys = shard_keys(folder.run, shard)
    with folder.lock(shard), log_to(folder.log_path(shard)) as log:
        parts = folder.parts
        done, damaged = parts.resume(shard)
        settled = DETERMINED if retry_failed else None
        todo = [key for key in keys if not _settled(done.get(key), settled)]
        warnings = tuple(f"{problem} (its jobs run again)" for problem in damaged)
        if batch > 1 and shard.count > 1 and not folder.run.joined:
            warnings += (
                f"{folder.path} was begun without --batch: jobs that could be joined are mostly in "
                "different shards",
            )
        for warning in warnings:
            log.warning(warning)
        log.info("shard %s: %d jobs, %d to run", shard, len(keys), len(todo))
        progress = Progress(kind, len(keys), len(keys) - len(todo), show=show)
        ends: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        try:
            for records in _records(kind, kind.together(todo, batch), engine, stop, log):
                parts.add(shard, records)
                ends.update(record.status for record in records)
                reasons.update(r.reason for r in records if r.status not in DETERMINED)
                progress.add(records)
                for record in records:
                    log.info("%s", _log_line(kind, record))
            parts.gather(shard)
        except BaseException as error:
            log.error("%s", error)
            raise
        finally:
            log.info("%s", progress.line())
            progress.close()
    warnings += tuple(engine.warnings)
    for reason, count in reasons.most_common(1):
        warnings += (f"{reasons.total():,} jobs failed, {count:,} of them because of {reason}",)
    return ShardReport(len(keys), len(keys) - len(todo), ends, stop.signal, warnings)


def shard_keys(run: AnyRun, shard: Shard) -> list[JobKey]:
    """Return the jobs of a shard, in the order of the plan."""
    kind = kind_of(run.kind)
    keys = kind.keys(run)
    if shard.count == 1:
        return list(keys)
    costs, units = kind.costs(run, keys), units_of(run, keys)
    return [keys[position] for position in positions_of(shard, costs, units)]


def _settled(status: str | None, settled: Sequence[str] | None) -> bool:
    return status is not None and (settled is None or status in settled)


def _records(
    kind: AnyKind,
    todo: Sequence[tuple[JobKey, ...]],
    engine: Engine,
    stop: Stop,
    log: logging.Logger,
) -> Iterator[list[JobRecord]]:
    """Run jobs and give their records in batches, as they finish.

    Jobs that a worker died on when it ran them together are run again one by one.
    """
    waiting = deque(todo)
    losses: Counter[JobKey] = Counter()
    in_flight = told = 0
    while (waiting or in_flight) and stop.signal is None:
        while waiting and engine.room:
            keys = waiting.popleft()
            engine.submit(keys)
            in_flight += len(keys)
        finished: list[JobRecord] = []
        outcomes = engine.wait(TICK)
        for warning in engine.warnings[told:]:
            log.warning("%s", warning)
            told += 1
        for key, result in outcomes:
            in_flight -= 1
            if not isinstance(result, LostJob):
                finished.append(result)
                continue
            losses[key] += 1
            log.warning("%s: %s (attempt %d)", label(kind.record, key), result.reason, losses[key])
            if losses[key] < ATTEMPTS:
                waiting.append((key,))
            else:
                finished.append(finished_now(kind.record.without_result(key, result.reason)))
        if finished:
            yield finished


def _log_line(kind: AnyKind, record: JobRecord) -> str:
    name, score = label(kind.record, record.key), f"{kind.score(record):.4f}"
    return f"{name} {record.status} {score} {record.reason}".rstrip()
