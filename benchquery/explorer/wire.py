"""Figures as the page reads them: gzipped Arrow streams.

Values are sent as they are, in double precision: a table of 26,206 rows and four
metrics takes about a quarter of a megabyte. The compression is part of the file and not
of the transfer, so the bytes are the same from the server and from a folder on any host.
"""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.arch import RAW_LINKS, raw_hashes
from benchquery.errors import UnknownHashError
from benchquery.explorer.catalogue import shown_columns
from benchquery.schema import CURVE_COLUMNS
from benchquery.table import ArchTable

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
else:
    np = LazyModule("numpy")
    pa = LazyModule("pyarrow")

_LEVEL = 1
"""Of gzip. The best level saves a tenth of the bytes and takes ten times as long."""


def _stream(table: pa.Table) -> bytes:
    """Return a table as a gzipped Arrow stream of one batch, the same bytes every time."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return gzip.compress(sink.getvalue(), _LEVEL, mtime=0)


def table_stream(table: ArchTable) -> bytes:
    """Return the columns of a table that the page shows.

    Whole numbers of 64 bits become doubles, which JavaScript's numbers are; they are
    exact up to 2^53.
    """
    arrays = {}
    for column in shown_columns(table.manifest):
        values = table.column(column.name)
        if column.dtype == "string":
            arrays[column.name] = pa.array(values, pa.string()).dictionary_encode()
        else:
            arrays[column.name] = pa.array(
                values.astype(np.float64) if values.dtype == np.int64 else values
            )
    return _stream(pa.table(arrays))


def curve_stream(table: ArchTable, number: int) -> bytes:
    """Return every epoch of every seed of one architecture; no rows if it has no curve.

    Raises:
        UnknownHashError: If the table does not hold the architecture.
        QueryError: If the table has no curves.
    """
    table[number]
    try:
        seeds = table.curves.seeds
        curves = np.concatenate([table.curve(number, seed) for seed in seeds])
    except UnknownHashError:
        seeds, curves = (), np.empty((0, len(CURVE_COLUMNS)), np.float32)
    arrays = {"seed": np.repeat(np.array(seeds, np.int32), table.curves.epochs)}
    arrays |= {column.name: curves[:, i] for i, column in enumerate(CURVE_COLUMNS)}
    return _stream(pa.table({name: pa.array(values) for name, values in arrays.items()}))


def forms_stream() -> bytes:
    """Return the hash of every raw form: what the page finds neighbours with.

    There is one row for each pair of `RAW_LINKS` and `RAW_OPS`, the operations running
    fastest; four skips have no hash and are -1.
    """
    hashes = [np.append(np.asarray(raw_hashes(link)), np.int32(-1)) for link in RAW_LINKS]
    return _stream(pa.table({"hash": pa.array(np.concatenate(hashes))}))
