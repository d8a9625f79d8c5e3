"""Runs become a table: all of it or nothing, the same bytes whatever the order of the parts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbuild.errors import BenchBuildError, CorruptPartError, MergeError
from benchbuild.pipeline.collect import collect
from benchbuild.pipeline.files import cannot_write
from benchbuild.pipeline.jobs import AnyKind
from benchbuild.pipeline.records import JobKey
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.pipeline.signals import Stop
from benchbuild.pipeline.verify import run_problems
from benchquery.errors import BenchQueryError
from benchquery.table.manifest import read_manifest
from benchquery.table.writer import new_table


@dataclass(frozen=True)
class Merged:
    """A table that was made of some runs.

    Attributes:
        path: Its folder.
        kind: The kind of the jobs that it was made of.
        rows: How many rows it has.
        missing: The jobs that should be in it and are not.
        warnings: What to know of the records before comparing them.
    """

    path: Path
    kind: AnyKind
    rows: int
    missing: tuple[JobKey, ...]
    warnings: tuple[str, ...] = ()

    @property
    def contents(self) -> str:
        """What the table holds: so many of what."""
        return self.kind.contents(read_manifest(self.path), self.path)

    def __str__(self) -> str:
        """Say where the table is, what it holds, and what is missing."""
        gaps = f", {len(self.missing):,} jobs missing" if self.missing else ""
        return f"{self.path}: {self.contents} on {read_manifest(self.path).name!r}{gaps}"


def merge(
    folders: Sequence[Path],
    out: Path,
    *,
    allow_gaps: bool = False,
    replace: bool = False,
    stop: Stop | None = None,
    show: bool = False,
) -> Merged:
    """Merge the records of some run folders into a table.

    Args:
        folders: Folders of runs with the same settings and data.
        out: The folder of the table to write.
        allow_gaps: Whether jobs may be missing.
        replace: Whether a table that is already there may go.
        stop: Says when to give up; nothing is written then.
        show: Whether to show on standard error how far it is.

    Returns:
        What was written, and which jobs are missing.

    Raises:
        MergeError: If settings are mixed, records contradict each other, or jobs are missing.
        CorruptPartError: If a part is damaged, or holds records that no job can have written.
        RunFolderError: If a folder is not that of a run.
        QueryError: If something is already at `out`.
        WriteError: If the table can't be written.
        Stopped: If that was asked for.
    """
    if not folders:
        raise MergeError("name at least one run folder to merge")
    real = [Path(os.path.realpath(folder)) for folder in folders]
    if len(set(real)) < len(folders):
        raise MergeError("a run folder is named twice")
    for folder, place in zip(folders, real, strict=True):
        if place.is_relative_to(os.path.realpath(out)):
            raise MergeError(f"the table can't be written to {out}: the run {folder} is there")
    runs = [RunFolder.open(folder) for folder in folders]
    try:
        with new_table(out, replace=replace) as stage:
            collection = collect(
                runs, stage.parent, allow_gaps=allow_gaps, stop=stop or Stop(), show=show
            )
            collection.kind.write_table(collection, stage)
    except (BenchBuildError, BenchQueryError):
        raise
    except OSError as error:
        raise cannot_write(out, error) from error
    except Exception as error:
        _blame_records(runs, error)
        raise
    rows = read_manifest(out).rows
    return Merged(out, collection.kind, rows, collection.missing, collection.warnings)


def _blame_records(runs: Sequence[RunFolder], error: Exception) -> None:
    """Name the first record that no job can have written, if that is why there is no table.

    Raises:
        CorruptPartError: If there is one.
    """
    for folder in runs:
        for problem in run_problems(folder):
            raise CorruptPartError(problem) from error
