"""What tables of every kind have in common: a mapping from key to record, and its verbs.

A kind whose rows are named by plain columns needs no class of its own: all verbs work on this one.
"""

from __future__ import annotations

from collections.abc import (
    Collection,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast, overload

from benchquery._imports import LazyModule
from benchquery.errors import QueryError, UnknownHashError, UnknownNameError
from benchquery.naming import match_name, suggestion
from benchquery.table.columnfile import ColumnSet, Selection
from benchquery.table.conditions import compare, matches
from benchquery.table.curves import Curves
from benchquery.table.fronts import pareto_rows
from benchquery.table.kind import TableKind, resolve
from benchquery.table.manifest import CURVES, Manifest, check_file
from benchquery.table.record import Record
from benchquery.table.registry import kind_of
from benchquery.table.ties import level, rank_among, regret_among

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from benchquery._typing import Array, Floats, Ints, Mask
    from benchquery.table.plots import TablePlots
    from benchquery.table.schema import Column
else:
    np = LazyModule("numpy")
    pa = LazyModule("pyarrow")
    pd = LazyModule("pandas", extra="pandas")

Key = TypeVar("Key")
Names = str | Sequence[str]

SHORT_NAMES = {"valid": "valid_perf", "test": "perf"}
"""What a column to rank by may be called for short, on every kind of table."""

_PLAIN = (None, None, None)
"""Unit, split and direction of a column that names rows instead of measuring them."""

_STATUS, _OK = "status", "ok"
"""The column that says how a row's job ended, and what it says where that was well."""

_SHOWN = 5
"""Rows of a large table that are printed."""
_FEW = 20
"""Rows of a table that is printed as a whole."""


class RowTable(Generic[Key]):
    """A mapping from key to record over columns of one length.

    It has everything that a mapping has, but is none by type: polars takes whatever is a
    `collections.abc.Mapping` for a dictionary of columns.

    Queries such as `where`, `top` and `pareto` give smaller tables, so they can be chained.
    Tables never change once opened, so any number of threads may read one. They pickle, and hand
    themselves to Arrow, polars and DuckDB as they are.

    Args:
        manifest: What the table is and where its figures come from.
        columns: Arrays of one length by name.
        folder: The folder of the table, whose name is the table's.
        positions: Where each row stands in the whole table; None if this is the whole.
    """

    def __init__(
        self,
        manifest: Manifest,
        columns: ColumnSet,
        folder: Path,
        positions: Ints | None = None,
    ) -> None:
        self.manifest = manifest
        self._columns = columns
        self._folder = folder
        self._positions = positions
        self._records: dict[int, Record] = {}

    # ---------------------------------------------------------------- what it is

    @property
    def name(self) -> str:
        """The name that the table is opened by."""
        return self._folder.name

    @property
    def dataset(self) -> str:
        """What the figures were measured on."""
        return self.manifest.dataset

    @property
    def kind(self) -> TableKind:
        """What its rows are."""
        return kind_of(self.manifest.kind)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return self.manifest.rows if self._positions is None else len(self._positions)

    @property
    def positions(self) -> Ints:
        """Where each row stands in the whole table."""
        return np.arange(self.manifest.rows) if self._positions is None else self._positions

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
                f"the table {self.name!r} has no column {name!r}"
                f"{suggestion(name, self.columns) or ';'} it has {', '.join(self.columns)}"
            )
        return self._columns[name]

    def described(self, name: str) -> Column:
        """Return the description of a column: unit, split, direction.

        Raises:
            UnknownNameError: If the table has no such column.
        """
        self.column(name)
        return next(column for column in self.manifest.columns if column.name == name)

    # ---------------------------------------------------------------- a mapping

    @cached_property
    def _keys(self) -> Sequence[Any]:
        """The key of every row."""
        cells = [self._columns.cells(name) for name in self.kind.key]
        return cells[0] if len(cells) == 1 else list(zip(*cells, strict=True))

    @cached_property
    def _row_of(self) -> Mapping[Any, int]:
        """The row of every key."""
        return {key: row for row, key in enumerate(self._keys)}

    def _row(self, key: Any) -> int:
        """Return the row of a key.

        Raises:
            UnknownHashError: If the table does not hold it.
        """
        try:
            return self._row_of[key]
        except (KeyError, TypeError):
            named = " and ".join(self.kind.key)
            raise UnknownHashError(
                f"{key!r} is none of the {len(self):,} {self.kind.many} of the table "
                f"{self.name!r}; a key is its {named}, as in {next(iter(self), None)!r}"
            ) from None

    def __getitem__(self, key: Key) -> Record:
        """Return the record of a key.

        Raises:
            UnknownHashError: If the table does not hold it.
        """
        return self._record_at(self._row(key))

    def _record_at(self, row: int) -> Record:
        """Make the record of a row when it is first asked for, and keep it."""
        if row not in self._records:
            self._records[row] = Record({name: cells[row] for name, cells in self._cells})
        return self._records[row]

    @cached_property
    def _cells(self) -> list[tuple[str, Sequence[Any]]]:
        """The columns as plain Python values."""
        return [(name, self._columns.cells(name)) for name in self.columns]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def __len__(self) -> int:
        return self.num_rows

    def __contains__(self, key: object) -> bool:
        try:
            self._row(key)
        except UnknownHashError:
            return False
        return True

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the record of a key; the default if the table does not hold it."""
        try:
            return self[key]
        except KeyError:
            return default

    def keys(self) -> KeysView[Key]:
        """Return a view of the keys."""
        return KeysView(cast(Mapping[Key, Record], self))

    def values(self) -> ValuesView[Record]:
        """Return a view of the records."""
        return ValuesView(cast(Mapping[Key, Record], self))

    def items(self) -> ItemsView[Key, Record]:
        """Return a view of keys and records."""
        return ItemsView(cast(Mapping[Key, Record], self))

    def records(self) -> list[Record]:
        """Return every row as plain data: its names, then its figures."""
        return [Record(self._whole_record(row)) for row in range(self.num_rows)]

    def _whole_record(self, row: int) -> Mapping[str, Any]:
        """Return a row with everything that names it."""
        return self._record_at(row)

    def detail(self, row: int) -> dict[str, Any]:
        """Return everything that is known of the row at a position, as plain data."""
        return dict(self._whole_record(row))

    def pick(self, /, **values: str) -> int:
        """Return the position of the one row that has some values.

        Args:
            values: What its columns, or facts of it, must equal.

        Raises:
            QueryError: If no row has them, or several do.
        """
        if not values and len(self) > 1:
            named = " ".join(f"--{name} ..." for name in self.kind.key)
            raise QueryError(f"name {_article(self.kind.one)}: {named}, or other columns")
        fitting = self.where(**values)
        keys = list(dict.fromkeys(fitting))
        if len(keys) != 1:
            said = ", ".join(f"{name} {value}" for name, value in values.items())
            raise QueryError(
                f"{len(keys) or 'no'} {self.kind.many} of {self.name!r} have {said}; "
                f"{self._narrowing(fitting)}"
            )
        return self._row(keys[0])

    def _narrowing(self, fitting: Self) -> str:
        """Say by what a choice of one row can be narrowed down."""
        part = fitting if fitting.num_rows else self
        options = []
        naming = [c.name for c in self.manifest.columns if (c.unit, c.split, c.direction) == _PLAIN]
        for name in naming:
            found = sorted(set(part.column(name).tolist()))
            if 1 < len(found) <= _FEW and not name.endswith("_text"):
                options.append(f"--{name} {', '.join(map(str, found))}")
        keys = ", ".join(map(str, list(dict.fromkeys(part))[:_SHOWN]))
        return f"narrow it down by {'; '.join(options) or keys}"

    # ---------------------------------------------------------------- conditions

    @property
    def _asked(self) -> Mapping[str, Array]:
        """What conditions may name."""
        return self._columns

    def _values_of(self, name: str) -> Collection[str]:
        """Return the texts that a column may hold: those its kind knows, and those it has."""
        stated = self.kind.values.get(name, ())
        known = resolve(stated)() if isinstance(stated, str) else stated
        there = self._columns.whole[name].tolist() if name in self._columns else ()
        return dict.fromkeys([*known, *there])

    def _meant(self, name: str, value: object) -> object:
        """Return what a value of a condition stands for; a hook of kinds."""
        return value

    def where(self, /, *conditions: str | Mask, **equals: object) -> Self:
        """Return the rows that fulfil all conditions.

        Args:
            conditions: Texts such as ``perf >= 0.8`` (see `benchquery.table.conditions`), or
                arrays of booleans, one a row. In a table of architectures they may also name the
                facts ``link``, ``depth``, ``leaves`` and, for its number of uses, any operation.
            equals: Columns or facts that must equal a value, or one of several.

        Raises:
            QueryError: If a condition can't be understood, or names a value that no row of the
                whole table has.

        Example:
            >>> fast = lightread("cora").where("latency < 0.004", "gat == 0", depth=[2, 3])
        """
        asked = self._asked
        mask = np.ones(self.num_rows, dtype=bool)
        for condition in conditions:
            if isinstance(condition, str):
                mask &= matches(asked, condition, self._values_of)
            elif np.shape(condition) == mask.shape and np.asarray(condition).dtype == bool:
                mask &= condition
            else:
                raise QueryError(
                    f"a condition is a text or {len(mask):,} booleans, not {condition!r}"
                )
        for name, value in equals.items():
            meant = self._meant(name, value)
            several = meant if isinstance(meant, (list, tuple, set, frozenset)) else [meant]
            fits = np.zeros(self.num_rows, dtype=bool)
            for one in several:
                fits |= compare(asked, name, "==", one, self._values_of)
            mask &= fits
        return self.take(np.flatnonzero(mask))

    def take(self, rows: Ints | Sequence[int]) -> Self:
        """Return the table of some rows, given by their positions here, in this order."""
        chosen = np.asarray(rows, dtype=np.int64)
        part = Selection(self._columns, chosen)
        return type(self)(self.manifest, part, self._folder, self.positions[chosen])

    # ---------------------------------------------------------------- rankings

    def ranking_column(self, name: str | None = None) -> str:
        """Return the column that is meant by a name to rank by; without one, its kind's own."""
        name = self.kind.ranked_by if name is None else name
        meant = SHORT_NAMES.get(name, name)
        if meant in self._columns:
            return meant
        return match_name(name, self.columns) or name

    def _cost(self, by: str | None) -> Floats:
        """Return a column turned so that less is better; NaN where a row has no figure.

        Raises:
            UnknownNameError: If there is no such column.
            QueryError: If neither direction of the column is better.
        """
        name = self.ranking_column(by)
        direction = self.described(name).direction
        if direction is None:
            allowed = [column.name for column in self.manifest.columns if column.direction]
            raise QueryError(
                f"neither way is better for column {name!r}; allowed: {', '.join(allowed)}"
            )
        values = self._figures(name)
        return -values if direction == "higher" else values

    def _figures(self, name: str) -> Floats:
        """Return a column of numbers to rank by; NaN where a row has none, or its job failed.

        Raises:
            UnknownNameError: If there is no such column.
            QueryError: If it holds texts.
        """
        values = self.column(name)
        if values.dtype.kind not in "biuf":
            raise QueryError(f"column {name!r} of the table {self.name!r} holds no figures")
        return np.where(self._failed, np.nan, values) if self._failed.any() else values + 0.0

    @cached_property
    def _failed(self) -> Mask:
        """Of every row whether its job failed, so that what it is ranked by is missing.

        Other columns may still have numbers of it: no bytes kept, or the time until it failed.
        """
        failed = np.zeros(self.num_rows, dtype=bool)
        if _STATUS in self._columns and self.kind.ranked_by in self._columns:
            figures = self.column(self.kind.ranked_by)
            if figures.dtype.kind == "f":
                failed = np.isnan(figures) & (self.column(_STATUS) != _OK)
        return failed

    @property
    def _groups(self) -> Ints:
        """A number for every row; only rows of one number are ranked with each other."""
        return np.zeros(self.num_rows, dtype=np.int64)

    @property
    def _comparable(self) -> Ints:
        """The rows that may be ranked with each other, ascending; a hook of kinds."""
        return np.arange(self.num_rows)

    def top(self, k: int = 10, by: str | None = None) -> Self:
        """Return the k best rows, the best first; ties in the order of the table.

        Rows without a figure come last, and so do those of failed jobs by every column.

        Args:
            k: How many.
            by: The column to rank by; ``valid`` and ``test`` for short. None for what its kind is
                ranked by, which is the validation figure.

        Raises:
            QueryError: If k is less than 1 or the column has no better direction.
        """
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise QueryError(f"k must be a whole number of at least 1, not {k!r}")
        rows = self._comparable
        best = np.lexsort((self.positions[rows], self._cost(by)[rows]))[:k]
        return self.take(rows[best])

    def best(self, by: str | None = None) -> Record:
        """Return the best row.

        Args:
            by: The column to rank by; None for the validation figure. To choose by the test
                figure is to look at the answer, so it must be said: ``perf``.

        Raises:
            QueryError: If no row has a figure, or the column has no better direction.
        """
        costs = self._cost(by)[self._comparable]
        if np.isnan(costs).all():
            column = self.ranking_column(by)
            raise QueryError(f"no row of this table {self.name!r} has a figure in {column!r}")
        return self.top(1, by).records()[0]

    def standing(self, by: str | None = None) -> tuple[Ints, Floats]:
        """Return the rank and the regret of every row.

        Rank 1 is the best; equal figures share a rank (`benchquery.table.ties` says what counts
        as equal). Regret is the distance to the best; 0 for the best. A row without a figure
        ranks behind all that have one, and its regret is NaN; so does one of a failed job, whatever
        the column.

        Raises:
            QueryError: If the column has no better direction.
        """
        cost, groups = self._cost(by), self._groups
        ranks = np.zeros(self.num_rows, dtype=np.int64)
        regrets = np.full(self.num_rows, np.nan)
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            own = level(cost[rows])
            known = np.sort(own[~np.isnan(own)])
            ranks[rows] = 1 + np.searchsorted(known, own)
            regrets[rows] = own - (known[0] if known.size else np.nan)
        return ranks, regrets

    def rank(self, key: Key, by: str | None = None) -> int:
        """Return the rank of a row: 1 plus the number of better ones; see `standing`."""
        return rank_among(*self._among(key, by))

    def regret(self, key: Key, by: str | None = None) -> float:
        """Return how much worse than the best a row is; see `standing`."""
        return regret_among(*self._among(key, by))

    def _among(self, key: Key, by: str | None) -> tuple[Floats, float]:
        """Return the costs that a row is held against, and its own."""
        row, cost, groups = self._row(key), self._cost(by), self._groups
        return cost[groups == groups[row]], float(cost[row])

    def pareto(self, maximise: Names | None = None, minimise: Names | None = None) -> Self:
        """Return the rows that no other row beats in all the named columns at once.

        Args:
            maximise: Columns to maximise; None for what its kind is ranked by.
            minimise: Columns to minimise; None for what its kind counts as expense: the latency
                of architectures, the time that condensing took.

        Raises:
            QueryError: If no column is named, or one holds texts.
        """
        maximise = self.kind.ranked_by if maximise is None else maximise
        minimise = (self.kind.expense or ()) if minimise is None else minimise
        up = [maximise] if isinstance(maximise, str) else list(maximise)
        down = [minimise] if isinstance(minimise, str) else list(minimise)
        if not up + down:
            raise QueryError("name at least one column to maximise or minimise")
        rows = self._comparable
        costs = [-self._figures(self.ranking_column(name))[rows] for name in up]
        costs += [self._figures(self.ranking_column(name))[rows] for name in down]
        return self.take(rows[pareto_rows(np.stack(costs, axis=1))])

    # ---------------------------------------------------------------- many at once

    @overload
    def lookup(self, keys: Iterable[Any], column: str) -> Array: ...

    @overload
    def lookup(self, keys: Iterable[Any], column: None = None) -> dict[str, Array]: ...

    def lookup(self, keys: Iterable[Any], column: str | None = None) -> Array | dict[str, Array]:
        """Return the figures of many keys in one call.

        Args:
            keys: Keys; repetitions are fine.
            column: A column, for an array; None for all, as a dictionary of arrays.

        Raises:
            UnknownHashError: If the table lacks one of the keys; the first is named.
            UnknownNameError: If there is no such column.
        """
        rows = self._rows_of_keys(keys)
        if column is not None:
            return self.column(column).take(rows)
        return {name: self.column(name).take(rows) for name in self.columns}

    def _rows_of_keys(self, keys: Iterable[Any]) -> Ints:
        """Return the row of each key."""
        return np.array([self._row(key) for key in keys], dtype=np.int64)

    # ---------------------------------------------------------------- for other programs

    def _names(self) -> Mapping[str, Array]:
        """Return what names the rows beside the key columns, as columns; a hook of kinds."""
        return {}

    def _whole_columns(self) -> dict[str, Array]:
        """Return all columns: the key's, what else names the rows, the others."""
        first = {name: self.column(name) for name in self.kind.key if name in self._columns}
        rest = {name: self.column(name) for name in self.columns if name not in first}
        return {**first, **self._names(), **rest}

    def arrow(self) -> pa.Table:
        """Return the rows as an Arrow table; numbers are not copied."""
        return pa.table({name: pa.array(values) for name, values in self._whole_columns().items()})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the rows to any program that takes Arrow's C stream, as polars and DuckDB do."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def frame(self) -> pd.DataFrame:
        """Return the rows as a pandas frame with the first column of the key as index."""
        return pd.DataFrame(self._whole_columns()).set_index(self.kind.key[0])

    def export(self, path: str | Path) -> None:
        """Write the rows to a .csv, .parquet or .json file, whole or not at all.

        Raises:
            QueryError: If the ending of the name is another, or there is no such folder.
        """
        from benchquery.table.export import export

        export(self, Path(path))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.manifest, self._columns, self._folder, self._positions)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    # ---------------------------------------------------------------- for people

    @property
    def _title(self) -> str:
        """What the table is, in a line."""
        rows = "" if len(self) == self.num_rows else f" in {self.num_rows:,} rows"
        return (
            f"{type(self).__name__} {self.name!r}: {len(self):,} {self.kind.many}{rows}, "
            f"{self.manifest.origin} figures"
        )

    def _brief_rows(self) -> list[dict[str, Any]]:
        """Return the first rows with the columns that fit on a line."""
        shown = self.num_rows if self.num_rows <= _FEW else _SHOWN
        part = self.take(np.arange(shown)) if shown < self.num_rows else self
        return [self.brief(row) for row in part.records()]

    def brief(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return what of a row fits on a line."""
        return {name: record[name] for name in self.kind.brief if name in record}

    def __repr__(self) -> str:
        from benchquery.text import format_table

        more = self.num_rows - _SHOWN if self.num_rows > _FEW else 0
        rest = f"\n... {more:,} more rows" if more else ""
        return f"<{self._title}>\n{format_table(self._brief_rows())}{rest}"

    def _repr_html_(self) -> str:
        from benchquery.text import format_html

        source = "; ".join(f"{key}: {value}" for key, value in self.manifest.source.items())
        return format_html(self._title, self._brief_rows(), self.num_rows, source)

    @property
    def plot(self) -> TablePlots:
        """The pictures of the table: ``table.plot.pareto()`` is a matplotlib figure."""
        from benchquery.table.plots import TablePlots

        return TablePlots(self)

    # ---------------------------------------------------------------- files

    def file(self, name: str, what: str) -> Path:
        """Return the path of a file of the table beside the summary, after checking it.

        Args:
            name: The file.
            what: What it holds, for the message where the table has none.

        Raises:
            QueryError: If the table has no such file.
            CorruptTableError: If it is missing or damaged; see `check_file`.
        """
        if name not in self.manifest.files:
            raise QueryError(f"the table {self.name!r} ({self.manifest.origin}) has no {what}")
        return check_file(self._folder, name, self.manifest.files[name])

    @cached_property
    def curves(self) -> Curves:
        """The learning curves.

        Raises:
            QueryError: If the table has none.
        """
        return Curves(self.file(CURVES, "learning curves"))


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
