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
from typing import Any

from benchquery.arch import Arch, hash_of
from benchquery.columnfile import FileColumns
from benchquery.curves import Seed
from benchquery.errors import CorruptTableError, TableNotFoundError
from benchquery.manifest import (
    CURVES,
    MANIFEST,
    SUMMARY,
    Manifest,
    check_size,
    check_sum,
    describe_file,
    read_manifest,
)
from benchquery.schema import Origin
from benchquery.table import ArchTable

TABLES_VARIABLE = "GRAPHTAB_TABLES"

_PACKAGE = Path(__file__).parent
_BUNDLED = next(
    folder for folder in (_PACKAGE / "data", _PACKAGE.parent / "data") if folder.is_dir()
)

PathLike = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class TableInfo:
    """A table that can be opened.

    Attributes:
        name: What to open it by.
        dataset: What its figures were measured on.
        origin: Whether they are published, measured or synthetic.
        space: The space of its architectures.
        rows: How many architectures it has.
        metric: What ``perf`` is.
        curves: Whether it has learning curves.
        path: Its folder.
    """

    name: str
    dataset: str
    origin: Origin
    space: str
    rows: int
    metric: str
    curves: bool
    path: Path


def sources() -> tuple[Path, ...]:
    """Return the folders that tables are looked for in, in order."""
    named = os.environ.get(TABLES_VARIABLE, "")
    return (_BUNDLED, *(Path(folder) for folder in named.split(os.pathsep) if folder))


def _folders(source: Path) -> Iterator[tuple[str, Path]]:
    """List the tables of a source by name."""
    if (source / MANIFEST).is_file():
        yield read_manifest(source).name, source
    elif source.is_dir():
        for folder in sorted(source.iterdir()):
            if (folder / MANIFEST).is_file() and not folder.name.startswith("."):
                yield folder.name, folder


def tables(source: PathLike | None = None) -> list[TableInfo]:
    """List the tables that can be opened.

    Args:
        source: A folder of tables or one table; None for all sources.

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
            found.append(
                TableInfo(
                    name=name,
                    dataset=manifest.name,
                    origin=manifest.origin,
                    space=manifest.space,
                    rows=manifest.rows,
                    metric=manifest.metric,
                    curves=CURVES in manifest.files,
                    path=folder,
                )
            )
    return found


def find(name: str, source: PathLike | None = None) -> Path:
    """Return the folder of a table.

    Raises:
        TableNotFoundError: If no source holds it; the ones that are there are named.
    """
    places = sources() if source is None else (Path(source),)
    for place in places:
        folder = place / name
        if Path(name).name == name and (folder / MANIFEST).is_file():
            return folder
        if (place / MANIFEST).is_file() and read_manifest(place).name == name:
            return place
    there = ", ".join(known for place in places for known, _ in _folders(place))
    where = f"in {source}" if source is not None else "here"
    raise TableNotFoundError(
        f"there is no table {name!r} {where}; there are: {there or 'none'}. Tables built "
        f"elsewhere open with source=FOLDER or through the variable {TABLES_VARIABLE}"
    )


def open_table(folder: PathLike) -> ArchTable:
    """Open the table in a folder.

    Raises:
        CorruptTableError: If a file is damaged, truncated or missing.
        SchemaVersionError: If the layout is unknown to this version.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    columns = FileColumns(folder, manifest)
    curves = None
    if CURVES in manifest.files:
        curves = check_size(folder, CURVES, manifest.files[CURVES])
    return ArchTable(manifest, columns, curves)


def lightread(name: str, source: PathLike | None = None) -> ArchTable:
    """Open a table by name.

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
    return open_table(find(name, source))


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

    Raises:
        CorruptTableError: If something does not fit; the message names it.
        SchemaVersionError: If the layout is unknown to this version.
    """
    from benchquery.space import get_space

    folder = Path(folder)
    table = open_table(folder)
    manifest = table.manifest
    for name, expected in manifest.files.items():
        path = check_size(folder, name, expected)
        check_sum(path, describe_file(path).sha256, expected)
    known = get_space(manifest.space)
    outside = [number for number in table if number not in known]
    if outside:
        raise CorruptTableError(
            f"{folder / SUMMARY} has {len(outside)} hashes that are not in the space "
            f"{manifest.space!r}, for example {outside[0]}"
        )
    if len(set(table)) != len(table):
        raise CorruptTableError(f"{folder / SUMMARY} has architectures twice")
    for name in table.columns:
        table.column(name)
    return manifest
