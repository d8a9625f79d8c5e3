"""What must hold of the rows of a table of cell networks beside the checksums of its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import ArchitectureError, CorruptTableError
from benchquery.kinds.cells.cell import OPERATIONS, Cell
from benchquery.kinds.cells.columns import ACCURACIES
from benchquery.kinds.cells.table import CellTable
from benchquery.table.manifest import SUMMARY

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")


def check_cells(table: CellTable, folder: Path) -> None:
    """Check every row: its cell is one, once, and what is said of it follows from its text.

    Raises:
        CorruptTableError: If something does not fit; the message names it.
    """
    where = folder / SUMMARY
    if len(set(table)) != table.num_rows:
        raise CorruptTableError(f"{where} has a cell twice")
    for row, record in enumerate(table.records()):
        try:
            facts = facts_of(Cell.parse(record["architecture"]))
        except ArchitectureError as error:
            raise CorruptTableError(f"{where}, row {row}: {error}") from error
        for name, value in facts.items():
            if record[name] != value:
                raise CorruptTableError(
                    f"{where}, row {row}: {name} is {record[name]!r}, its cell says {value!r}"
                )
    for name in ACCURACIES:
        values = table.column(name)
        if not np.all(np.isnan(values) | ((values >= 0) & (values <= 100))):
            raise CorruptTableError(f"{where}: {name} has figures that are no percentages")


def facts_of(cell: Cell) -> dict[str, str | int]:
    """Return the columns that follow from a cell."""
    counts = {op: cell.count(op) for op in OPERATIONS}
    return {
        "architecture": cell.text,
        "form": cell.form,
        "parameters": cell.parameters(),
        **counts,
    }
