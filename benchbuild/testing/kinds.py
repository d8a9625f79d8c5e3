"""What a kind of job must be and do, whatever its jobs are."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from benchbuild import api
from benchbuild.engines.base import WorkerSettings
from benchbuild.engines.local import LocalEngine
from benchbuild.errors import MergeError
from benchbuild.pipeline.jobs import AnyKind, AnyRun, Place, Run, label
from benchbuild.pipeline.parts import arrow_schema
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.records import DETERMINED, OK, JobKey, JobRecord
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import SCRATCH, RunFolder
from benchbuild.pipeline.runner import run_shard, shard_keys
from benchbuild.pipeline.signals import Stop
from benchbuild.pipeline.status import status_of
from benchbuild.pipeline.verify import problems_in
from benchquery.table.manifest import read_manifest
from benchquery.testing import check_table
from benchquery.testing.claims import claim, refuses, same, works

SHARDS = (1, 2, 3)
"""Into how many shards jobs are dealt out."""


def check_job_kind(
    run: AnyRun,
    folder: str | os.PathLike[str],
    *,
    data_root: str | os.PathLike[str] | None = None,
    pictures: bool = True,
) -> None:
    """Check a kind of job by a run of a few quick jobs of it.

    Settings and jobs survive ``run.json``; keys, costs and shards are what the plan needs. All jobs
    are run by a worker process on this machine. Their records are typed, lie in parts of the right
    columns and are without problems; nothing is run twice; a job that is done again has the same
    figures. If the kind writes a table, the run is merged, and the table must pass
    `benchquery.testing.check_table`.

    Args:
        run: What to run, as a function such as `benchbuild.train_run` describes it.
        folder: A folder that is empty or not there, for the run and its table.
        data_root: Folder of the datasets; None for the default.
        pictures: Whether to draw the pictures of the table.

    Raises:
        AssertionError: If something is wrong; the message names it.
    """
    folder = Path(folder)
    with works(f"there is no kind of job {run.kind!r}"):
        kind = kind_of(run.kind)
    whose = f"kind of job {kind.name!r}"
    _check_description(kind, run, whose)
    keys = _check_keys(kind, run, whose)
    _check_shards(run, keys, whose)
    _check_record_type(kind, keys[0], whose)
    path = folder / "run"
    with works(f"{whose}: its jobs can't be run"):
        report = api.run(run, path, workers=1, device="cpu", data_root=data_root)
    claim(
        not report.missing and set(report.ends) <= set(DETERMINED),
        f"{whose}: its jobs don't end well: {dict(report.ends)} {' '.join(report.warnings)}",
    )
    stored = RunFolder.open(path)
    records = _check_records(kind, stored, keys, whose)
    _check_resuming(stored, keys, whose)
    here = dataclasses.replace(stored.run, settings=run.settings)
    _check_again(kind, here, records, folder, data_root)
    if kind.table is None:
        with refuses(f"{whose}: it writes no table, yet merging its run", MergeError):
            api.merge(path, folder / "table")
        return
    _check_merging(kind, path, folder, whose)
    check_table(folder / "table", pictures=pictures)


def _check_description(kind: AnyKind, run: AnyRun, whose: str) -> None:
    """Check that ``run.json`` keeps what a run is."""
    for field, wanted in (("settings", kind.settings), ("jobs", kind.jobs)):
        part = getattr(run, field)
        claim(
            isinstance(part, wanted) and dataclasses.is_dataclass(part),
            f"{whose}: the {field} of the run are no {wanted.__name__}",
        )
        with works(f"{whose}: its {field} can't be read from run.json"):
            read = wanted.from_json(json.loads(json.dumps(run.body[field])))
        claim(read == part, f"{whose}: its {field} are others when they are read from run.json")
    again = Run(
        run.kind, kind.settings.from_json(run.body["settings"]), run.jobs, run.facts, run.about
    )
    claim(again.digest == run.digest, f"{whose}: its run has another digest after run.json")


def _check_keys(kind: AnyKind, run: AnyRun, whose: str) -> list[JobKey]:
    """Check what identifies jobs, and what they are expected to take."""
    keys, names = list(kind.keys(run)), kind.record.key_names()
    claim(keys, f"{whose}: the run has no jobs")
    claim(keys == list(kind.keys(run)), f"{whose}: its keys come in another order the second time")
    with works(f"{whose}: its keys can't be hashed and sorted"):
        distinct = sorted(set(keys))
    claim(len(distinct) == len(keys), f"{whose}: a key comes twice")
    for key in keys:
        claim(
            isinstance(key, tuple) and len(key) == len(names),
            f"{whose}: the key {key!r} does not have the fields {', '.join(names)} of its record",
        )
    claim(kind.expected([run]) >= set(keys), f"{whose}: it does not expect all jobs of the run")
    costs = kind.costs(run, keys)
    claim(len(costs) == len(keys), f"{whose}: {len(keys)} jobs have {len(costs)} costs")
    claim(costs == kind.costs(run, keys), f"{whose}: its costs are others the second time")
    for key, cost in zip(keys, costs, strict=True):
        for name in ("seconds", "memory"):
            value = getattr(cost, name)
            claim(
                math.isfinite(value) and value > 0,
                f"{whose}: {label(kind.record, key)} costs {value!r} {name}",
            )
    return keys


def _check_shards(run: AnyRun, keys: Sequence[JobKey], whose: str) -> None:
    groups = kind_of(run.kind).together(keys, len(keys))
    claim(
        sorted(key for group in groups for key in group) == sorted(keys),
        f"{whose}: what it runs together is not every job, each once",
    )
    for dealt, count in product((run, dataclasses.replace(run, joined=True)), SHARDS):
        shares = [shard_keys(dealt, Shard(index + 1, count)) for index in range(count)]
        claim(
            sorted(key for share in shares for key in share) == sorted(keys),
            f"{whose}: {count} shards don't have every job, each once",
        )


def _check_record_type(kind: AnyKind, key: JobKey, whose: str) -> None:
    """Check that records know how part files keep them, also those of jobs that failed."""
    with works(f"{whose}: its record has no columns of part files"):
        arrow_schema(kind.record)
        blank = kind.record.without_result(key, "a reason")
    claim(blank.key == tuple(key), f"{whose}: the record of a failed job has the key {blank.key!r}")
    _check_kept(kind, blank, whose)


def _check_kept(kind: AnyKind, record: JobRecord, whose: str) -> None:
    """Check that a record is the same after it was a row of a file."""
    claim(isinstance(record, kind.record), f"{whose}: a record is no {kind.record.__name__}")
    read = kind.record.from_row(record.to_row())
    for field in kind.record.columns():
        value = getattr(record, field.name)
        which = f"{whose}: {field.name!r} of {label(kind.record, record.key)}"
        claim(same(value, getattr(read, field.name)), f"{which} is another when it is read back")
        if field.is_array:
            claim(
                np.asarray(value).dtype == field.item and np.ndim(value) == 1,
                f"{which} is no flat array of {field.item}",
            )


def _check_records(
    kind: AnyKind, stored: RunFolder, keys: Sequence[JobKey], whose: str
) -> list[JobRecord]:
    """Check the part files of a run in which all jobs have ended."""
    schema = arrow_schema(kind.record)
    for part in stored.parts.scan():
        claim(
            part.table.schema.remove_metadata() == schema,
            f"{whose}: the columns of {part.path} are not those of {kind.record.__name__}",
        )
    records: list[JobRecord] = list(stored.parts.records())
    claim(
        sorted(record.key for record in records) == sorted(map(tuple, keys)),
        f"{whose}: there is not one record of every job",
    )
    for record in records:
        _check_kept(kind, record, whose)
        claim(
            isinstance(kind.score(record), float),
            f"{whose}: the score of {label(kind.record, record.key)} is no float",
        )
    problems = list(problems_in(stored.path))
    claim(not problems, f"{whose}: {'; '.join(problems)}")
    status = status_of(stored)
    ended = sum(record.status == OK for record in records)
    claim(
        (status.jobs, status.done, status.missing, status.failed, status.ends[OK])
        == (len(keys), len(keys), 0, len(keys) - ended, ended),
        f"{whose}: the status of its run is {status}",
    )
    return records


def _check_resuming(stored: RunFolder, keys: Sequence[JobKey], whose: str) -> None:
    """Check that nothing is left to run; the engine is not started, so nothing could."""
    idle = LocalEngine(WorkerSettings("cpu", 1))
    with works(f"{whose}: resuming it runs jobs again"):
        report = run_shard(stored, Shard(), idle, Stop(), show=False)
    claim(
        report.before == len(keys) and not report.ends,
        f"{whose}: resuming it finds {report.before} of {len(keys)} jobs finished",
    )


def _check_again(
    kind: AnyKind,
    run: AnyRun,
    records: Sequence[JobRecord],
    folder: Path,
    data_root: str | os.PathLike[str] | None,
) -> None:
    """Check that a job has the same figures when it is done again, in this process."""
    root = None if data_root is None else str(data_root)
    place = Place("cpu", data_root=root, scratch=str(folder / SCRATCH))
    before = records[0]
    which = f"kind of job {kind.name!r}: {label(kind.record, before.key)}"
    with _one_thread(), works(f"{which} can't be done again"):
        context = kind.open(run.settings, place)
        after = context.run(before.key)
    claim(
        context.found.facts == run.facts,
        f"kind of job {kind.name!r}: a second worker finds other facts of the data",
    )
    for field in kind.record.columns():
        if field.role == "figure":
            claim(
                same(getattr(before, field.name), getattr(after, field.name)),
                f"{which}: done again, its figure {field.name!r} is another",
            )


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Compute on one thread, as workers do, for a while."""
    import torch
    from threadpoolctl import threadpool_limits

    threads = torch.get_num_threads()
    try:
        with threadpool_limits(1):
            torch.set_num_threads(1)
            yield
    finally:
        torch.set_num_threads(threads)


def _check_merging(kind: AnyKind, path: Path, folder: Path, whose: str) -> None:
    """Check that a run becomes a table of the right kind, the same one every time."""
    out, again = folder / "table", folder / "table-again"
    with works(f"{whose}: its run can't be merged"):
        merged = api.merge(path, out)
        claim(str(out) in str(merged), f"{whose}: what was merged is not said")
        api.merge(path, again)
    manifest = read_manifest(out)
    claim(
        manifest.kind == kind.table,
        f"{whose}: it says that its tables are of the kind {kind.table!r}, not {manifest.kind!r}",
    )
    claim(merged.rows == manifest.rows > 0, f"{whose}: its table has no rows")
    claim(
        manifest.files == read_manifest(again).files,
        f"{whose}: merging the same run twice gives different files",
    )
    problems = list(problems_in(out))
    claim(not problems, f"{whose}: {'; '.join(problems)}")
