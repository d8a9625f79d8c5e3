"""Which pictures there are of each kind of table, and what a table needs for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from benchquery.kinds.architectures.figures.single import TABLE_FIGURES
from benchquery.kinds.condensed.figures import CONDENSED_FIGURES
from benchquery.table.manifest import CURVES, GRAPHS
from benchquery.table.rows import RowTable
from benchquery.table.schema import Kind

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure

FIGURES: Mapping[Kind, Mapping[str, Callable[..., mpl_figure.Figure]]] = MappingProxyType(
    {"architectures": TABLE_FIGURES, "condensed": CONDENSED_FIGURES}
)
_FILES = MappingProxyType({"learning": CURVES, "curve": CURVES, "trace": GRAPHS})


def figures_of(table: RowTable[Any]) -> Mapping[str, Callable[..., mpl_figure.Figure]]:
    """Return the pictures of a table's kind by name."""
    return FIGURES[table.manifest.kind]


def drawable(table: RowTable[Any]) -> list[str]:
    """Return the names of the pictures that a table has the files for."""
    files = table.manifest.files
    return [name for name in figures_of(table) if name not in _FILES or _FILES[name] in files]
