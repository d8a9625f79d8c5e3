"""Writing tables: all of it or none of it."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery.errors import QueryError
from benchquery.table.columnfile import write_columns
from benchquery.table.manifest import MANIFEST, SUMMARY, Manifest, describe_file, parse_manifest
from benchquery.table.registry import kind_of
from benchquery.table.schema import Origin
from benchquery.table.stage import BEFORE, held, new_stage, recover

if TYPE_CHECKING:
    from benchquery._typing import Array


@contextlib.contextmanager
def new_table(folder: Path, *, replace: bool = False) -> Iterator[Path]:
    """Give a scratch folder to fill, and put it in place when the block ends well.

    The scratch folder stands beside the final one. After the block its files are synced
    to disk and it is renamed, so a table is there whole or not at all. One that it replaces
    goes only when the new one is in place. What a killed process left of writing the same table
    is put in order first.

    Args:
        folder: Where the table shall be.
        replace: Whether a table that is already there may go.

    Raises:
        QueryError: If something is already there that may not go.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    recover(folder)
    if folder.exists() and not replace:
        raise QueryError(f"{folder} exists already; name another folder or remove it first")
    if os.path.lexists(folder) and not (folder / MANIFEST).is_file():
        raise QueryError(f"{folder} is no table, so it is not replaced; name another folder")
    with new_stage(folder) as stage:
        yield stage
        for path in (*stage.iterdir(), stage):
            _sync(path)
        stage.chmod(0o755)
        before = stage.with_suffix(BEFORE)
        with held(folder):
            if replace and folder.exists():
                folder.rename(before)
            try:
                stage.rename(folder)
            except BaseException:
                if before.exists():
                    before.rename(folder)
                raise
            _sync(folder.parent)
            shutil.rmtree(before, ignore_errors=True)


def write_table(
    stage: Path,
    columns: Mapping[str, Array],
    *,
    name: str,
    space: str,
    origin: Origin,
    metric: str,
    source: Mapping[str, str],
    licence: str,
    notes: tuple[str, ...] = (),
    provenance: Mapping[str, Any] | None = None,
    kind: str = "architectures",
) -> Manifest:
    """Write the summary and, over all files in the folder, the manifest.

    Args:
        stage: The folder, as `new_table` gives it; other files, such as the curves, must
            be in it already.
        columns: The summary's columns; of architectures, sorted by hash. Figures that are not
            known are NaN, texts empty.
        name: The dataset.
        space: The space of the architectures, or the grid of the configurations.
        origin: Where the figures come from.
        metric: What ``perf`` is.
        source: Names, versions and addresses of where the figures come from.
        licence: The licence of the figures.
        notes: Known faults.
        provenance: How the table was built.
        kind: What the rows are. Those of a condensed table are configurations as one evaluation
            judged them, each pair once; its ``curves.h5`` names rows by their position from 0,
            its ``graphs.h5`` configurations by their hash (`benchquery.kinds.condensed.graphs`).

    Raises:
        UnknownNameError: If the schema has no such column.
        QueryError: If the manifest could not be read again.
    """
    stored = write_columns(stage / SUMMARY, columns, kind_of(kind))
    manifest = Manifest(
        name=name,
        space=space,
        origin=origin,
        metric=metric,
        rows=len(next(iter(columns.values()))),
        columns=stored,
        files={path.name: describe_file(path) for path in sorted(stage.iterdir())},
        source=source,
        licence=licence,
        notes=notes,
        provenance=provenance or {},
        kind=kind,
    )
    try:
        text = manifest.to_json()
        parse_manifest(text)
    except (ValueError, TypeError) as error:
        raise QueryError(f"no manifest can say this of {name!r}: {error}") from error
    (stage / MANIFEST).write_text(text, encoding="utf-8")
    return manifest


def _sync(path: Path) -> None:
    """Flush a file or folder to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
