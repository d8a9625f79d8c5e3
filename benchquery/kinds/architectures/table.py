"""Tables of architectures: a mapping from hash to record, and whole columns at once.

Tables never change once opened, so any number of threads may read one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self, overload

from benchquery._imports import LazyModule
from benchquery.errors import QueryError, UnknownHashError
from benchquery.kinds.architectures.arch import NODES, Arch, hash_of
from benchquery.kinds.architectures.encoding import FACTS
from benchquery.table.columnfile import ColumnSet, Selection
from benchquery.table.curves import Seed
from benchquery.table.manifest import Manifest
from benchquery.table.rows import Record, RowTable

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from benchquery._typing import Array, Ints, Keys
else:
    np = LazyModule("numpy")
    pd = LazyModule("pandas", extra="pandas")

_ALL_HASHES = 10 ** (NODES + 1)


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


class ArchTable(RowTable[int]):
    """A table of architectures: hash (or `Arch`) -> `Record`.

    The order of the rows is the order of iteration.

    Args:
        manifest: What the table is and where its figures come from.
        columns: Arrays of one length by name, ``hash`` among them.
        curves_path: The file of its learning curves, if it has one.
    """

    _expense = "latency"

    def __init__(
        self, manifest: Manifest, columns: ColumnSet, curves_path: Path | None = None
    ) -> None:
        super().__init__(manifest, columns, curves_path)
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
        record = self._record_at(self._row(key))
        self._records[hash_of(key)] = record
        return record

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
    def hashes(self) -> Ints:
        """The hash of every row."""
        return self._columns["hash"]

    def archs(self) -> list[Arch]:
        """Return the architecture of every row, in canonical form."""
        return [Arch.from_hash(number) for number in self]

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

    def _take(self, rows: Ints) -> Self:
        return type(self)(self.manifest, Selection(self._columns, rows), self._curves_path)

    @property
    def _order(self) -> Ints:
        return self.hashes

    @property
    def _asked(self) -> Mapping[str, Array]:
        return _Facts(self._columns)

    def rank(self, key: Arch | int, by: str = "valid_perf") -> int:
        """Return the rank of an architecture: 1 plus the number of strictly better ones."""
        cost = self._cost(by)
        return 1 + int((cost < cost[self._row(key)]).sum())

    def regret(self, key: Arch | int, by: str = "valid_perf") -> float:
        """Return how much worse than the best an architecture is; 0 for the best."""
        cost = self._cost(by)
        return float(cost[self._row(key)] - np.fmin.reduce(cost))

    # ---------------------------------------------------------------- curves

    def curve(self, key: Arch | int, seed: Seed = "mean") -> Array:
        """Return the figures of every epoch of an architecture: (epochs, 7).

        The columns are those of `benchquery.table.schema.CURVE_COLUMNS`.

        Raises:
            UnknownHashError: If the table does not hold the architecture.
            QueryError: If there are no curves, or no such seed.
        """
        self._row(key)
        return self.curves.curve(hash_of(key), seed)
