"""Finds, checks and opens tables.

Tables are looked for in sources: the ones bundled with the package, those that were fetched, then
the folders named by the environment variable ``GRAPHTAB_TABLES``. A source is a folder of tables,
or one table. A table goes by the name of its folder. Every opening compares the file with its
checksum, so a damaged table is named and never served.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchquery.errors import (
    BenchQueryError,
    CorruptTableError,
    QueryError,
    TableKindError,
    TableNotFoundError,
)
from benchquery.naming import DATASET_ALIASES, match_name, suggestion
from benchquery.places import fetched_tables
from benchquery.table.columnfile import FileColumns
from benchquery.table.foreign import is_file, write_foreign
from benchquery.table.kind import resolve
from benchquery.table.manifest import (
    CURVES,
    MANIFEST,
    SUMMARY,
    Manifest,
    check_file,
    check_size,
    read_manifest,
)
from benchquery.table.registry import kind_of, kinds
from benchquery.table.rows import RowTable
from benchquery.table.schema import Origin

TABLES_VARIABLE = "GRAPHTAB_TABLES"

_PACKAGE = Path(__file__).parent.parent
BUNDLED = next(
    folder for folder in (_PACKAGE / "data", _PACKAGE.parent / "data") if folder.is_dir()
)
"""The data that comes with the package."""

PathLike = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class TableInfo:
    """A table that can be opened.

    Attributes:
        name: What to open it by: the name of its folder.
        dataset: What its figures were measured on.
        kind: What its rows are.
        origin: Whether the figures are published, measured or synthetic.
        space: The space of its architectures, the grid of its condensed graphs, or the like.
        rows: How many rows it has.
        metric: What ``perf`` is.
        curves: Whether it has learning curves.
        path: Its folder.
    """

    name: str
    dataset: str
    kind: str
    origin: Origin
    space: str
    rows: int
    metric: str
    curves: bool
    path: Path


def sources() -> tuple[Path, ...]:
    """Return the folders that tables are looked for in, in order."""
    named = os.environ.get(TABLES_VARIABLE, "")
    folders = (Path(folder) for folder in named.split(os.pathsep) if folder)
    return (BUNDLED, fetched_tables(), *folders)


def _folders(source: Path) -> Iterator[Path]:
    """List the folders of the tables of a source.

    Raises:
        CorruptTableError: If the source is a folder that can't be listed.
    """
    if _is_table(source):
        yield source
    elif source.is_dir():
        try:
            folders = sorted(source.iterdir())
        except OSError as error:
            raise CorruptTableError(f"{source} can't be listed: {error.strerror}") from error
        for folder in folders:
            if _is_table(folder) and not folder.name.startswith("."):
                yield folder


def _is_table(folder: Path) -> bool:
    """Tell whether a folder has a manifest, whatever that is: reading it refuses what is none."""
    return os.path.lexists(folder / MANIFEST)


def _is_name(name: str) -> bool:
    """Tell whether a name is that of a folder in a source: no path, and not hidden."""
    return Path(name).name == name and not name.startswith(".")


def _name_of(folder: Path) -> str:
    """Return the name of a folder, also of one that was named relative to another."""
    return folder.name or folder.resolve().name


def table_folders(source: PathLike | None = None) -> list[Path]:
    """List the folders of tables, whatever is in them.

    Args:
        source: A folder of tables or one table; None for all sources.

    Raises:
        TableNotFoundError: If the source is no folder.
    """
    if source is not None and not Path(source).is_dir():
        raise TableNotFoundError(f"{source} is no folder")
    places = sources() if source is None else (Path(source),)
    return [folder for place in places for folder in _folders(place)]


def tables(
    source: PathLike | None = None,
    kind: str | None = None,
    *,
    left_out: list[tuple[Path, BenchQueryError]] | None = None,
) -> list[TableInfo]:
    """List the tables that can be opened.

    Args:
        source: A folder of tables or one table; None for all sources.
        kind: The kind of their rows; None for all kinds.
        left_out: Where to put the folders whose manifest can't be read, each with the reason;
            None to raise the first reason.

    Raises:
        TableNotFoundError: If the source is no folder.
        CorruptTableError: If a manifest can't be read.
        SchemaVersionError: If one has a layout that is unknown to this version.
    """
    infos = []
    for folder in table_folders(source):
        try:
            infos.append(table_info(folder))
        except BenchQueryError as error:
            if left_out is None:
                raise
            left_out.append((folder, error))
    return [info for info in infos if kind in (None, info.kind)]


def table_info(folder: Path) -> TableInfo:
    """Describe the table in a folder.

    Raises:
        CorruptTableError: If its manifest can't be read.
        SchemaVersionError: If the layout is unknown to this version.
    """
    manifest = read_manifest(folder)
    return TableInfo(
        name=_name_of(folder),
        dataset=manifest.dataset,
        kind=manifest.kind,
        origin=manifest.origin,
        space=manifest.space,
        rows=manifest.rows,
        metric=manifest.metric,
        curves=CURVES in manifest.files,
        path=folder,
    )


def find(name: PathLike, source: PathLike | None = None, kind: str | None = None) -> Path:
    """Return the folder of a table.

    Args:
        name: A table of `tables`, in any letter case; where its kind allows, its dataset; or a
            folder that is a table.
        source: A folder of tables or one table; None for all sources.
        kind: The kind of its rows; None for the first of that name, whatever it holds.

    Raises:
        TableNotFoundError: If no source holds it; the ones that are there are named.
        TableKindError: If there is one of this name, but of another kind.
        QueryError: If several tables in one place are of the dataset, or the name is none.
    """
    return _find(name, source, kind)[0]


def _find(name: PathLike, source: PathLike | None, kind: str | None) -> tuple[Path, Manifest]:
    """Return the folder of a table and its manifest."""
    if not isinstance(name, (str, os.PathLike)) or not os.fspath(name):
        raise QueryError(f"a table is opened by its name, a text such as 'cora', not {name!r}")
    is_folder = not isinstance(name, str) or os.sep in name
    name = os.fspath(name)
    places = sources() if source is None else (Path(source),)
    candidates = [Path(name)] if is_folder and _is_table(Path(name)) else []
    other: tuple[Path, Manifest] | None = None
    for folder in itertools.chain(candidates, _named(name, places, kind)):
        manifest = read_manifest(folder)
        if kind in (None, manifest.kind):
            return folder, manifest
        other = other or (folder, manifest)
    if other is not None and kind is not None:
        raise _kind_error(*other, kind)
    raise _not_found(name, source, places)


def _named(name: str, places: tuple[Path, ...], kind: str | None) -> Iterator[Path]:
    """List the tables that go by a name, place by place, the likeliest first."""
    for place in places:
        if _is_name(name) and _is_table(folder := place / name):
            yield folder
        folders = list(_folders(place))
        by_name = {_name_of(folder): folder for folder in folders}
        meant = match_name(name, by_name, DATASET_ALIASES)
        if meant is not None and meant != name:
            yield by_name[meant]
        elif meant == name and by_name[name] == place:
            yield place
        if folders == [place] and match_name(name, [read_manifest(place).dataset]):
            yield place
        if kind is not None and kind_of(kind).by_dataset:
            yield from _of_dataset(name, place, kind)


def _of_dataset(name: str, place: Path, kind: str) -> Iterator[Path]:
    """List the one table of a kind that a place has of a dataset, or else of a sample of it.

    Of several, it is the one that all others are called after, as ``cora-condensed-tasks`` is
    after ``cora-condensed``.
    """
    if not place.is_dir():
        return
    infos = tables(place, kind, left_out=[])
    same: list[TableInfo] = []
    for named in ([i.dataset for i in infos], [i.dataset.partition(":")[0] for i in infos]):
        meant = match_name(name, dict.fromkeys(named), DATASET_ALIASES)
        same = same or [i for i, one in zip(infos, named, strict=True) if one == meant]
    first = min(same, key=lambda info: len(info.name), default=None)
    if first and all(info is first or info.name.startswith(f"{first.name}-") for info in same):
        same = [first]
    if len(same) > 1:
        raise QueryError(
            f"{place} has several tables of {kind_of(kind).many} of {name!r}; name one of: "
            f"{', '.join(info.name for info in same)}"
        )
    yield from (info.path for info in same)


def _not_found(name: str, source: PathLike | None, places: tuple[Path, ...]) -> TableNotFoundError:
    """Say that there is no such table, which there are, and where others are looked for."""
    there = [_name_of(folder) for place in places for folder in _folders(place)]
    where = f"in {source}" if source is not None else "here"
    if source is None and (offered := match_name(name, _to_fetch())):
        said = f"the table {offered!r} is not part of this installation; get it with"
        return TableNotFoundError(
            f"{said} benchquery.fetch({offered!r})", f"{said}: benchquery fetch {offered}"
        )
    said, shell = (
        f"there is no table {name!r} {where}{suggestion(name, there) or ';'} there are: "
        f"{', '.join(there) or 'none'}. Tables built elsewhere open with {option} or through the "
        f"variable {TABLES_VARIABLE}"
        for option in ("source=FOLDER", "--source FOLDER")
    )
    return TableNotFoundError(said, shell)


def _to_fetch(kind: str | None = None) -> list[str]:
    """Name the tables that the package's registry offers and that are not here."""
    from benchquery.table.offers import bundled_offers

    there = {_name_of(folder) for place in sources() for folder in _folders(place)}
    offers = bundled_offers(BUNDLED).values()
    return [
        offer.name for offer in offers if offer.name not in there and kind in (None, offer.kind)
    ]


