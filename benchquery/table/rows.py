"""What tables of every kind have in common: columns, and questions to all rows at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from benchquery._imports import LazyModule
from benchquery.errors import QueryError, UnknownNameError
from benchquery.table import schema
from benchquery.table.columnfile import ColumnSet
from benchquery.table.conditions import compare, matches
from benchquery.table.curves import Curves
from benchquery.table.fronts import pareto_rows
from benchquery.table.manifest import Manifest

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Floats, Ints, Mask
    from benchquery.figures.accessor import TablePlots
else:
    np = LazyModule("numpy")

Key = TypeVar("Key")
Names = str | Sequence[str]

Record = MappingProxyType[str, Any]
"""One row of a table: a read-only mapping from column name to value."""


class RowTable(Mapping[Key, Record]):
    """A mapping from key to record over columns of one length.

    Queries such as `where`, `top` and `pareto` give smaller tables, so they can be chained.
    Tables never change once opened, so any number of threads may read one.

    Args:
        manifest: What the table is and where its figures come from.
        columns: Arrays of one length by name.
        curves_path: The file of its learning curves, if it has one.
    """

    _expense: ClassVar[str]
    """The column that `pareto` minimises if none is named."""

    def __init__(
        self, manifest: Manifest, columns: ColumnSet, curves_path: Path | None = None
    ) -> None:
        self.manifest = manifest
        self._columns = columns
        self._curves_path = curves_path

    @property
    def name(self) -> str:
        """The dataset that the figures were measured on."""
        return self.manifest.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def column(self, name: str) -> Array:
        """Return a column as a read-only array.

        Raises:
            UnknownNameError: If the table has no such column.
        """
        if name not in self._columns:
            raise UnknownNameError(
                f"the table of {self.name!r} has no column {name!r}; "
                f"it has {', '.join(self.columns)}"
            )
        return self._columns[name]

    @cached_property
    def _cells(self) -> list[tuple[str, Sequence[Any]]]:
        """The columns but the hash, as plain Python values."""
        return [(name, self._columns.cells(name)) for name in self.columns if name != "hash"]

    def _record_at(self, row: int) -> Record:
        """Make the record of a row."""
        return MappingProxyType({name: cells[row] for name, cells in self._cells})

    @property
    @abstractmethod
    def _order(self) -> Ints:
        """A number for every row, in the order in which rows of equal figures are listed."""

    @property
    def _asked(self) -> Mapping[str, Array]:
        """What conditions may name."""
        return self._columns

    @abstractmethod
    def _take(self, rows: Ints) -> Self:
        """Return the table of some rows, in this order."""

    def where(self, *conditions: str | Mask, **equals: object) -> Self:
        """Return the rows that fulfil all conditions.

        Args:
            conditions: Texts such as ``perf >= 0.8`` (see `benchquery.table.conditions`), or arrays of
                booleans, one a row. In a table of architectures they may also name the facts
                ``link``, ``depth``, ``leaves`` and, for its number of uses, any operation.
            equals: Columns or facts that must equal a value.

        Raises:
            QueryError: If a condition can't be understood.

        Example:
            >>> fast = lightread("cora").where("latency < 0.004", "gat == 0", depth=2)
        """
        columns = self._asked
        mask = np.ones(len(self._order), dtype=bool)
        for condition in conditions:
            if isinstance(condition, str):
                mask &= matches(columns, condition)
            elif np.shape(condition) == mask.shape and np.asarray(condition).dtype == bool:
                mask &= condition
            else:
                raise QueryError(
                    f"a condition is a text or {len(mask):,} booleans, not {condition!r}"
                )
        for name, value in equals.items():
            mask &= compare(columns, name, "==", value)
        return self._take(np.flatnonzero(mask))

    def _cost(self, name: str) -> Floats:
        """Return a column turned so that less is better.

        Raises:
            QueryError: If neither direction of the column is better.
        """
        values = self.column(name)
        kind = self.manifest.kind
        direction = schema.column(name, kind).direction
        if direction is None:
            allowed = [n for n in self.columns if schema.column(n, kind).direction]
            raise QueryError(
                f"neither way is better for column {name!r}; allowed: {', '.join(allowed)}"
            )
        return -values if direction == "higher" else values.astype(np.float64)

    @property
    def _comparable(self) -> Ints:
        """The rows that may be ranked with each other, ascending."""
        return np.arange(len(self._order))

    def top(self, k: int = 10, by: str = "valid_perf") -> Self:
        """Return the k best rows, the best first; ties in the order of the table.

        Raises:
            QueryError: If k is less than 1 or the column has no better direction.
        """
        if k < 1:
            raise QueryError(f"k must be at least 1, not {k}")
        rows = self._comparable
        best = np.lexsort((self._order[rows], self._cost(by)[rows]))[:k]
        return self._take(rows[best])

    def pareto(self, maximise: Names = ("valid_perf",), minimise: Names | None = None) -> Self:
        """Return the rows that no other row beats in all the named columns at once.

        Args:
            maximise: Columns to maximise.
            minimise: Columns to minimise; None for the latency of architectures, or the time
                that condensing took.

        Raises:
            QueryError: If no column is named.
        """
        minimise = self._expense if minimise is None else minimise
        up = [maximise] if isinstance(maximise, str) else list(maximise)
        down = [minimise] if isinstance(minimise, str) else list(minimise)
        if not up + down:
            raise QueryError("name at least one column to maximise or minimise")
        rows = self._comparable
        costs = [-self.column(name)[rows].astype(np.float64) for name in up]
        costs += [self.column(name)[rows].astype(np.float64) for name in down]
        return self._take(rows[pareto_rows(np.stack(costs, axis=1))])

    @property
    def plot(self) -> TablePlots:
        """The pictures of the table: ``table.plot.pareto()`` is a matplotlib figure."""
        from benchquery.figures.accessor import TablePlots

        return TablePlots(self)

    @cached_property
    def curves(self) -> Curves:
        """The learning curves.

        Raises:
            QueryError: If the table has none.
        """
        if self._curves_path is None:
            raise QueryError(
                f"the table of {self.name!r} ({self.manifest.origin}) has no learning curves"
            )
        return Curves(self._curves_path)
