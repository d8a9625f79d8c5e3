"""The summary file: a Parquet file whose columns are also plain arrays.

Any Parquet reader opens it. The columns are written without compression, each as one
plain page without nulls, so a column's bytes in the file are the bytes of its array.
The manifest records where they start. Opening a table then takes no Parquet reader and
no parsing: one read, one checksum, and a view for each column that is asked for.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import CorruptTableError, UnknownNameError
from benchquery.table.files import read_regular
from benchquery.table.kind import TableKind
from benchquery.table.manifest import (
    SUMMARY,
    Manifest,
    StoredColumn,
    check_size,
    check_sum,
    plain_size,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from benchquery._typing import Array
else:
    np = LazyModule("numpy")
    pa = LazyModule("pyarrow")
    pq = LazyModule("pyarrow.parquet")

_FORMATS = {"int32": "i", "int64": "q", "float32": "f", "float64": "d"}
"""By type of plain numbers: the letter that a memoryview knows it by."""


def write_columns(
    path: Path, columns: Mapping[str, Array], kind: TableKind
) -> tuple[StoredColumn, ...]:
    """Write arrays of one length as a summary file.

    Args:
        path: The file to write.
        columns: Arrays by column name; each name must be in the schema, and its values of a
            type that the schema's type can hold.
        kind: What the rows are.

    Returns:
        The columns as the manifest lists them.
    """
    described = [kind.column(name) for name in columns]
    columns = {
        c.name: columns[c.name]
        if c.dtype == "string"
        else columns[c.name].astype(c.dtype, casting="same_kind", copy=False)
        for c in described
    }
    schema = pa.schema(
        [pa.field(c.name, pa.type_for_alias(c.dtype), nullable=False) for c in described]
    )
    arrays = [
        pa.array(values, type=field.type)
        for values, field in zip(columns.values(), schema, strict=True)
    ]
    rows = len(arrays[0])
    pq.write_table(
        pa.table(arrays, schema=schema),
        path,
        compression="NONE",
        use_dictionary=False,
        row_group_size=max(rows, 1),
        data_page_size=1 << 30,
        max_rows_per_page=max(rows, 1),
    )
    blob = path.read_bytes()
    return tuple(
        StoredColumn(
            **vars(description),
            offset=None if description.dtype == "string" else _find(blob, columns[name]),
        )
        for name, description in zip(columns, described, strict=True)
    )


def _find(blob: bytes, values: Array) -> int | None:
    """Return where a column's plain bytes stand in the file, if they do."""
    plain = np.packbits(values, bitorder="little") if values.dtype == bool else values
    offset = blob.find(plain.tobytes())
    return offset if offset >= 0 else None


class ColumnSet(Mapping[str, "Array"]):
    """Columns of one length by name, as read-only arrays and as plain Python values."""

    @property
    def whole(self) -> ColumnSet:
        """The columns of the whole table, of which these may be some rows."""
        return self

    def cells(self, name: str) -> Sequence[Any]:
        """Return a column as a sequence of plain Python values.

        A memoryview gives them out several times faster than an array does.
        """
        values = self[name]
        return values.tolist() if values.dtype.hasobject else values.data


