"""Opening tables of condensed graphs by name."""

from __future__ import annotations

from typing import cast

from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.store import PathLike, open_table

_KIND = "condensed"


def condread(name: PathLike, source: PathLike | None = None) -> CondensedTable:
    """Open a table of condensed graphs by name.

    Args:
        name: The dataset, for example ``cora``, or the name of the table's folder.
        source: A folder of tables, or one table; None for all sources.

    Raises:
        TableNotFoundError: If there is no such table.
        CorruptTableError: If a file is damaged, truncated or missing.
        SchemaVersionError: If the layout is unknown to this version.
        QueryError: If several tables in one place are of the dataset.
    """
    return cast(CondensedTable, open_table(name, source, _KIND))
