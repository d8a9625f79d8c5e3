"""Tables of architectures: a mapping from hash to record, and whole columns at once.

Tables never change once opened, so any number of threads may read one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import QueryError, UnknownHashError
from benchquery.kinds.architectures.arch import NODES, Arch, hash_of
from benchquery.kinds.architectures.encoding import FACTS
from benchquery.naming import whole_number
from benchquery.table.curves import Seed
from benchquery.table.record import Record
from benchquery.table.rows import RowTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Ints
else:
    np = LazyModule("numpy")

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

    The order of the rows is the order of iteration. A record has the figures; `records` and
    `frame` also have the hash, the links and the operations.
    """

    # ---------------------------------------------------------------- a mapping

    def __getitem__(self, key: Arch | int) -> Record:
        """Return the record of an architecture or a hash.

        A record is made when it is first asked for, and kept.

        Raises:
            UnknownHashError: If the table does not hold it.
        """
        try:
            return self._by_hash[key]  # type: ignore[index]
        except (KeyError, TypeError):
            record = self._record_at(self._row(key))
            self._by_hash[hash_of(key)] = record
            return record

    @cached_property
    def _by_hash(self) -> dict[int, Record]:
        """The records that were asked for."""
        return {}

    def _record_at(self, row: int) -> Record:
        return Record({name: cells[row] for name, cells in self._cells})

    @cached_property
    def _cells(self) -> list[tuple[str, Sequence[Any]]]:
        """The columns but the hash, as plain Python values."""
        return [(name, self._columns.cells(name)) for name in self.columns if name != "hash"]

    def _whole_record(self, row: int) -> Mapping[str, Any]:
        form = Arch.from_hash(int(self._keys[row]))
        named = {"hash": form.valid_hash(), "link": list(form.link), "ops": list(form.ops)}
        return {**named, **self._record_at(row)}

    def _row(self, key: Arch | int) -> int:
        """Return the row of an architecture or a hash."""
        try:
            row = self._rows[hash_of(key)]
        except (TypeError, IndexError):
            row = -1
        if not isinstance(row, int) or row < 0 or hash_of(key) < 0:
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
        if not isinstance(key, (Arch, Integral)):
            number = whole_number(key) if isinstance(key, str) else None
            hint = f"; did you mean bench[{number}]?" if number is not None else ""
            if isinstance(key, slice):
                hint = "; bench.top(10) and list(bench)[:10] give some of many"
            return UnknownHashError(
                f"a table of architectures is asked by hash, a whole number such as 61237, or by "
                f"an Arch, not by {key!r}{hint}"
            )
        try:
            arch = key if isinstance(key, Arch) else Arch.from_hash(int(key))
        except UnknownHashError as error:
            return error
        return UnknownHashError(
            f"{arch!r} (hash {arch.valid_hash()}) is not among the {len(self):,} "
            f"architectures of the table {self.name!r} (space {self.manifest.space!r})"
        )

    def __contains__(self, key: object) -> bool:
        try:
            self._row(key)  # type: ignore[arg-type]
        except UnknownHashError:
            return False
        return True

    # ---------------------------------------------------------------- whole columns

    @property
    def hashes(self) -> Ints:
        """The hash of every row."""
        return self._columns["hash"]

    def archs(self) -> list[Arch]:
        """Return the architecture of every row, in canonical form."""
        return [Arch.from_hash(number) for number in self]

    def _names(self) -> Mapping[str, Array]:
        """Return links, as in ``0112``, and operations, as in ``gcn,gin,fc,cheb``."""
        ops = [",".join(arch.ops) for arch in self.archs()]
        return {"link": FACTS["link"](self.hashes), "ops": np.array(ops, dtype=object)}

    def _rows_of_keys(self, keys: Iterable[Arch | int] | Ints) -> Ints:
        if isinstance(keys, np.ndarray):
            numbers = keys
        else:
            listed = list(keys)
            if any(not isinstance(key, (Arch, Integral)) for key in listed):
                raise self._unknown(next(k for k in listed if not isinstance(k, (Arch, Integral))))
            numbers = np.array([hash_of(key) for key in listed], int)
        if numbers.dtype.kind not in "iu":
            raise QueryError(f"hashes are integers, not {numbers.dtype} as in {numbers[:1]}")
        rows: Ints = np.frombuffer(self._rows, np.int32).take(numbers, mode="clip")
        if rows.size and (rows.min() < 0 or numbers.min() < 0 or numbers.max() >= _ALL_HASHES):
            raise self._unknown(next(key for key in numbers.tolist() if key not in self))
        return rows

    # ---------------------------------------------------------------- conditions

    @property
    def _asked(self) -> Mapping[str, Array]:
        return _Facts(self._columns)

    def _meant(self, name: str, value: object) -> object:
        """Return a link list, or several of them, as the texts that conditions compare with."""
        if name != "link" or not isinstance(value, (list, tuple)):
            return value
        if value and all(isinstance(one, Integral) for one in value):
            return "".join(map(str, value))
        return [self._meant(name, one) for one in value]

    def pick(self, /, **values: str) -> int:
        """Return the row of an architecture: by its hash, or by links and operations.

        Raises:
            QueryError: If it is named in no way, or in two.
            UnknownHashError: If the table does not hold it.
        """
        given = sorted(values)
        if given == ["hash"] and (number := whole_number(values["hash"])) is not None:
            return self._row(number)
        if given == ["link", "ops"]:
            link: list[Any] = [part.strip() for part in values["link"].split(",")]
            link = [part if (place := whole_number(part)) is None else place for part in link]
            return self._row(Arch(link, [part.strip() for part in values["ops"].split(",")]))
        said = ", ".join(f"--{name} {value}" for name, value in values.items()) or "nothing"
        raise QueryError(
            "name an architecture either by --hash 10000, or by --link 0,1,2,1 --ops a,b,c,d; "
            f"given: {said}"
        )

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
