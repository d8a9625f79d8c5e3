"""``table.plot``: the pictures of a table as methods."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchquery.errors import UnknownNameError

if TYPE_CHECKING:
    from benchquery.table import ArchTable


class TablePlots:
    """The pictures of one table; ``dir()`` lists them.

    Each takes the arguments of the function of its name in `benchquery.figures.single` but
    the table, and returns a matplotlib figure.

    Args:
        table: The table.
    """

    def __init__(self, table: ArchTable) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        from benchquery.figures.single import TABLE_FIGURES

        if name.startswith("__"):
            raise AttributeError(name)
        if name not in TABLE_FIGURES:
            raise UnknownNameError(f"unknown picture {name!r}; allowed: {', '.join(TABLE_FIGURES)}")
        return partial(TABLE_FIGURES[name], self._table)

    def __dir__(self) -> list[str]:
        from benchquery.figures.single import TABLE_FIGURES

        return list(TABLE_FIGURES)
