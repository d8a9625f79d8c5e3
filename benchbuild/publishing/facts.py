"""What is published of a table, gathered once for cards, metadata and citations."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchbuild.publishing.layout import CURVES, ROWS, write_curves, write_rows
from benchquery.table import manifest as files
from benchquery.table.rows import RowTable
from benchquery.table.store import open_folder


@dataclasses.dataclass(frozen=True)
class PublishedTable:
    """A table as it is published.

    Attributes:
        name: The name of its folder.
        rows_are: What its rows are called.
        manifest: What it says of itself.
        schemas: The columns of its Parquet files, by their path in the published folder.
    """

    name: str
    rows_are: str
    manifest: files.Manifest
    schemas: dict[str, pa.Schema]

    @property
    def source(self) -> str:
        """Where its figures come from, in a sentence."""
        said = [self.manifest.source.get(name) for name in ("title", "authors", "address")]
        return ". ".join(text for text in said if text) or "measured by its builder"


def lay_out(name: str, table: Path, stage: Path) -> PublishedTable:
    """Write the Parquet files of a table into a folder, and gather what is said of it."""
    opened: RowTable[Any] = open_folder(table)
    manifest = files.read_manifest(table)
    folder = stage / "parquet" / name
    folder.mkdir(parents=True)
    schemas = {f"parquet/{name}/{ROWS}": write_rows(opened, folder / ROWS)}
    if files.CURVES in manifest.files:
        schemas[f"parquet/{name}/{CURVES}"] = write_curves(opened.curves, folder / CURVES)
    return PublishedTable(name, opened.kind.many, manifest, schemas)
