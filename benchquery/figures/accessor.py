"""``table.plot``: the pictures of a table as methods."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchquery.errors import UnknownNameError

if TYPE_CHECKING:
    from benchquery.table.rows import RowTable


class TablePlots:
    """The pictures of one table; ``dir()`` lists them.

    Each takes the arguments of the function of its name in `benchquery.kinds.architectures.figures.single`, or in
    `benchquery.kinds.condensed.figures`, but the table, and returns a matplotlib figure.

    Args:
        table: The table.
    """

    def __init__(self, table: RowTable[Any]) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        from benchquery.figures.kinds import figures_of

        if name.startswith("__"):
            raise AttributeError(name)
        figures = figures_of(self._table)
        if name not in figures:
            raise UnknownNameError(f"unknown picture {name!r}; allowed: {', '.join(figures)}")
        return partial(figures[name], self._table)

    def __dir__(self) -> list[str]:
        from benchquery.figures.kinds import figures_of

        return list(figures_of(self._table))
