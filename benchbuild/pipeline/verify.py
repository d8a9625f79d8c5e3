"""Checks a table or a run from end to end, and names everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchbuild.errors import CorruptPartError, RunFolderError
from benchbuild.pipeline.files import is_there
from benchbuild.pipeline.jobs import AnyRun, label
from benchbuild.pipeline.parts import records_in
from benchbuild.pipeline.registry import kind_of, writers
from benchbuild.pipeline.runfolder import RUN, RunFolder
from benchquery.errors import BenchQueryError
from benchquery.table import store
from benchquery.table.manifest import MANIFEST


def problems_in(folder: Path) -> Iterator[str]:
    """Check a table or the folder of a run.

    Yields:
        A sentence for every problem; none if all is well.

    Raises:
        RunFolderError: If the folder is neither.
    """
    if is_there(folder / MANIFEST):
        yield from _table_problems(folder)
    elif is_there(folder / RUN):
        yield from run_problems(RunFolder.open(folder))
    else:
        raise RunFolderError(
            f"{folder} is neither a table (no {MANIFEST}) nor the folder of a run (no {RUN})"
        )


def run_problems(folder: RunFolder) -> Iterator[str]:
    """Check every part and every record of a run."""
    kind = kind_of(folder.run.kind)
    planned = set(folder.job_keys())
    parts = folder.parts
    for path in parts.paths():
        try:
            table = parts.read(path).table
        except CorruptPartError as error:
            yield str(error)
            continue
        except FileNotFoundError:
            # A run under way has gathered it into a bigger part, and checked it for that.
            continue
        for record in records_in(kind.record, table):
            where = f"{path}: {label(kind.record, record.key)}"
            if record.key not in planned:
                yield f"{where}: it is not a job of this run"
            yield from (f"{where}: {problem}" for problem in _record_problems(folder.run, record))


def _record_problems(run: AnyRun, record: Any) -> list[str]:
    """Say what is wrong with a record, also where it is nothing that its kind could have made."""
    try:
        return list(kind_of(run.kind).problems(run, record))
    except Exception as error:
        return [f"it can't be read: {type(error).__name__}: {error}"]


def _table_problems(folder: Path) -> Iterator[str]:
    """Check the files and rows of a table, then what the kinds of job that write such ones know."""
    try:
        table = store.verify(folder).kind
        for kind in writers(table):
            yield from kind.table_problems(folder)
    except BenchQueryError as error:
        yield str(error)
