"""Tables of cell networks: a row a cell of NAS-Bench-201."""

from __future__ import annotations

from typing import Any, Self

from benchquery.errors import UnknownHashError
from benchquery.kinds.cells.cell import Cell
from benchquery.table.rows import RowTable


class CellTable(RowTable[str]):
    """A table of cell networks: the text of a cell (or `Cell`) -> `Record`.

    There are test accuracies only, so they are what rows are ranked by.
    """

    def _row(self, key: Any) -> int:
        """Return the row of a cell.

        Raises:
            ArchitectureError: If a text names no cell.
            UnknownHashError: If the table does not hold it.
        """
        try:
            return super()._row(str(key))
        except UnknownHashError:
            if isinstance(key, str):
                Cell.parse(key)
            raise

    def __contains__(self, key: object) -> bool:
        return str(key) in self._row_of

    def alike(self, cell: Cell | str) -> Self:
        """Return the cells that compute the same, each trained on its own: itself among them.

        How far apart their figures are is how much of a figure is chance.

        Raises:
            ArchitectureError: If a text names no cell.
        """
        form = (cell if isinstance(cell, Cell) else Cell.parse(cell)).form
        return self.take((self.column("form") == form).nonzero()[0])
