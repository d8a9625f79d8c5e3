"""The summary file: a Parquet file whose columns are also plain arrays.

Any Parquet reader opens it. The columns are written without compression, each as one
plain page without nulls, so a column's bytes in the file are the bytes of its array.
The manifest records where they start. Opening a table then takes no Parquet reader and
no parsing: one read, one checksum, and a view for each column that is asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchquery._imports import LazyModule
from benchquery.errors import CorruptTableError
from benchquery.manifest import SUMMARY, Manifest, StoredColumn, check_size, check_sum
from benchquery.schema import column as schema_column

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa = LazyModule("pyarrow")
    pq = LazyModule("pyarrow.parquet")

Array = npt.NDArray[Any]


def write_columns(path: Path, columns: Mapping[str, Array]) -> tuple[StoredColumn, ...]:
    """Write arrays of one length as a summary file.

    Args:
        path: The file to write.
        columns: Arrays by column name; each name must be in the schema.

    Returns:
        The columns as the manifest lists them.
    """
    described = [schema_column(name) for name in columns]
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


class Columns(Mapping[str, Array]):
    """The columns of a summary file as read-only arrays, each made when first asked for.

    Args:
        folder: The folder of the table.
        manifest: Its manifest.

    Raises:
        CorruptTableError: If the file is not the one that the manifest describes.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        expected = manifest.files[SUMMARY]
        self._path = check_size(folder, SUMMARY, expected)
        self._blob = self._path.read_bytes()
        check_sum(self._path, hashlib.sha256(self._blob).hexdigest(), expected)
        self._rows = manifest.rows
        self._stored = {column.name: column for column in manifest.columns}
        self._arrays: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if name not in self._arrays:
            column = self._stored[name]
            array = self._decode(column) if column.offset is None else self._view(column)
            array.flags.writeable = False
            self._arrays[name] = array
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def _view(self, column: StoredColumn) -> Array:
        """View a plain column in the bytes of the file, or copy it if it is not aligned."""
        try:
            if column.dtype == "bool":
                bits = np.frombuffer(
                    self._blob, np.uint8, count=-(-self._rows // 8), offset=column.offset or 0
                )
                return np.unpackbits(bits, count=self._rows, bitorder="little").view(bool)
            values = np.frombuffer(
                self._blob, np.dtype(column.dtype), count=self._rows, offset=column.offset or 0
            )
            return np.require(values, requirements=["ALIGNED"])
        except (ValueError, TypeError) as error:
            raise CorruptTableError(
                f"{self._path}: the manifest places column {column.name!r} outside the file "
                f"or gives it no known type: {error}"
            ) from error

    def _decode(self, column: StoredColumn) -> Array:
        """Read an encoded column with a Parquet reader."""
        try:
            table = pq.read_table(self._path, columns=[column.name])
            array: Array = table.column(column.name).to_numpy()
        except (pa.ArrowException, OSError, KeyError) as error:
            raise CorruptTableError(
                f"{self._path}: column {column.name!r} can't be read: {error}"
            ) from error
        if len(array) != self._rows:
            raise CorruptTableError(
                f"{self._path}: column {column.name!r} has {len(array):,} rows, "
                f"the manifest says {self._rows:,}"
            )
        return array.copy()
