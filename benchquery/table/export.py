"""Tables as files for other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.table.files import written_aside
from benchquery.text import to_json

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    from benchquery.table.rows import RowTable
else:
    pa_csv = LazyModule("pyarrow.csv")
    pq = LazyModule("pyarrow.parquet")


def _write_csv(table: pa.Table, path: Path) -> None:
    with path.open("wb") as file:
        pa_csv.write_csv(table, file)


def _write_parquet(table: pa.Table, path: Path) -> None:
    with path.open("wb") as file:
        pq.write_table(table, file)


def _write_json(table: pa.Table, path: Path) -> None:
    rows = ",\n".join(map(to_json, table.to_pylist()))
    path.write_text(f"[{rows}]\n", encoding="utf-8")


FORMATS: Mapping[str, Callable[[pa.Table, Path], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".json": _write_json,
}


def export(table: RowTable[Any], path: Path) -> None:
    """Write a table to a file of the format that its name says, whole or not at all.

    Raises:
        QueryError: If the ending of the name is none of `FORMATS`, there is no such folder, or it
            can't be written to.
    """
    if path.suffix not in FORMATS:
        raise QueryError(f"can't write {path.name!r}; the ending must be {' or '.join(FORMATS)}")
    with written_aside(path) as aside:
        FORMATS[path.suffix](table.arrow(), aside)
