"""All records of some runs, each job once: the first half of merging, whatever the kind.

Small columns are held in memory. Arrays, such as learning curves, are spilled to a scratch file
as the parts are read, and come back one by one. So memory does not grow with them.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from benchbuild.errors import BenchBuildError, MergeError, PlanError
from benchbuild.pipeline.hardware import hardware_warnings
from benchbuild.pipeline.jobs import AnyKind, AnyRun, canonical, label
from benchbuild.pipeline.parts import Part, arrays_of, keys_of
from benchbuild.pipeline.records import DETERMINED, STATUSES, JobKey
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RUN, RunFolder, differences
from benchbuild.pipeline.signals import Stop
from benchquery.errors import BenchQueryError

NAMED = 5
"""How many rows an error names before it only counts them."""
MIXED = ". Shards are not the same in all folders: only some were begun with --batch"
"""Why jobs may be missing, although every shard was run."""


@dataclass(frozen=True)
class Collection:
    """The records of one or several runs with the same settings.

    Attributes:
        kind: Their kind.
        runs: The runs.
        folders: Where each of them is.
        table: The columns that are no arrays, sorted by key, each job once.
        missing: Jobs that should be there and are not, sorted.
        arrays: The array columns by name; row by row as in the table.
    """

    kind: AnyKind
    runs: tuple[AnyRun, ...]
    folders: tuple[Path, ...]
    table: pa.Table
    missing: tuple[JobKey, ...]
    arrays: dict[str, SpilledColumn]

    @property
    def run(self) -> AnyRun:
        """One of the runs, for the settings and facts that all share."""
        return self.runs[0]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know of the records before comparing them."""
        return tuple(hardware_warnings(self.table))

    def records(self) -> Iterator[Any]:
        """Give the records one by one, arrays included, as the type that their kind has."""
        for row in range(self.table.num_rows):
            scalars = self.table.slice(row, 1).to_pylist()[0]
            arrays = {name: column[row] for name, column in self.arrays.items()}
            yield self.kind.record.from_row(scalars | arrays)


class Spill:
    """Arrays on disk, in the order in which they came; gone when this object is.

    Args:
        folder: Where to put them.
        dtype: The type of their entries.
        stop: Says when to give up.
    """

    def __init__(self, folder: Path, dtype: str, stop: Stop) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  (lives as long as this)
        self._dtype = np.dtype(dtype)
        self._ends = [0]
        self._stop = stop

    def add(self, array: np.ndarray) -> None:
        """Append an array."""
        self._stop.check()
        self._file.write(array.tobytes())
        self._ends.append(self._ends[-1] + array.nbytes)

    def get(self, position: int) -> np.ndarray:
        """Return the array that came at a position."""
        self._stop.check()
        start, end = self._ends[position], self._ends[position + 1]
        self._file.flush()
        return np.frombuffer(os.pread(self._file.fileno(), end - start, start), self._dtype)


@dataclass(frozen=True)
class SpilledColumn:
    """An array column whose rows lie in a spill.

    Attributes:
        spill: Where they lie.
        positions: The position there of every row.
    """

    spill: Spill
    positions: Sequence[int]

    def __getitem__(self, row: int) -> np.ndarray:
        return self.spill.get(self.positions[row])


def collect(
    folders: Sequence[RunFolder],
    scratch: Path,
    *,
    stop: Stop,
    allow_gaps: bool = False,
    show: bool = False,
) -> Collection:
    """Gather the records of some runs.

    A job that was run twice counts once. Its records must have the same figures; of such ones
    the choice does not depend on the order of the parts. A record that ended for reasons of the
    machine (oom, failed) gives way to one that did not.

    Args:
        folders: The runs.
        scratch: A folder on a disk with room for all arrays.
        stop: Says when to give up.
        allow_gaps: Whether jobs may be missing.
        show: Whether to show on standard error how far it is.

    Raises:
        Stopped: If that was asked for, also whenever an array is read from the collection.
        MergeError: If settings or datasets are mixed, records are in conflict, or jobs are
            missing; the rows are named.
        CorruptPartError: If a part is damaged; it is named.
    """
    _check_same_settings(folders)
    runs = tuple(folder.run for folder in folders)
    kind = kind_of(runs[0].kind)
    records = _Records(kind, scratch, stop)
    for folder in folders:
        for part in tqdm(folder.parts.scan(), f"reading {folder.path}", disable=not show):
            records.add(part)
    chosen = records.choose()
    _check_found(folders[0])
    missing = tuple(sorted(_expected(folders) - chosen.keys()))
    if missing and not allow_gaps:
        names = [label(kind.record, key) for key in missing]
        why = MIXED if len({run.joined for run in runs}) > 1 else ""
        raise MergeError(
            f"{_count(missing, 'job')} missing: {_some(names)}. "
            f"Run the shards that lack them, or merge with --allow-gaps{why}"
        )
    if not chosen:
        raise MergeError(f"there are no records in {', '.join(str(f.path) for f in folders)}")
    return records.collection(folders, chosen, missing)


