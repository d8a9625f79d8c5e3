"""Tables of architectures: a mapping from hash to record, and whole columns at once.

Tables never change once opened, so any number of threads may read one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from benchquery import schema
from benchquery._imports import LazyModule
from benchquery.arch import NODES, Arch, hash_of
from benchquery.columnfile import ColumnSet, Selection
from benchquery.curves import Curves, Seed
from benchquery.encoding import FACTS
from benchquery.errors import QueryError, UnknownHashError, UnknownNameError
from benchquery.manifest import Manifest
from benchquery.pareto import pareto_rows
from benchquery.query import compare, matches

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from benchquery._typing import Array, Floats, Ints, Keys, Mask
    from benchquery.figures.accessor import TablePlots
else:
    np = LazyModule("numpy")
    pd = LazyModule("pandas", extra="pandas")

Names = str | Sequence[str]
_ALL_HASHES = 10 ** (NODES + 1)

Record = MappingProxyType[str, Any]
"""One row of a table: a read-only mapping from column name to value."""


class _Facts(Mapping[str, "Array"]):
    """A table's columns and, computed when asked for, the facts about its architectures."""

    def __init__(self, columns: Mapping[str, Array]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> Array:
        return FACTS[name](self._columns["hash"]) if name in FACTS else self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._columns, *FACTS])

    def __len__(self) -> int:
        return len(self._columns) + len(FACTS)


