"""Opening tables of architectures: by name, or as the original per-epoch files were."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from benchquery.errors import CorruptTableError, TableNotFoundError
from benchquery.kinds.architectures.arch import Arch, hash_of
from benchquery.kinds.architectures.table import ArchTable
from benchquery.table.curves import Seed
from benchquery.table.store import PathLike, open_folder, open_table

_KIND = "architectures"


def lightread(name: PathLike, source: PathLike | None = None) -> ArchTable:
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
    return cast(ArchTable, open_table(name, source, _KIND))


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
    try:
        if path.is_dir():
            return CurveTable(cast(ArchTable, open_folder(path, _KIND)), seed)
        if not path.is_file() and path.suffix != ".bench":
            return CurveTable(lightread(os.fspath(table), source), seed)
        if not path.is_file():
            raise TableNotFoundError(f"there is no file {path}")
    except OSError as error:
        raise CorruptTableError(f"{path} can't be read: {error.strerror}") from error
    from benchquery.pickles import load_plain_pickle

    content = load_plain_pickle(path)
    if not isinstance(content, dict):
        raise CorruptTableError(f"{path} holds no dictionary by hash")
    return content
