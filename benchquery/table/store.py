"""Finds, checks and opens tables.

Tables are looked for in sources: the ones bundled with the package, then the folders
named by the environment variable ``GRAPHTAB_TABLES``. A source is a folder of tables,
or one table. Every opening compares the file with its checksum, so a damaged table is
named and never served.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery.errors import CorruptTableError, QueryError, TableKindError, TableNotFoundError
from benchquery.kinds.architectures.arch import Arch, hash_of
from benchquery.kinds.architectures.table import ArchTable
from benchquery.table.columnfile import FileColumns
from benchquery.table.curves import Seed
from benchquery.table.manifest import (
    CURVES,
    GRAPHS,
    MANIFEST,
    Manifest,
    check_size,
    check_sum,
    describe_file,
    read_manifest,
)
from benchquery.table.schema import Kind, Origin

if TYPE_CHECKING:
    from benchquery.kinds.condensed.table import CondensedTable

TABLES_VARIABLE = "GRAPHTAB_TABLES"

_PACKAGE = Path(__file__).parent.parent
BUNDLED = next(
    folder for folder in (_PACKAGE / "data", _PACKAGE.parent / "data") if folder.is_dir()
)
"""The data that comes with the package."""

ROWS: Mapping[Kind, str] = {
    "architectures": "architectures",
    "condensed": "condensed graphs",
    "weights": "operation weights",
}
"""What the rows of each kind of table are, in words."""
_OPENERS: Mapping[Kind, str] = {
    "architectures": "lightread",
    "condensed": "condread",
    "weights": "analysis.differentiable.read_weights",
}

PathLike = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class TableInfo:
    """A table that can be opened.

    Attributes:
        name: What to open it by.
        dataset: What its figures were measured on.
        kind: What its rows are: architectures, condensed graphs, or operation weights.
        origin: Whether the figures are published, measured or synthetic.
        space: The space of its architectures, or the grid of its condensed graphs.
        rows: How many rows it has.
        metric: What ``perf`` is.
        curves: Whether it has learning curves.
        path: Its folder.
    """

    name: str
    dataset: str
    kind: Kind
    origin: Origin
    space: str
    rows: int
    metric: str
    curves: bool
    path: Path


def sources() -> tuple[Path, ...]:
    """Return the folders that tables are looked for in, in order."""
    named = os.environ.get(TABLES_VARIABLE, "")
    return (BUNDLED, *(Path(folder) for folder in named.split(os.pathsep) if folder))


def _folders(source: Path) -> Iterator[tuple[str, Path]]:
    """List the tables of a source by name."""
    if (source / MANIFEST).is_file():
        yield read_manifest(source).name, source
    elif source.is_dir():
        for folder in sorted(source.iterdir()):
            if (folder / MANIFEST).is_file() and not folder.name.startswith("."):
                yield folder.name, folder


def tables(source: PathLike | None = None, kind: Kind | None = None) -> list[TableInfo]:
    """List the tables that can be opened.

    Args:
        source: A folder of tables or one table; None for all sources.
        kind: The kind of their rows; None for all kinds.

    Raises:
        TableNotFoundError: If the source is no folder.
        CorruptTableError: If a manifest can't be read.
    """
    if source is not None and not Path(source).is_dir():
        raise TableNotFoundError(f"{source} is no folder")
    found = []
    for place in sources() if source is None else (Path(source),):
        for name, folder in _folders(place):
            manifest = read_manifest(folder)
            if kind not in (None, manifest.kind):
                continue
            found.append(
                TableInfo(
                    name=name,
                    dataset=manifest.name,
                    kind=manifest.kind,
                    origin=manifest.origin,
                    space=manifest.space,
                    rows=manifest.rows,
                    metric=manifest.metric,
                    curves=CURVES in manifest.files,
                    path=folder,
                )
            )
    return found


def find(name: str, source: PathLike | None = None, kind: Kind | None = None) -> Path:
    """Return the folder of a table.

    Args:
        name: A table of `tables`; for a condensed one, its dataset will do.
        source: A folder of tables or one table; None for all sources.
        kind: The kind of its rows; None for the first of that name, whatever it holds.

    Raises:
        TableNotFoundError: If no source holds it; the ones that are there are named.
        TableKindError: If there is one of this name, but of another kind.
        QueryError: If several condensed tables in one place are of the dataset.
    """
    return _find(name, source, kind)[0]


def _find(name: str, source: PathLike | None, kind: Kind | None) -> tuple[Path, Manifest]:
    """Return the folder of a table and its manifest."""
    places = sources() if source is None else (Path(source),)
    other: Path | None = None
    for place in places:
        for folder in _named(name, place, kind):
            manifest = read_manifest(folder)
            if kind in (None, manifest.kind):
                return folder, manifest
            other = other or folder
    if other is not None and kind is not None:
        raise _kind_error(other, kind)
    there = ", ".join(known for place in places for known, _ in _folders(place))
    where = f"in {source}" if source is not None else "here"
    raise TableNotFoundError(
        f"there is no table {name!r} {where}; there are: {there or 'none'}. Tables built "
        f"elsewhere open with source=FOLDER or through the variable {TABLES_VARIABLE}"
    )


def _named(name: str, place: Path, kind: Kind | None) -> Iterator[Path]:
    """List the tables of a place that go by a name, the likeliest first."""
    if Path(name).name == name and (place / name / MANIFEST).is_file():
        yield place / name
    if (place / MANIFEST).is_file() and read_manifest(place).name == name:
        yield place
    if kind == "condensed" and place.is_dir():
        same = [info for info in tables(place, kind) if info.dataset == name]
        if len(same) > 1:
            raise QueryError(
                f"{place} has several condensed tables of {name!r}; name one of: "
                f"{', '.join(info.name for info in same)}"
            )
        yield from (info.path for info in same)


def _kind_error(folder: Path, kind: Kind) -> TableKindError:
    """Say that a table holds another kind of rows, and how it is opened."""
    manifest = read_manifest(folder)
    there = ", ".join(info.name for info in tables(kind=kind))
    return TableKindError(
        f"{folder} is a table of {ROWS[manifest.kind]}, not of {ROWS[kind]}; open it with "
        f"benchquery.{_OPENERS[manifest.kind]}. Tables of {ROWS[kind]} here: {there or 'none'}"
    )


def open_table(folder: PathLike) -> ArchTable:
    """Open the table of architectures in a folder.

    Raises:
        CorruptTableError: If a file is damaged, truncated or missing.
        SchemaVersionError: If the layout is unknown to this version.
        TableKindError: If it is a table of condensed graphs.
    """
    folder = Path(folder)
    return _open_architectures(folder, read_manifest(folder))


def _open_architectures(folder: Path, manifest: Manifest) -> ArchTable:
    if manifest.kind != "architectures":
        raise _kind_error(folder, "architectures")
    return ArchTable(manifest, FileColumns(folder, manifest), _whole(folder, manifest, CURVES))


def open_condensed(folder: PathLike) -> CondensedTable:
    """Open the table of condensed graphs in a folder.

    Raises:
        CorruptTableError: If a file is damaged, truncated or missing.
        SchemaVersionError: If the layout is unknown to this version.
        TableKindError: If it is a table of architectures.
    """
    folder = Path(folder)
    return _open_condensed(folder, read_manifest(folder))


def _open_condensed(folder: Path, manifest: Manifest) -> CondensedTable:
    from benchquery.kinds.condensed.table import CondensedTable

    if manifest.kind != "condensed":
        raise _kind_error(folder, "condensed")
    columns = FileColumns(folder, manifest)
    curves, graphs = (_whole(folder, manifest, name) for name in (CURVES, GRAPHS))
    return CondensedTable(manifest, columns, curves, graphs)


def open_any(folder: PathLike) -> ArchTable | CondensedTable:
    """Open the table in a folder, of architectures or of condensed graphs.

    Raises:
        CorruptTableError: If a file is damaged, truncated or missing.
        SchemaVersionError: If the layout is unknown to this version.
        TableKindError: If it is a table of operation weights.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    if manifest.kind == "condensed":
        return _open_condensed(folder, manifest)
    return _open_architectures(folder, manifest)


