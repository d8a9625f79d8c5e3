"""Damaged run folders of every kind: what is run, its parts, and the files of its shards."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from benchbuild.errors import CorruptPartError
from benchbuild.fuzzing.judging import fuzz_folders
from benchbuild.fuzzing.outcome import Outcome
from benchbuild.fuzzing.sample_runs import SHARD, write_runs
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.pipeline.status import status_of
from benchbuild.pipeline.verify import problems_in


def fuzz(trials: int, seed: int, folder: Path) -> Outcome:
    """Damage runs of every kind, read, verify and resume them; see `fuzz_folders`."""
    samples = write_runs(folder / "samples")
    return fuzz_folders(samples, (_status, _verify, _records, _resume), trials, seed, folder)


def _status(folder: Path) -> Any:
    """Return what is run, and how far it is."""
    begun = RunFolder.open(folder)
    status = status_of(begun)
    if status.damaged:
        raise CorruptPartError(status.damaged[0])
    return [begun.run.body, begun.run.digest, dataclasses.astuple(status)]


def _verify(folder: Path) -> Any:
    """Return nothing if all is well."""
    for problem in problems_in(folder):
        raise CorruptPartError(problem)


def _records(folder: Path) -> Any:
    """Return all records, as merging reads them."""
    rows = (record.to_row() for record in RunFolder.open(folder).parts.records())
    return sorted(repr({name: _plain(value) for name, value in row.items()}) for row in rows)


def _plain(value: Any) -> Any:
    """Return an array as bytes and all else as it is."""
    return (str(value.dtype), value.tobytes()) if hasattr(value, "dtype") else value


def _resume(folder: Path) -> Any:
    """Return what is done, as a run that goes on sees it; this sets damaged parts aside."""
    done, damaged = RunFolder.open(folder).parts.resume(SHARD)
    if damaged:
        raise CorruptPartError(damaged[0])
    return done
