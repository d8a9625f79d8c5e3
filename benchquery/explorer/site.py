"""All files of the explorer, the page's own and those of its tables, by their path."""

from __future__ import annotations

import dataclasses
import itertools
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import (
    BenchQueryError,
    CorruptTableError,
    KindError,
    TableNotFoundError,
    UnknownHashError,
    UnknownNameError,
)
from benchquery.explorer.assets import MEDIA_TYPES, read_folder, with_links
from benchquery.explorer.catalogue import catalogue_json, start_table
from benchquery.explorer.view import SCRIPT, KindFile, PairFiles, TableFiles, View, view_of
from benchquery.explorer.wire import curve_stream, table_stream
from benchquery.table.manifest import read_manifest
from benchquery.table.registry import kind_names, kind_of
from benchquery.table.rows import RowTable
from benchquery.table.schema import CURVE_COLUMNS
from benchquery.table.store import (
    PathLike,
    TableInfo,
    open_folder,
    table_folders,
    table_info,
    verify,
)

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

INDEX = "index.html"
_STATIC = f"{__package__}:static"
_STREAM = ".arrow.gz"
_CATALOGUE = "data/catalogue.json"
_POSITION = re.compile("0|[1-9][0-9]{0,11}")
_LONGEST_SHOWN = 80


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
        source: A folder of tables or one table; None for all sources.

    Attributes:
        left_out: The folders of tables that can't be shown, each with the reason: a manifest
            that can't be read, a kind that no installed package has, rows without a key.

    Raises:
        TableNotFoundError: If there is no table to show.
    """

    def __init__(self, source: PathLike | None = None) -> None:
        self.left_out: list[tuple[Path, str]] = []
        self._infos: dict[str, TableInfo] = {}
        self._views: dict[str, View] = {}
        self._assets = read_folder(_STATIC)
        for folder in table_folders(source):
            try:
                info = table_info(folder)
                name = _plain(info.name)
                self._add_kind(info.kind)
                _check_key(folder, self._views[info.kind])
                self._infos.setdefault(name, info)
            except BenchQueryError as error:
                self.left_out.append((folder, str(error)))
        self._check_there_are_some(str(source or "any source"))
        order = kind_names()
        self._views = dict(sorted(self._views.items(), key=lambda item: order.index(item[0])))
        self._sections = {section for view in self._views.values() for section in view.files}
        added = [path for path in self._assets if path.startswith("kinds/")]
        self._assets[INDEX] = with_links(self._assets[INDEX], added)
        self._kept: dict[str, bytes] = {}
        self._names: dict[tuple[str, str], frozenset[str]] = {}
        self._opened: dict[str, RowTable[Any]] = {}
        self._lock = threading.RLock()

    def _check_there_are_some(self, where: str) -> None:
        if not self._infos:
            reasons = "".join(f"; {folder} is left out: {why}" for folder, why in self.left_out)
            raise TableNotFoundError(f"there are no tables in {where}{reasons}")

    def leave_out_damaged(self) -> None:
        """Check all tables from end to end, and leave out those that are damaged.

        Raises:
            TableNotFoundError: If none is left.
        """
        for name, info in list(self._infos.items()):
            try:
                verify(info.path)
            except BenchQueryError as error:
                self.left_out.append((info.path, str(error)))
                del self._infos[name]
        self._check_there_are_some("the source")

    def _add_kind(self, name: str) -> None:
        """Add the view of a kind, and the files that it brings to the page.

        Raises:
            KindError: If no installed package has the kind, or its view is not what it must be.
        """
        if name in self._views:
            return
        view = view_of(kind_of(_plain(name)))
        if view.page is not None:
            prefix = f"kinds/{name}/"
            try:
                files = read_folder(view.page, prefix)
            except (OSError, ImportError) as error:
                raise KindError(
                    f"kind of table {name!r}: can't read its page {view.page}: {error}"
                ) from error
            if prefix + SCRIPT not in files:
                raise KindError(f"kind of table {name!r}: its page {view.page} has no {SCRIPT}")
            self._assets |= files
        self._views[name] = view

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(self._infos)

    def warm_up(self) -> None:
        """Make the files that the page asks for first."""
        for path in (_CATALOGUE, f"data/tables/{start_table(self.names)}{_STREAM}"):
            self.read(path)

    # ---------------------------------------------------------------- what there is

    def paths(self) -> Iterator[str]:
        """List the paths of all files."""
        yield from self._assets
        yield _CATALOGUE
        for kind, view in self._views.items():
            for section, files in view.files.items():
                if isinstance(files, KindFile):
                    yield f"data/kinds/{kind}/{section}{files.ending}"
                elif isinstance(files, PairFiles):
                    for first, second in itertools.combinations(sorted(self._of_kind(kind)), 2):
                        yield f"data/{section}/{first}/{second}{files.ending}"
        for name, info in self._infos.items():
            yield f"data/tables/{name}{_STREAM}"
            if info.curves:
                yield from (f"data/curves/{name}/{row}{_STREAM}" for row in range(info.rows))
            for section, files in self._view(name).files.items():
                if isinstance(files, TableFiles):
                    for own in sorted(self._names_of(section, name, files)):
                        yield f"data/{section}/{name}/{own}{files.ending}"

    def _of_kind(self, kind: str) -> list[str]:
        """Return the names of the tables of a kind."""
        return [name for name, info in self._infos.items() if info.kind == kind]

    def _names_of(self, section: str, name: str, files: TableFiles) -> frozenset[str]:
        """Return the names of a table's own files in a section.

        Raises:
            CorruptTableError: If one is no file name, so that it would lead elsewhere.
        """
        if (section, name) not in self._names:
            listed = files.names(self._table(name))
            self._names[section, name] = frozenset(map(_plain, listed))
        return self._names[section, name]

    # ---------------------------------------------------------------- reading

    def read(self, path: str) -> File:
        """Return the file at a path.

        Raises:
            UnknownNameError: If there is no such file.
            TableNotFoundError: If there is no such table.
            QueryError: If a table has no curves.
            CorruptTableError: If a table is damaged.
        """
        body = self._assets[path] if path in self._assets else self._data(path)
        if body is None:
            raise UnknownNameError(f"there is nothing at {_shorten('/' + path)!r}; start at '/'")
        return File(body, MEDIA_TYPES[PurePosixPath(path).suffix])

    def _data(self, path: str) -> bytes | None:
        """Return a file that is made from tables; None if there is none of this path."""
        match path.split("/"):
            case ["data", "catalogue.json"]:
                return self._keep(path, self._catalogue)
            case ["data", "tables", file] if file.endswith(_STREAM):
                table = self._table(file.removesuffix(_STREAM))
                return self._keep(path, lambda: table_stream(table))
            case ["data", "curves", name, file] if file.endswith(_STREAM):
                return self._curve(name, file.removesuffix(_STREAM))
            case ["data", "kinds", kind, file]:
                return self._of_whole_kind(path, kind, file)
            case ["data", section, name, file] if section in self._sections:
                return self._own(path, section, name, file)
        return None

    def _catalogue(self) -> bytes:
        return catalogue_json(self._infos.values(), self._views, self._table).encode()

    def _curve(self, name: str, text: str) -> bytes | None:
        """Return every epoch of every seed of a row; no rows if it has no curve."""
        table, column = self._table(name), self._view(name).curves_by
        curves = table.curves
        if not _POSITION.fullmatch(text) or int(text) >= table.num_rows:
            return None
        row = int(text)
        try:
            return curve_stream(*curves.known(int(table.column(column)[row]) if column else row))
        except UnknownHashError:
            return curve_stream((), np.empty((0, curves.epochs, len(CURVE_COLUMNS)), np.float32))

    def _of_whole_kind(self, path: str, kind: str, file: str) -> bytes | None:
        """Return a file for all tables of a kind."""
        known = self._views[kind].files if kind in self._views else {}
        for section, files in known.items():
            if isinstance(files, KindFile) and section + files.ending == file:
                return self._keep(path, files.make)
        return None

    def _own(self, path: str, section: str, name: str, file: str) -> bytes | None:
        """Return a file that a kind makes of one table, or of two."""
        table, files = self._table(name), self._view(name).files.get(section)
        if files is None or not file.endswith(files.ending):
            return None
        own = file.removesuffix(files.ending)
        if isinstance(files, TableFiles) and own in self._names_of(section, name, files):
            return files.make(table, own)
        if isinstance(files, PairFiles):
            other, make = self._table(own), files.make
            if name < own and self._infos[own].kind == self._infos[name].kind:
                return self._keep(path, lambda: make(table, other))
        return None

    def _keep(self, path: str, make: Callable[[], bytes]) -> bytes:
        """Make a file once; who asks for it meanwhile waits, who asks for a made one doesn't."""
        if path not in self._kept:
            with self._lock:
                if path not in self._kept:
                    self._kept[path] = make()
        return self._kept[path]

    def _view(self, name: str) -> View:
        """Return the view of a table's kind."""
        return self._views[self._infos[name].kind]

    def _table(self, name: str) -> RowTable[Any]:
        """Open a table once."""
        if name not in self._infos:
            raise TableNotFoundError(
                f"there is no table {_shorten(name)!r}; there are: {', '.join(self._infos)}"
            )
        with self._lock:
            if name not in self._opened:
                self._opened[name] = open_folder(self._infos[name].path)
            return self._opened[name]


def _plain(name: str) -> str:
    """Return a name after checking that it can be part of a path.

    Raises:
        CorruptTableError: If it can't.
    """
    if not name or name.startswith(".") or set("/\\\0") & set(name):
        raise CorruptTableError(f"{_shorten(name)!r} is no file name; choose another")
    return name


def _check_key(folder: Path, view: View) -> None:
    """Check that a table has the columns that name its rows.

    Raises:
        CorruptTableError: If it lacks one.
    """
    columns = {column.name for column in read_manifest(folder).columns}
    missing = [name for name in view.key if name not in columns]
    if missing:
        raise CorruptTableError(
            f"the table has no column {', '.join(map(repr, missing))}, which names its rows; "
            "build it anew"
        )


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."
