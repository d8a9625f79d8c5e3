"""All files of the explorer, the page's own and those of its tables, by their path."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import threading
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

from benchquery._imports import LazyModule
from benchquery.errors import CorruptTableError, QueryError, TableNotFoundError, UnknownNameError
from benchquery.explorer.assets import MEDIA_TYPES, read_assets
from benchquery.explorer.catalogue import catalogue_json, is_metric, shown_columns, start_table
from benchquery.explorer.items import Table, config_file, curve_file, curve_keys
from benchquery.explorer.wire import forms_stream, table_stream
from benchquery.kinds.architectures.table import ArchTable
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.registry import kind_of
from benchquery.table.store import PathLike, TableInfo, open_folder, tables
from benchquery.text import to_json

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

INDEX = "index.html"
_STREAM = ".arrow.gz"
_JSON = ".json"
_PACKED = ".json.gz"
_LONGEST_SHOWN = 80
_SHOWN = ("architectures", "condensed")


@dataclasses.dataclass(frozen=True)
class File:
    """A file of the site: its bytes and what they are sent as."""

    body: bytes
    media_type: str


class Site:
    """The explorer's files, made when they are first asked for.

    Only what `paths` lists can be read: a path is a name to look up, never a place on
    disk. The tables are those that are there when the site is made. A site may be read
    by several threads.

    Args:
        source: A folder of tables or one table; None for all sources. Tables of operation
            weights are left out.

    Raises:
        TableNotFoundError: If there is no table.
        CorruptTableError: If a manifest can't be read, or a table's name is no file name.
    """

    def __init__(self, source: PathLike | None = None) -> None:
        found: dict[str, TableInfo] = {}
        for info in tables(source):
            if info.kind in _SHOWN:
                found.setdefault(_plain(info), info)
        if not found:
            raise TableNotFoundError(
                f"there are no tables of {' or '.join(kind_of(kind).many for kind in _SHOWN)} in "
                f"{source or 'any source'}"
            )
        self._infos = found
        self._assets = read_assets()
        self._kept: dict[str, bytes] = {}
        self._opened: dict[str, Table] = {}
        self._lock = threading.RLock()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(self._infos)

    @property
    def _architectures(self) -> list[str]:
        """The names of the tables of architectures."""
        return [name for name, info in self._infos.items() if info.kind == "architectures"]

    def warm_up(self) -> None:
        """Make the files that the page asks for first."""
        for path in (f"data/catalogue{_JSON}", f"data/tables/{start_table(self.names)}{_STREAM}"):
            self.read(path)

    def paths(self) -> Iterator[str]:
        """List the paths of all files."""
        yield from self._assets
        yield f"data/catalogue{_JSON}"
        yield f"data/forms{_STREAM}"
        for name in self._infos:
            yield f"data/tables/{name}{_STREAM}"
            table = self._table(name)
            for key in curve_keys(table):
                yield f"data/curves/{name}/{key}{_STREAM}"
            if isinstance(table, CondensedTable):
                for config in table:
                    yield f"data/configs/{name}/{config}{_PACKED}"
        for first, second in itertools.combinations(sorted(self._architectures), 2):
            yield f"data/comparisons/{first}/{second}{_JSON}"

    def read(self, path: str) -> File:
        """Return the file at a path.

        Raises:
            UnknownNameError: If there is no such file.
            TableNotFoundError: If there is no such table.
            UnknownHashError: If a table does not hold an architecture or a configuration.
            QueryError: If a table has no curves.
            CorruptTableError: If a table is damaged.
        """
        body = self._assets[path] if path in self._assets else self._data(path)
        return File(body, MEDIA_TYPES[PurePosixPath(path).suffix])

    def _data(self, path: str) -> bytes:
        """Return a file that is made from tables."""
        match path.split("/"):
            case ["data", "catalogue.json"]:
                return self._keep(path, lambda: catalogue_json(self._infos.values()).encode())
            case ["data", "forms.arrow.gz"]:
                return self._keep(path, forms_stream)
            case ["data", "tables", file] if file.endswith(_STREAM):
                table = self._table(file.removesuffix(_STREAM))
                return self._keep(path, lambda: table_stream(table))
            case ["data", "curves", name, file] if file.endswith(_STREAM):
                curve = curve_file(self._table(name), file.removesuffix(_STREAM))
                if curve is not None:
                    return curve
            case ["data", "configs", name, file] if file.endswith(_PACKED):
                table = self._table(name)
                if isinstance(table, CondensedTable):
                    return config_file(table, file.removesuffix(_PACKED))
            case ["data", "comparisons", first, file] if file.endswith(_JSON):
                one, two = self._table(first), self._table(file.removesuffix(_JSON))
                if isinstance(one, ArchTable) and isinstance(two, ArchTable):
                    return self._keep(path, lambda: _comparison(one, two))
        raise UnknownNameError(f"there is nothing at {_shorten('/' + path)!r}; start at '/'")

    def _keep(self, path: str, make: Callable[[], bytes]) -> bytes:
        """Make a file once; who asks for it meanwhile waits, who asks for a made one doesn't."""
        if path not in self._kept:
            with self._lock:
                if path not in self._kept:
                    self._kept[path] = make()
        return self._kept[path]

    def _table(self, name: str) -> Table:
        """Open a table once."""
        if name not in self._infos:
            raise TableNotFoundError(
                f"there is no table {_shorten(name)!r}; there are: {', '.join(self._infos)}"
            )
        with self._lock:
            if name not in self._opened:
                self._opened[name] = cast(Table, open_folder(self._infos[name].path))
            return self._opened[name]


def _plain(info: TableInfo) -> str:
    """Return a table's name after checking that it can be part of a path."""
    if info.name.startswith(".") or set("/\\\0") & set(info.name) or not info.name:
        raise CorruptTableError(
            f"the table in {info.path} calls itself {info.name!r}, which is no file name; "
            "correct the name in its manifest"
        )
    return info.name


def _comparison(first: ArchTable, second: ArchTable) -> bytes:
    """Return how alike two tables rank, by each metric that both have, as JSON.

    There are no rows if the tables have too little in common.
    """
    from benchquery.kinds.architectures.analysis.agreement import agreement

    metrics = [
        {column.name for column in shown_columns(table.manifest) if is_metric(column)}
        for table in (first, second)
    ]
    rows = []
    with contextlib.suppress(QueryError), np.errstate(invalid="ignore", divide="ignore"):
        rows = [agreement(first, second, by) for by in sorted(set.intersection(*metrics))]
    return f"[{', '.join(map(to_json, rows))}]".encode()


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."
