"""Opening tables of operation weights by name."""

from __future__ import annotations

from typing import cast

from benchquery.kinds.weights.table import WeightTable
from benchquery.table.store import PathLike, open_table

_KIND = "weights"


def read_weights(name: PathLike, source: PathLike | None = None) -> WeightTable:
    """Open a table that ``benchbuild merge`` made of a run of ``benchbuild darts``.

    Args:
        name: The name of the table, its dataset, or its folder.
        source: A folder of tables, or one table; None for all sources.

    Raises:
        TableNotFoundError: If there is no such table.
        CorruptTableError: If a file is damaged, truncated or missing.
        TableKindError: If it is another kind of table.
    """
    return cast(WeightTable, open_table(name, source, _KIND))
