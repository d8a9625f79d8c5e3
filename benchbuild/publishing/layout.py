"""Tables as Parquet for programs that read over a network.

DuckDB, polars and the Hugging Face hub read parts of a file: its footer, then the row groups and
pages that a query needs. So rows are sorted by their key, groups are small, and every page has its
least and greatest value in an index. Figures are compressed; the table's own summary is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchquery.table.curves import Curves
from benchquery.table.rows import RowTable
from benchquery.table.schema import CURVE_COLUMNS

ROWS, CURVES = "rows.parquet", "curves.parquet"

_GROUP = 8_192
_CURVE_GROUP = 1 << 17


def write_rows(table: RowTable[Any], path: Path) -> pa.Schema:
    """Write the rows, sorted by their key, and return the schema."""
    key = [name for name in table.kind.key if name in table.columns]
    rows = table.arrow().sort_by([(name, "ascending") for name in key])
    described = [
        field.with_metadata({"description": _description(table, field.name)})
        for field in rows.schema
    ]
    rows = rows.cast(pa.schema(described))
    order = pq.SortingColumn.from_ordering(rows.schema, [(name, "ascending") for name in key])
    pq.write_table(
        rows, path, row_group_size=_GROUP, compression="zstd", write_page_index=True,
        sorting_columns=order,
    )  # fmt: skip
    return rows.schema


def write_curves(curves: Curves, path: Path) -> pa.Schema:
    """Write the learning curves, one row an epoch, sorted, and return the schema.

    ``number`` is the hash of the architecture; in other tables the position of the row in the
    table's own summary, counted from 0.
    """
    figures = [
        pa.field(column.name, pa.float32(), metadata={"description": column.description})
        for column in CURVE_COLUMNS
    ]
    names = [pa.field(name, pa.int32()) for name in ("number", "seed", "epoch")]
    schema = pa.schema([*names, *figures])
    with pq.ParquetWriter(path, schema, compression="zstd", write_page_index=True) as writer:
        for batch in _batches(curves, schema):
            writer.write_table(batch, row_group_size=_CURVE_GROUP)
    return schema


def _batches(curves: Curves, schema: pa.Schema) -> Iterator[pa.Table]:
    """Gather curves into tables of about one row group."""
    gathered: list[pa.Table] = []
    for number in sorted(curves.numbers):
        seeds, block = curves.known(number)
        _, epochs, _ = block.shape
        columns = [
            np.full(len(seeds) * epochs, number, dtype=np.int32),
            np.repeat(np.asarray(seeds, dtype=np.int32), epochs),
            np.tile(np.arange(epochs, dtype=np.int32), len(seeds)),
            *block.reshape(-1, block.shape[2]).T.astype(np.float32),
        ]
        gathered.append(pa.Table.from_arrays([pa.array(one) for one in columns], schema=schema))
        if sum(map(len, gathered)) >= _CURVE_GROUP:
            yield pa.concat_tables(gathered)
            gathered = []
    if gathered:
        yield pa.concat_tables(gathered)


def _description(table: RowTable[Any], name: str) -> str:
    """Return what a column is; what a table adds to its summary is called after its kind."""
    if name not in table.columns:
        return f"{name} of the {table.kind.one}"
    column = table.described(name)
    return f"{column.description} Unit: {column.unit}." if column.unit else column.description