def _kind_error(folder: Path, manifest: Manifest, kind: str) -> TableKindError:
    """Say that a table holds another kind of rows, and how it is opened."""
    own, wanted = kind_of(manifest.kind), kind_of(kind)
    there = ", ".join(info.name for info in tables(kind=kind, left_out=[])) or "none"
    said = f"{folder} is a table of {own.many}, not of {wanted.many}"
    rest = f"Tables of {wanted.many} here: {there}"
    if more := _to_fetch(kind):
        rest += f"; to be had by benchquery fetch: {', '.join(more)}"
    return TableKindError(
        f"{said}; open it with benchquery.{own.reader}. {rest}", shell=f"{said}. {rest}"
    )


def open_folder(folder: PathLike, kind: str | None = None) -> RowTable[Any]:
    """Open the table in a folder.

    Args:
        folder: The folder.
        kind: The kind that its rows must be; None for any.

    Raises:
        CorruptTableError: If a file is damaged, truncated or missing.
        SchemaVersionError: If the layout is unknown to this version.
        TableKindError: If its rows are of another kind.
        KindError: If no installed package has its kind.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    if kind not in (None, manifest.kind):
        raise _kind_error(folder, manifest, str(kind))
    return _open(folder, manifest)


def _open(folder: Path, manifest: Manifest, home: Path | None = None) -> RowTable[Any]:
    kind = kind_of(manifest.kind)
    home = home or (folder if folder.name else folder.resolve())
    for name, expected in manifest.files.items():
        if name != SUMMARY:
            check_size(folder, name, expected)
    table: RowTable[Any] = resolve(kind.table)(manifest, FileColumns(folder, manifest), home)
    return table


def open_table(
    name: PathLike, source: PathLike | None = None, kind: str | None = None
) -> RowTable[Any]:
    """Open a table by name, whatever its rows are: this is ``benchquery.open``.

    Args:
        name: A table of `tables`, for example ``cora`` or ``cora-condensed``, a folder that is one,
            or a file of others that a kind knows (`benchquery.table.foreign`).
        source: A folder of tables, or one table; None for all sources.
        kind: The kind that its rows must be; None for any.

    Raises:
        TableNotFoundError: If there is no such table.
        TableKindError: If its rows are of another kind.
        CorruptTableError: If a file is damaged, truncated or missing.
        SchemaVersionError: If the layout is unknown to this version.
        KindError: If no installed package has its kind.
    """
    if isinstance(name, (str, os.PathLike)) and is_file(os.fspath(name)):
        return _open_file(Path(name), kind)
    return _open(*_find(name, source, kind))


def _open_file(file: Path, kind: str | None) -> RowTable[Any]:
    """Open a table in a file of others; it goes by the name of the file."""
    with tempfile.TemporaryDirectory() as aside:
        write_foreign(file, Path(aside))
        manifest = read_manifest(Path(aside))
        if kind not in (None, manifest.kind):
            raise _kind_error(file, manifest, str(kind))
        return _open(Path(aside), manifest, file.with_suffix(""))


def unread_files(manifest: Manifest) -> list[str]:
    """Name the files of a table that nothing here can read: checked by size and sum alone.

    HDF5 files need h5py, which a plain installation does not have.
    """
    if importlib.util.find_spec("h5py"):
        return []
    return [name for name in manifest.files if name.endswith(".h5")]


def verify(folder: PathLike) -> Manifest:
    """Check a table from end to end: every checksum, every column, row and curve.

    Every column is compared with what a Parquet reader finds in the summary. Without h5py, curves
    and graphs are checked by their checksums alone.

    Raises:
        CorruptTableError: If something does not fit; the message names it.
        SchemaVersionError: If the layout is unknown to this version.
        KindError: If no installed package has its kind.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    for name, expected in manifest.files.items():
        check_file(folder, name, expected, whole=None)
    FileColumns(folder, manifest).check()
    table, check = _open(folder, manifest), kind_of(manifest.kind).check
    if CURVES in manifest.files and CURVES not in unread_files(manifest):
        table.curves.check()
    if check is not None:
        try:
            resolve(check)(table, folder)
        except BenchQueryError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptTableError(
                f"{folder} has no rows of {kind_of(manifest.kind).many}: {error}"
            ) from error
    return manifest


def grouped(infos: list[TableInfo]) -> Iterator[tuple[str, list[TableInfo]]]:
    """Sort tables by what their rows are called, in the order of the kinds."""
    known = [kind.name for kind in kinds()]
    names = [*known, *dict.fromkeys(info.kind for info in infos if info.kind not in known)]
    for name in names:
        same = [info for info in infos if info.kind == name]
        if same:
            yield kind_of(name).many if name in known else name, same