def _whole(folder: Path, manifest: Manifest, name: str) -> Path | None:
    """Return the path of a file that a table may have, after checking its size."""
    return check_size(folder, name, manifest.files[name]) if name in manifest.files else None


def lightread(name: str, source: PathLike | None = None) -> ArchTable:
    """Open a table of architectures by name.

    Args:
        name: A table of `tables`, for example ``cora``.
        source: A folder of tables, or one table; None for all sources.

    Raises:
        TableNotFoundError: If there is no such table.
        CorruptTableError: If a file is damaged, truncated or missing.
        SchemaVersionError: If the layout is unknown to this version.

    Example:
        >>> lightread("cora")[61237]["perf"]
        0.8046666666666668
    """
    return _open_architectures(*_find(name, source, "architectures"))


def condread(name: str, source: PathLike | None = None) -> CondensedTable:
    """Open a table of condensed graphs by name.

    Args:
        name: The dataset, for example ``cora``, or the name of the table's folder.
        source: A folder of tables, or one table; None for all sources.

    Raises:
        TableNotFoundError: If there is no such table.
        CorruptTableError: If a file is damaged, truncated or missing.
        SchemaVersionError: If the layout is unknown to this version.
        QueryError: If several tables in one place are of the dataset.
    """
    return _open_condensed(*_find(name, source, "condensed"))