class ArchTable(Mapping[int, Record]):
    """A table of architectures: hash (or `Arch`) -> `Record`.

    Queries such as `where`, `top` and `pareto` give smaller tables, so they can be
    chained. The order of the rows is the order of iteration.

    Args:
        manifest: What the table is and where its figures come from.
        columns: Arrays of one length by name, ``hash`` among them.
        curves_path: The file of its learning curves, if it has one.
    """

    def __init__(
        self,
        manifest: Manifest,
        columns: ColumnSet,
        curves_path: Path | None = None,
    ) -> None:
        self.manifest = manifest
        self._columns = columns
        self._curves_path = curves_path
        self._records: dict[int, Record] = {}

    # ---------------------------------------------------------------- a mapping

    def __getitem__(self, key: Arch | int) -> Record:
        """Return the record of an architecture or a hash.

        A record is made when it is first asked for, and kept.

        Raises:
            UnknownHashError: If the table does not hold it.
        """
        try:
            return self._records[key]  # type: ignore[index]
        except (KeyError, TypeError):
            return self._record(key)

    def _record(self, key: Arch | int) -> Record:
        """Make the record of an architecture or a hash, and keep it."""
        row = self._row(key)
        record = MappingProxyType({name: cells[row] for name, cells in self._cells})
        self._records[hash_of(key)] = record
        return record

    @cached_property
    def _cells(self) -> list[tuple[str, Sequence[Any]]]:
        """The columns but the hash, as plain Python values."""
        return [(name, self._columns.cells(name)) for name in self.columns if name != "hash"]

    def _row(self, key: Arch | int) -> int:
        """Return the row of an architecture or a hash."""
        try:
            row = self._rows[hash_of(key)]
        except (TypeError, IndexError):
            row = -1
        if row < 0 or hash_of(key) < 0:
            raise self._unknown(key)
        return row

    @cached_property
    def _rows(self) -> array[int]:
        """The row of every possible hash, -1 where there is none."""
        rows: array[int] = array("i", [-1]) * _ALL_HASHES
        for row, number in enumerate(self._columns.cells("hash")):
            rows[number] = row
        return rows

    def _unknown(self, key: object) -> UnknownHashError:
        """Say why a key is not in the table."""
        try:
            arch = key if isinstance(key, Arch) else Arch.from_hash(key)  # type: ignore[arg-type]
        except UnknownHashError as error:
            return error
        return UnknownHashError(
            f"{arch!r} (hash {arch.valid_hash()}) is not among the {len(self):,} "
            f"architectures of this table of {self.name!r} (space {self.manifest.space!r})"
        )

    def __iter__(self) -> Iterator[int]:
        return iter(self._columns.cells("hash"))

    def __len__(self) -> int:
        return len(self._columns.cells("hash"))

    def __contains__(self, key: object) -> bool:
        try:
            self._row(key)  # type: ignore[arg-type]
        except UnknownHashError:
            return False
        return True

    def __repr__(self) -> str:
        return (
            f"<ArchTable {self.name!r}: {len(self):,} architectures, {self.manifest.origin} "
            f"figures: {', '.join(self.columns)}>"
        )

    # ---------------------------------------------------------------- whole columns

    @property
    def name(self) -> str:
        """The dataset that the figures were measured on."""
        return self.manifest.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    @property
    def hashes(self) -> Ints:
        """The hash of every row."""
        return self._columns["hash"]

    def archs(self) -> list[Arch]:
        """Return the architecture of every row, in canonical form."""
        return [Arch.from_hash(number) for number in self]

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

    def frame(self) -> pd.DataFrame:
        """Return the table as a pandas frame with the hash as index."""
        return pd.DataFrame({name: self.column(name) for name in self.columns}).set_index("hash")

    @overload
    def lookup(self, keys: Keys, column: str) -> Array: ...

    @overload
    def lookup(self, keys: Keys, column: None = None) -> dict[str, Array]: ...

    def lookup(self, keys: Keys, column: str | None = None) -> Array | dict[str, Array]:
        """Return the figures of many architectures in one call.

        Args:
            keys: Hashes or architectures; repetitions are fine.
            column: A column, for an array; None for all, as a dictionary of arrays.

        Raises:
            UnknownHashError: If the table lacks one of the keys; the first is named.
            UnknownNameError: If there is no such column.
            QueryError: If the keys are no integers.
        """
        numbers = keys if isinstance(keys, np.ndarray) else np.array([*map(hash_of, keys)], int)
        if numbers.dtype.kind not in "iu":
            raise QueryError(f"hashes are integers, not {numbers.dtype} as in {numbers[:1]}")
        rows = np.frombuffer(self._rows, np.int32).take(numbers, mode="clip")
        if rows.size and (rows.min() < 0 or numbers.min() < 0 or numbers.max() >= _ALL_HASHES):
            raise self._unknown(next(key for key in numbers.tolist() if key not in self))
        if column is not None:
            return self.column(column).take(rows)
        return {name: self.column(name).take(rows) for name in self.columns}

    # ---------------------------------------------------------------- queries

    def _take(self, rows: Ints) -> ArchTable:
        """Return the table of some rows, in this order."""
        return ArchTable(self.manifest, Selection(self._columns, rows), self._curves_path)

    def where(self, *conditions: str | Mask, **equals: object) -> ArchTable:
        """Return the rows that fulfil all conditions.

        Args:
            conditions: Texts such as ``latency < 0.004`` (see `benchquery.query`), or
                arrays of booleans, one a row. Beside the columns they may name the
                facts ``link``, ``depth``, ``leaves`` and, for its number of uses, any
                operation.
            equals: Columns or facts that must equal a value.

        Raises:
            QueryError: If a condition can't be understood.

        Example:
            >>> fast = lightread("cora").where("latency < 0.004", "gat == 0", depth=2)
        """
        columns = _Facts(self._columns)
        mask = np.ones(len(self), dtype=bool)
        for condition in conditions:
            if isinstance(condition, str):
                mask &= matches(columns, condition)
            elif np.shape(condition) == mask.shape and np.asarray(condition).dtype == bool:
                mask &= condition
            else:
                raise QueryError(
                    f"a condition is a text or {len(self):,} booleans, not {condition!r}"
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
        direction = schema.column(name).direction
        if direction is None:
            allowed = [n for n in self.columns if schema.column(n).direction]
            raise QueryError(
                f"neither way is better for column {name!r}; allowed: {', '.join(allowed)}"
            )
        return -values if direction == "higher" else values.astype(np.float64)

    def top(self, k: int = 10, by: str = "valid_perf") -> ArchTable:
        """Return the k best rows, the best first; ties in the order of the hashes.

        Raises:
            QueryError: If k is less than 1 or the column has no better direction.
        """
        if k < 1:
            raise QueryError(f"k must be at least 1, not {k}")
        return self._take(np.lexsort((self.hashes, self._cost(by)))[:k])

    def pareto(
        self, maximise: Names = ("valid_perf",), minimise: Names = ("latency",)
    ) -> ArchTable:
        """Return the rows that no other row beats in all the named columns at once.

        Raises:
            QueryError: If no column is named.
        """
        up = [maximise] if isinstance(maximise, str) else list(maximise)
        down = [minimise] if isinstance(minimise, str) else list(minimise)
        if not up + down:
            raise QueryError("name at least one column to maximise or minimise")
        costs = [-self.column(name).astype(np.float64) for name in up]
        costs += [self.column(name).astype(np.float64) for name in down]
        return self._take(pareto_rows(np.stack(costs, axis=1)))

    def rank(self, key: Arch | int, by: str = "valid_perf") -> int:
        """Return the rank of an architecture: 1 plus the number of strictly better ones."""
        cost = self._cost(by)
        return 1 + int((cost < cost[self._row(key)]).sum())

    def regret(self, key: Arch | int, by: str = "valid_perf") -> float:
        """Return how much worse than the best an architecture is; 0 for the best."""
        cost = self._cost(by)
        return float(cost[self._row(key)] - np.nanmin(cost))

    @property
    def plot(self) -> TablePlots:
        """The pictures of the table: ``table.plot.pareto()`` is a matplotlib figure."""
        from benchquery.figures.accessor import TablePlots

        return TablePlots(self)

    # ---------------------------------------------------------------- curves

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

    def curve(self, key: Arch | int, seed: Seed = "mean") -> Array:
        """Return the figures of every epoch of an architecture: (epochs, 7).

        The columns are those of `benchquery.schema.CURVE_COLUMNS`.

        Raises:
            UnknownHashError: If the table does not hold the architecture.
            QueryError: If there are no curves, or no such seed.
        """
        self._row(key)
        return self.curves.curve(hash_of(key), seed)