class Selection(ColumnSet):
    """Some rows of other columns, each taken when first asked for.

    Args:
        columns: The columns.
        rows: The positions of the rows, in the order wanted.
    """

    def __init__(self, columns: ColumnSet, rows: Array) -> None:
        self._columns = columns
        self._rows = rows
        self._taken: dict[str, Array] = {}

    @property
    def whole(self) -> ColumnSet:
        """The columns of the whole table."""
        return self._columns.whole

    def __reduce__(self) -> tuple[Any, ...]:
        return Selection, (self._columns, self._rows)

    def __getitem__(self, name: str) -> Array:
        if name not in self._taken:
            values = self._columns[name][self._rows]
            values.flags.writeable = False
            self._taken[name] = values
        return self._taken[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


class _Bits(Sequence[bool]):
    """A column of booleans that are packed into bits."""

    def __init__(self, packed: memoryview, rows: int) -> None:
        self._packed = packed
        self._rows = rows

    def __getitem__(self, row: Any) -> Any:
        return bool(self._packed[row // 8] >> row % 8 & 1)

    def __len__(self) -> int:
        return self._rows


class FileColumns(ColumnSet):
    """The columns of a summary file, each made when first asked for.

    Args:
        folder: The folder of the table.
        manifest: Its manifest.

    Raises:
        CorruptTableError: If the file is not the one that the manifest describes.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        expected = manifest.files[SUMMARY]
        self._path = check_size(folder, SUMMARY, expected)
        try:
            self._content = read_regular(self._path)
        except OSError as error:
            raise CorruptTableError(f"{self._path} can't be read: {error.strerror}") from error
        check_sum(self._path, hashlib.sha256(self._content).hexdigest(), expected)
        self._rows = manifest.rows
        self._stored = {column.name: column for column in manifest.columns}
        self._arrays: dict[str, Array] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the checked bytes, and none of the views made of them."""
        return {**vars(self), "_arrays": {}}

    def __getitem__(self, name: str) -> Array:
        if name not in self._arrays:
            column = self._described(name)
            array = self._decode(column) if column.offset is None else self._view(column)
            array.flags.writeable = False
            self._arrays[name] = array
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def cells(self, name: str) -> Sequence[Any]:
        """Return a column as plain Python values, without numpy where it is plain."""
        column = self._described(name)
        if column.offset is None:
            return super().cells(name)
        plain = self._plain(column, column.offset)
        if column.dtype == "bool":
            return _Bits(plain, self._rows)
        return plain.cast(_FORMATS[column.dtype])  # type: ignore[call-overload, no-any-return]

    def _described(self, name: str) -> StoredColumn:
        if name not in self._stored:
            raise UnknownNameError(
                f"{self._path} has no column {name!r}; it has {', '.join(self._stored)}"
            )
        return self._stored[name]

    def _plain(self, column: StoredColumn, offset: int) -> memoryview:
        """Return the bytes of a plain column; the manifest was checked to place it in the file."""
        size = plain_size(column.dtype, self._rows)
        return memoryview(self._content)[offset : offset + size]

    def _view(self, column: StoredColumn) -> Array:
        """Return a plain column as an array, copied only where it is not aligned."""
        plain = self._plain(column, column.offset or 0)
        if column.dtype == "bool":
            bits = np.frombuffer(plain, np.uint8)
            return np.unpackbits(bits, count=self._rows, bitorder="little").view(bool)
        return np.require(np.frombuffer(plain, column.dtype), requirements=["ALIGNED"])

    def check(self) -> None:
        """Compare the manifest with the Parquet file: the columns, their types and every value.

        Raises:
            CorruptTableError: If a Parquet reader finds something else than is served.
        """
        with self._reading("it") as reader:
            names = reader.schema_arrow.names
        if names != list(self._stored):
            odd = sorted(set(names) ^ self._stored.keys())
            raise CorruptTableError(
                f"{self._path} has other columns than the manifest says, or in another order: "
                f"{', '.join(odd) or ', '.join(names)}"
            )
        for name, column in self._stored.items():
            decoded = self._decode(column, reader)
            if column.offset is not None and self._view(column).tobytes() != decoded.tobytes():
                raise CorruptTableError(
                    f"{self._path}: the manifest places column {name!r} at {column.offset}, where "
                    "other values stand than a Parquet reader finds"
                )

    def _decode(self, column: StoredColumn, reader: pq.ParquetFile | None = None) -> Array:
        """Read an encoded column with a Parquet reader: one at hand, or else a new one.

        Without threads: a process that ends while Arrow still starts them is aborted.
        """
        with self._reading(f"column {column.name!r}", reader) as file:
            values = file.read(columns=[column.name], use_threads=False).column(column.name)
            array: Array = values.to_numpy()
        if len(array) != self._rows or values.null_count:
            raise CorruptTableError(
                f"{self._path}: column {column.name!r} has {len(array):,} rows, "
                f"{values.null_count:,} of them empty; the manifest says {self._rows:,}"
            )
        if values.type != pa.type_for_alias(column.dtype):
            raise CorruptTableError(
                f"{self._path}: column {column.name!r} is of the type {values.type}, the manifest "
                f"says {column.dtype}"
            )
        return array.copy()

    @contextlib.contextmanager
    def _reading(self, what: str, reader: pq.ParquetFile | None = None) -> Iterator[pq.ParquetFile]:
        """Give a Parquet reader, the one at hand or a new one; what goes wrong with it is damage.

        Readers are not kept: threads may read a table at the same time, but not one reader.
        """
        try:
            yield reader or pq.ParquetFile(pa.BufferReader(self._content), pre_buffer=False)
        except (pa.ArrowException, OSError, KeyError, ValueError, MemoryError) as error:
            raise CorruptTableError(f"{self._path}: {what} can't be read: {error}") from error