class CurveTable(Mapping[int, dict[str, Any]]):
    """The learning curves of a table in the form of the original per-epoch files.

    ``bench[hash]["dur"][epoch][k]`` is figure k of an epoch: training, validation and
    test performance, training, validation and test loss, best performance so far.

    Args:
        table: A table with curves.
        seed: A seed, or ``mean``.

    Raises:
        QueryError: If the table has no curves, or no such seed.
    """

    def __init__(self, table: ArchTable, seed: Seed = "mean") -> None:
        self._table = table
        self._seed = seed
        table.curves.check_seed(seed)

    def __getitem__(self, key: Arch | int) -> dict[str, Any]:
        record = dict(self._table[key])
        if self._seed != "mean":
            suffix = f"_seed{self._seed}"
            own = {name.removesuffix(suffix) for name in record if name.endswith(suffix)}
            record |= {name: record[name + suffix] for name in own}
        return record | {"dur": self._table.curve(hash_of(key), self._seed)}

    def __iter__(self) -> Iterator[int]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def read(
    table: PathLike, seed: Seed = "mean", source: PathLike | None = None
) -> Mapping[int, dict[str, Any]]:
    """Open per-epoch figures: an original ``.bench`` file, or a table with curves.

    An original file is a pickle; it is read by a reader that can build nothing but plain
    data (`benchquery.pickles`).

    Args:
        table: A ``.bench`` file, the folder of a table, or the name of one.
        seed: Which seed of a table; an original file holds one seed.
        source: Where to look for a table by name.

    Raises:
        TableNotFoundError: If there is no such file, folder or table.
        CorruptTableError: If a file is damaged.
        UnsafePickleError: If a pickle asks for anything but plain data.
        QueryError: If the table has no curves, or no such seed.
    """
    path = Path(table)
    if path.is_dir():
        return CurveTable(open_table(path), seed)
    if not path.is_file() and path.suffix != ".bench":
        return CurveTable(lightread(os.fspath(table), source), seed)
    if not path.is_file():
        raise TableNotFoundError(f"there is no file {path}")
    from benchquery.pickles import load_plain_pickle

    content = load_plain_pickle(path)
    if not isinstance(content, dict):
        raise CorruptTableError(f"{path} holds no dictionary by hash")
    return content


def verify(folder: PathLike) -> Manifest:
    """Check a table from end to end: every checksum, every row.

    Without h5py, curves and graphs are checked by their checksums alone.

    Raises:
        CorruptTableError: If something does not fit; the message names it.
        SchemaVersionError: If the layout is unknown to this version.
    """
    from benchquery.kinds.checks import check_architectures, check_condensed
    from benchquery.kinds.weights.analysis import read_weights

    folder = Path(folder)
    manifest = read_manifest(folder)
    for name, expected in manifest.files.items():
        path = check_size(folder, name, expected)
        check_sum(path, describe_file(path).sha256, expected)
    if manifest.kind == "condensed":
        check_condensed(_open_condensed(folder, manifest), folder)
    elif manifest.kind == "weights":
        read_weights(folder)
    else:
        check_architectures(_open_architectures(folder, manifest), folder)
    return manifest
