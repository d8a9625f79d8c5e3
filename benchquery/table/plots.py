"""``table.plot``: the pictures of a table as methods."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchquery.errors import UnknownNameError
from benchquery.naming import unknown
from benchquery.table.kind import resolve

if TYPE_CHECKING:
    from benchquery.table.kind import Picture
    from benchquery.table.rows import RowTable


def drawable(table: RowTable[Any]) -> list[str]:
    """Return the names of the pictures that there are of a table, and that it has the files for."""
    return [
        name
        for name, one in table.kind.pictures.items()
        if one.needs in (None, *table.manifest.files) and _is_of(table, one)
    ]


def _is_of(table: RowTable[Any], picture: Picture) -> bool:
    """Tell whether there is such a picture of a table."""
    if picture.where is None:
        return True
    column, value = picture.where
    return column in table.columns and value in table.column(column).tolist()


class TablePlots:
    """The pictures of one table; ``dir()`` lists them.

    Each takes the arguments of the function that draws it but the table, and returns a matplotlib
    figure.

    Args:
        table: The table.
    """

    def __init__(self, table: RowTable[Any]) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pictures = self._table.kind.pictures
        if name not in pictures:
            raise UnknownNameError(unknown(f"picture of {self._table.name!r}", name, pictures))
        return partial(resolve(pictures[name].draw), self._table)

    def __dir__(self) -> list[str]:
        return list(self._table.kind.pictures)