def _check_same_settings(folders: Sequence[RunFolder]) -> None:
    """Refuse runs that differ in anything that decides a figure."""
    first = folders[0]
    for other in folders[1:]:
        there, here = (
            {**folder.run.in_full, "jobs": None, "about": None} for folder in (first, other)
        )
        if found := list(differences(there, here)):
            raise MergeError(
                f"the records in {other.path} can't be in one table with those in {first.path}: "
                f"{'; '.join(found)} (there is {first.path}, here is {other.path})"
            )


def _check_found(folder: RunFolder) -> None:
    """Refuse a run that does not say of its data what a table has to say."""
    try:
        kind_of(folder.run.kind).check_found(folder.run, whole=True)
    except PlanError as error:
        raise MergeError(f"{folder.path / RUN}: {error}") from error


def _expected(folders: Sequence[RunFolder]) -> set[JobKey]:
    """List the jobs that a table of some runs should have."""
    runs = [folder.run for folder in folders]
    try:
        return kind_of(runs[0].kind).expected(runs)
    except (BenchBuildError, BenchQueryError) as error:
        files = " and ".join(str(folder.path / RUN) for folder in folders)
        raise MergeError(f"{files}: {error}") from error


class _Records:
    """Records as they are read: small columns in memory, arrays on disk."""

    def __init__(self, kind: AnyKind, scratch: Path, stop: Stop) -> None:
        fields = kind.record.columns()
        self._kind = kind
        self._scalars = [field for field in fields if not field.is_array]
        self._spills = {
            field.name: Spill(scratch, field.item, stop) for field in fields if field.is_array
        }
        self._decided = {field.name for field in fields if field.role == "figure"}
        self._tables: list[pa.Table] = []
        self._figures: list[bytes] = []
        self._paths: list[Path] = []
        self._rows: defaultdict[JobKey, list[int]] = defaultdict(list)

    def add(self, part: Part) -> None:
        """Take in the records of a part."""
        for row, key in enumerate(keys_of(self._kind.record, part.table), start=len(self._paths)):
            self._rows[key].append(row)
        figures = [field.name for field in self._scalars if field.name in self._decided]
        values = zip(*(part.table.column(name).to_pylist() for name in figures), strict=True)
        digests = [hashlib.blake2b(repr(row).encode(), digest_size=16) for row in values]
        for name, spill in self._spills.items():
            for digest, array in zip(digests, arrays_of(part.table.column(name)), strict=True):
                if name in self._decided:
                    digest.update(array.tobytes())
                spill.add(array)
        self._figures += [digest.digest() for digest in digests]
        self._paths += [part.path] * len(digests)
        self._tables.append(part.table.select([field.name for field in self._scalars]))

    def choose(self) -> dict[JobKey, int]:
        """Choose one row for every job.

        Raises:
            MergeError: If records of one job have different figures.
        """
        table = pa.concat_tables(self._tables) if self._tables else None
        chosen: dict[JobKey, int] = {}
        conflicts: list[str] = []
        for key, rows in self._rows.items():
            chosen[key] = rows[0]
            if table is None or len(rows) == 1:
                continue
            records = dict(zip(rows, table.take(rows).to_pylist(), strict=True))
            chosen[key] = min(rows, key=lambda row: _rank(records[row]))
            determined = [row for row in rows if records[row]["status"] in DETERMINED]
            if len({self._figures[row] for row in determined}) > 1:
                places = sorted({str(self._paths[row]) for row in determined})
                conflicts.append(f"{label(self._kind.record, key)} in {' and '.join(places)}")
        if conflicts:
            raise MergeError(
                f"{_count(conflicts, 'job')} with records that contradict each other: "
                f"{_some(sorted(conflicts))}. They were made on different devices or with "
                "different libraries: keep one part of each"
            )
        return chosen

    def collection(
        self, folders: Sequence[RunFolder], chosen: dict[JobKey, int], missing: tuple[JobKey, ...]
    ) -> Collection:
        """Return the chosen records in the order of their keys."""
        rows = [chosen[key] for key in sorted(chosen)]
        return Collection(
            kind=self._kind,
            runs=tuple(folder.run for folder in folders),
            folders=tuple(folder.path for folder in folders),
            table=pa.concat_tables(self._tables).take(rows).combine_chunks(),
            missing=missing,
            arrays={name: SpilledColumn(spill, rows) for name, spill in self._spills.items()},
        )


def _rank(row: Mapping[str, Any]) -> tuple[int, str]:
    """Order the records of one job: the best status first, then by content alone."""
    return STATUSES.index(row["status"]), canonical(row)


def _count(things: Sequence[object], noun: str) -> str:
    return f"{len(things):,} {noun}{'' if len(things) == 1 else 's'}"


def _some(names: Sequence[str]) -> str:
    """Name the first few of many."""
    more = len(names) - NAMED
    return "; ".join(names[:NAMED]) + (f"; and {more:,} more" if more > 0 else "")
