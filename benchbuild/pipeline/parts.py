"""Part files: where finished records land, one immutable Parquet file after the other.

A part is named after the SHA-256 of its bytes, so a truncated or changed one is found by reading
it and named in the error. It is written aside, synced and renamed, so it is there whole or not at
all. Small parts are gathered into bigger ones as a run goes on: the big one is in place before
the small ones go, so a kill in between leaves some records twice, which does no harm.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchbuild.errors import CorruptPartError, RunFolderError
from benchbuild.pipeline.files import files_in, remove_leftovers, set_aside, write_whole
from benchbuild.pipeline.jobs import AnyKind
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.records import STATUSES, JobKey, JobRecord
from benchquery.table.files import read_regular
from benchquery.table.sealed import parse_object

SUFFIX = ".parquet"
DAMAGED = ".damaged"
PART_ROWS = 512
"""Records of a full part."""
SMALL_PARTS = 256
"""How many small parts may lie about before they are gathered."""

R = TypeVar("R", bound=JobRecord)

_METADATA = b"graphtab"
_DIGITS = 32


@dataclass(frozen=True)
class Part:
    """The content of a part file.

    Attributes:
        path: The file.
        shard: The shard whose runner wrote it, as text.
        table: Its records, or some columns of them.
    """

    path: Path
    shard: str
    table: pa.Table


def arrow_schema(record: type[JobRecord]) -> pa.Schema:
    """Return the columns of the part files of some records."""
    return pa.schema(
        [
            pa.field(field.name, _arrow_type(field.dtype), nullable=False)
            for field in record.columns()
        ]
    )


def _arrow_type(dtype: str) -> pa.DataType:
    if dtype.endswith("[]"):
        return pa.list_(pa.field("item", pa.type_for_alias(dtype[:-2]), nullable=False))
    return pa.type_for_alias(dtype)


def keys_of(record: type[JobRecord], table: pa.Table) -> list[JobKey]:
    """Return the key of every row."""
    columns = (table.column(name).to_pylist() for name in record.key_names())
    return list(zip(*columns, strict=True))


def records_in(record: type[R], table: pa.Table) -> Iterator[R]:
    """Read the records of a part, arrays included."""
    names = [field.name for field in record.columns() if field.is_array]
    arrays = {name: arrays_of(table.column(name)) for name in names}
    for row, scalars in enumerate(table.drop_columns(names).to_pylist()):
        yield record.from_row(scalars | {name: arrays[name][row] for name in names})


def arrays_of(column: pa.ChunkedArray) -> list[np.ndarray]:
    """Return the arrays of an array column, one a row, without copying them."""
    arrays: list[np.ndarray] = []
    for chunk in column.chunks:
        values = chunk.values.to_numpy()
        offsets = chunk.offsets.to_numpy()
        arrays += [values[start:end] for start, end in pairwise(offsets)]
    return arrays


class Parts:
    """The part files of one run, as one runner sees them. Not for several threads at once.

    Args:
        folder: The folder that holds them.
        kind: The kind of their records.
        run_digest: Identity of the run; a part of another run is refused.
    """

    def __init__(self, folder: Path, kind: AnyKind, run_digest: str) -> None:
        self.folder = folder
        self._kind = kind
        self._run_digest = run_digest
        self._record = kind.record
        self._schema = arrow_schema(kind.record)
        self._small: list[Path] = []

    # ---------------------------------------------------------------- reading

    def paths(self) -> list[Path]:
        """List the part files in the order of their names.

        Raises:
            RunFolderError: If they can't be listed.
        """
        return files_in(self.folder, f"*{SUFFIX}")

    def read(self, path: Path, columns: Sequence[str] | None = None) -> Part:
        """Read a part and compare it with its checksum.

        Args:
            path: The file.
            columns: Which columns; None for all.

        Raises:
            CorruptPartError: If it is damaged or of another run.
            RunFolderError: If it can't be read at all.
            FileNotFoundError: If it is gone, as after gathering.
        """
        try:
            content = read_regular(path, follow=True)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise RunFolderError(f"can't read the part {path}: {error.strerror}") from error
        found = hashlib.sha256(content).hexdigest()[:_DIGITS]
        if found != path.name.removesuffix(SUFFIX):
            raise CorruptPartError(
                f"{path} is damaged: its SHA-256 starts with {found}, its name says otherwise "
                f"({len(content):,} bytes). Delete it and run its shard again"
            )
        try:
            file = pq.ParquetFile(pa.BufferReader(content))
            about = parse_object(file.schema_arrow.metadata[_METADATA])
            table = file.read(columns=columns, use_threads=False)
            if any(not isinstance(about[name], str) for name in ("run", "kind", "shard")):
                raise ValueError("it does not say what run it is of")
            if not file.schema_arrow.equals(self._schema):
                table = self._completed(file.schema_arrow, table, columns)
            if "status" in table.column_names:
                ends = set(table.column("status").unique().to_pylist())
                if ends - set(STATUSES):
                    raise ValueError(f"jobs can't end as {', '.join(sorted(ends - set(STATUSES)))}")
        except (pa.ArrowException, OSError, LookupError, TypeError, ValueError) as error:
            raise CorruptPartError(f"{path} is no part file: {error}") from error
        if about["run"] != self._run_digest:
            raise CorruptPartError(
                f"{path} belongs to another run, with other settings or data: it was written for "
                f"{about['run'][:12]}..., this folder is {self._run_digest[:12]}... "
                "Move it to its own folder"
            )
        return Part(path, about["shard"], table)

    def _completed(
        self, found: pa.Schema, table: pa.Table, columns: Sequence[str] | None
    ) -> pa.Table:
        """Add the columns that came after a part was written, blank, and no others.

        Raises:
            ValueError: If it has other columns than its kind had then.
        """
        late = [field for field in self._record.columns() if field.late]
        lacking = [field for field in late if field.name not in found.names]
        then = [field for field in self._schema if field.name not in {one.name for one in lacking}]
        if not lacking or not found.equals(pa.schema(then)):
            raise ValueError(f"it has the columns {', '.join(found.names)}")
        for field in lacking:
            if columns is None or field.name in columns:
                place = self._schema.get_field_index(field.name) if columns is None else 0
                blank = pa.array([field.blank] * len(table), type=_arrow_type(field.dtype))
                table = table.add_column(place, self._schema.field(field.name), blank)
        return table if columns is None else table.select(columns)

    def scan(self, columns: Sequence[str] | None = None) -> Iterator[Part]:
        """Read all parts, those that appear meanwhile included.

        Raises:
            CorruptPartError: If one is damaged or of another run.
        """
        seen: set[Path] = set()
        while fresh := [path for path in self.paths() if path not in seen]:
            seen.update(fresh)
            for path in fresh:
                try:
                    yield self.read(path, columns)
                except FileNotFoundError:
                    continue

    def records(self) -> Iterator[Any]:
        """Read all records, as the type that their kind has.

        Raises:
            CorruptPartError: If a part is damaged or of another run.
        """
        for part in self.scan():
            yield from records_in(self._record, part.table)

    # ---------------------------------------------------------------- writing

    def resume(self, shard: Shard) -> tuple[dict[JobKey, str], list[str]]:
        """Prepare to write for a shard: clean up, and find out what is done.

        Damaged parts are set aside under another name, so that their jobs run again.

        Returns:
            The status of every finished job, and what was found damaged.

        Raises:
            WriteError: If the folder can't be written to.
        """
        remove_leftovers(self.folder, shard.slug)
        done: dict[JobKey, str] = {}
        damaged: list[str] = []
        self._small = []
        for path in self.paths():
            try:
                part = self.read(path, [*self._record.key_names(), "status"])
            except FileNotFoundError:
                continue
            except CorruptPartError as error:
                set_aside(path, DAMAGED)
                damaged.append(str(error))
                continue
            statuses = part.table.column("status").to_pylist()
            for key, status in zip(keys_of(self._record, part.table), statuses, strict=True):
                done[key] = better(status, done.get(key))
            if part.shard == str(shard) and part.table.num_rows < PART_ROWS:
                self._small.append(path)
        return done, damaged

    def add(self, shard: Shard, records: Sequence[JobRecord]) -> Path:
        """Write finished records as one part; they are safe when this returns.

        Raises:
            WriteError: If they can't be written.
        """
        rows = [record.to_row() for record in records]
        columns = [
            pa.array([row[field.name] for row in rows], type=field.type) for field in self._schema
        ]
        path = self._write(shard, pa.table(columns, schema=self._schema))
        self._small.append(path)
        if len(self._small) >= SMALL_PARTS:
            self.gather(shard)
        return path

    def gather(self, shard: Shard) -> None:
        """Replace the small parts of a shard by big ones.

        Raises:
            WriteError: If a big one can't be written; the small ones are still there then.
        """
        if len(self._small) < 2:
            return
        small = []
        for path in self._small:
            with contextlib.suppress(FileNotFoundError):
                small.append(self.read(path).table)
        table = pa.concat_tables([self._schema.empty_table(), *small]).sort_by(
            [(name, "ascending") for name in self._record.key_names()]
        )
        pieces = [table.slice(start, PART_ROWS) for start in range(0, len(table), PART_ROWS)]
        written = [self._write(shard, piece) for piece in pieces]
        for path in set(self._small) - set(written):
            path.unlink(missing_ok=True)
        self._small = [
            path for path, piece in zip(written, pieces, strict=True) if piece.num_rows < PART_ROWS
        ]

    def _write(self, shard: Shard, table: pa.Table) -> Path:
        about = {"run": self._run_digest, "kind": self._kind.name, "shard": str(shard)}
        arrays = [f"{f.name}.list.element" for f in self._schema if pa.types.is_list(f.type)]
        texts = [f.name for f in self._schema if pa.types.is_string(f.type)]
        sink = pa.BufferOutputStream()
        pq.write_table(
            table.replace_schema_metadata({_METADATA: json.dumps(about).encode()}),
            sink,
            compression="zstd",
            use_dictionary=texts,
            use_byte_stream_split=arrays,
        )
        content = sink.getvalue().to_pybytes()
        name = hashlib.sha256(content).hexdigest()[:_DIGITS] + SUFFIX
        write_whole(self.folder / name, content, owner=shard.slug)
        return self.folder / name


def better(status: str, other: str | None) -> str:
    """Return the status that counts when a job was run twice."""
    return status if other is None else min(status, other, key=STATUSES.index)
