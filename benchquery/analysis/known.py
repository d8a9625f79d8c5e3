"""Rows without a figure: left out of every analysis, and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.table.rows import RowTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Mask
else:
    np = LazyModule("numpy")

Table = TypeVar("Table", bound=RowTable[Any])


def has_figures(table: RowTable[Any], *columns: str) -> Mask:
    """Return of every row whether it has a figure in each of some columns.

    Raises:
        QueryError: If a column holds no numbers.
        UnknownNameError: If the table has no such column.
    """
    known = np.ones(table.num_rows, dtype=bool)
    for name in columns:
        values = table.column(name)
        if values.dtype.kind not in "fiu":
            raise QueryError(f"column {name!r} of the table {table.name!r} holds no figures")
        known &= ~np.isnan(values)
    return known


def left_out(table: RowTable[Any], *columns: str) -> int:
    """Return how many rows an analysis of some columns leaves out, as they lack a figure.

    Args:
        table: A table of any kind.
        columns: The columns that the analysis looks at.

    Raises:
        QueryError: If a column holds no numbers.
        UnknownNameError: If the table has no such column.

    Example:
        >>> left_out(lightread("cora"), "perf", "latency")
        0
    """
    return int((~has_figures(table, *columns)).sum())


def known_part(table: Table, *columns: str, least: int = 1) -> Table:
    """Return the rows of a table that have a figure in each of some columns.

    Args:
        table: The table.
        columns: The columns.
        least: How many such rows the analysis needs.

    Raises:
        QueryError: If there are fewer, or a column holds no numbers.
        UnknownNameError: If the table has no such column.
    """
    known = has_figures(table, *columns)
    count = int(known.sum())
    if count < least:
        raise too_few(count, table.num_rows, f"rows of the table {table.name!r}", columns, least)
    return table if count == table.num_rows else table.take(np.flatnonzero(known))


def too_few(count: int, total: int, what: str, columns: tuple[str, ...], least: int) -> QueryError:
    """Return the error that says that too few rows have a figure."""
    named = " and ".join(map(repr, columns))
    return QueryError(
        f"{count:,} of the {total:,} {what} have a figure in {named}; at least {least} are needed"
    )
