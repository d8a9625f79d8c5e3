"""Figures as the page reads them: gzipped Arrow streams.

Values are sent as they are, in double precision: a table of 26,206 rows and four
metrics takes about a quarter of a megabyte. The compression is part of the file and not
of the transfer, so the bytes are the same from the server and from a folder on any host.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.explorer.catalogue import shown_columns
from benchquery.table.rows import RowTable
from benchquery.table.schema import CURVE_COLUMNS

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from benchquery._typing import Array
else:
    np = LazyModule("numpy")
    pa = LazyModule("pyarrow")

_LEVEL = 1
"""Of gzip. The best level saves a tenth of the bytes and takes ten times as long."""


def pack(content: bytes) -> bytes:
    """Return content gzipped, the same bytes every time."""
    return gzip.compress(content, _LEVEL, mtime=0)


def _arrow(values: Array) -> pa.Array:
    """Return an array as Arrow has it; texts as numbers into a dictionary.

    It is made from buffers, as Arrow's own conversion imports pandas where that is installed,
    which takes longer than all else that the first page waits for.
    """
    if values.dtype.hasobject:
        texts, places = np.unique(values.astype(str), return_inverse=True)
        words = [text.encode() for text in texts.tolist()]
        ends = np.cumsum([0, *map(len, words)], dtype=np.int32)
        names = pa.StringArray.from_buffers(
            len(words), pa.py_buffer(ends), pa.py_buffer(b"".join(words))
        )
        return pa.DictionaryArray.from_arrays(_arrow(places.astype(np.int32)), names)
    if values.dtype == bool:
        plain, kind = np.packbits(values, bitorder="little"), pa.bool_()
    else:
        plain, kind = np.ascontiguousarray(values), pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(plain)])


def stream(columns: dict[str, Array]) -> bytes:
    """Return columns as a gzipped Arrow stream of one batch, the same bytes every time."""
    arrays = [_arrow(values) for values in columns.values()]
    batch = pa.RecordBatch.from_arrays(arrays, names=list(columns))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return pack(sink.getvalue())


def table_stream(table: RowTable[Any]) -> bytes:
    """Return the columns of a table that the page shows.

    Whole numbers of 64 bits become doubles, which JavaScript's numbers are; they are
    exact up to 2^53.
    """
    columns = {}
    for column in shown_columns(table.manifest):
        values = table.column(column.name)
        columns[column.name] = values.astype(np.float64) if values.dtype == np.int64 else values
    return stream(columns)


def curve_stream(seeds: Sequence[int], curves: Array) -> bytes:
    """Return every epoch of every seed.

    Args:
        seeds: The seeds; none for no rows.
        curves: (seeds, epochs, 7), the columns as `CURVE_COLUMNS`.
    """
    columns = {"seed": np.repeat(np.array(seeds, np.int32), curves.shape[1])}
    flat = curves.reshape(-1, len(CURVE_COLUMNS))
    columns |= {column.name: flat[:, i] for i, column in enumerate(CURVE_COLUMNS)}
    return stream(columns)
