"""The manifest of a table: what it is, where it comes from, and its checksums."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchquery.errors import CorruptTableError, SchemaVersionError
from benchquery.table.schema import ORIGINS, SCHEMA_VERSION, Column, Origin

MANIFEST = "manifest.json"
SUMMARY = "summary.parquet"
CURVES = "curves.h5"
_FORMAT = "graphtab"
_CHUNK = 1 << 20


@dataclasses.dataclass(frozen=True)
class StoredColumn(Column):
    """A column as a table holds it.

    Attributes:
        offset: Where its values stand in the summary file as one plain run of
            little-endian numbers (booleans as bits), so that they can be viewed as an
            array as they are; None if they are encoded or compressed.
    """

    offset: int | None = None


@dataclasses.dataclass(frozen=True)
class StoredFile:
    """A file of a table: its size and its SHA-256."""

    bytes: int
    sha256: str


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What a table says of itself.

    Attributes:
        name: The dataset, for example ``cora``; a table goes by the name of its folder.
        space: The name of the space that its architectures come from; of a condensed table,
            that of the grid of its configurations.
        origin: Whether the figures were published by others, measured by a builder, or
            are synthetic.
        metric: What ``perf`` is, for example ``accuracy``.
        rows: The number of rows.
        columns: The columns of the summary, in order.
        files: The table's other files by name.
        source: Where the figures come from: names, versions, addresses.
        licence: The licence of the figures.
        notes: Known faults and other things to know.
        provenance: How the table was built; empty for published ones.
        kind: What the rows are. Manifests that don't say are of architectures.
    """

    name: str
    space: str
    origin: Origin
    metric: str
    rows: int
    columns: tuple[StoredColumn, ...]
    files: Mapping[str, StoredFile]
    source: Mapping[str, str]
    licence: str
    notes: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    kind: str = "architectures"

    def to_json(self) -> str:
        """Return the manifest as the text of its file."""
        body = {
            "format": _FORMAT,
            "schema_version": SCHEMA_VERSION,
            **{field.name: getattr(self, field.name) for field in dataclasses.fields(self)},
            "columns": [dataclasses.asdict(column) for column in self.columns],
            "files": {name: dataclasses.asdict(file) for name, file in self.files.items()},
            "source": dict(self.source),
            "provenance": dict(self.provenance),
        }
        return json.dumps(body, indent=1) + "\n"

    @property
    def dataset(self) -> str:
        """What the figures were measured on: in the file it is called ``name``."""
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return parse_manifest, (self.to_json(),)


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a table.

    Raises:
        CorruptTableError: If the file is missing, is not a manifest, or names files
            outside the folder.
        SchemaVersionError: If it was written in a layout unknown to this version.
    """
    path = folder / MANIFEST
    try:
        return parse_manifest(path.read_bytes())
    except _WrongVersionError as error:
        raise SchemaVersionError(
            f"{path} has schema version {error.args[0]!r}; this version of benchquery reads "
            f"{SCHEMA_VERSION}: upgrade graphtab, or build the table anew"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptTableError(
            f"{path} is not the manifest of a table: {type(error).__name__}: {error}"
        ) from error


class _WrongVersionError(Exception):
    """A manifest was written in another layout; the argument is its version."""


def parse_manifest(text: str | bytes) -> Manifest:
    """Read the text of a manifest; what does not fit is a ValueError, KeyError or the like."""
    body = json.loads(text)
    if body.pop("format") != _FORMAT:
        raise ValueError(f"its format is not {_FORMAT!r}")
    version = body.pop("schema_version")
    if version != SCHEMA_VERSION:
        raise _WrongVersionError(version)
    return _parse(body)


def _parse(body: dict[str, Any]) -> Manifest:
    """Turn the decoded JSON into a manifest; ValueError says what does not fit."""
    columns = tuple(StoredColumn(**column) for column in body.pop("columns"))
    files = {name: StoredFile(**file) for name, file in body.pop("files").items()}
    notes = tuple(body.pop("notes"))
    manifest = Manifest(columns=columns, files=MappingProxyType(files), notes=notes, **body)
    for name in files:
        if name in {"", ".", ".."} or "/" in name or "\\" in name or "\0" in name:
            raise ValueError(f"the file name {name!r} leaves the folder")
    if SUMMARY not in files:
        raise ValueError(f"it lists no {SUMMARY}")
    if manifest.origin not in ORIGINS:
        raise ValueError(f"origin {manifest.origin!r} is none of {', '.join(ORIGINS)}")
    if not isinstance(manifest.kind, str) or not manifest.kind:
        raise ValueError(f"kind is {manifest.kind!r}")
    if not isinstance(manifest.rows, int) or manifest.rows < 0:
        raise ValueError(f"rows is {manifest.rows!r}")
    return manifest


def describe_file(path: Path) -> StoredFile:
    """Return the size and checksum of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
        return StoredFile(file.tell(), digest.hexdigest())


def check_size(folder: Path, name: str, expected: StoredFile) -> Path:
    """Return the path of a table's file after checking that it is whole in size.

    Raises:
        CorruptTableError: If it is missing or has another size.
    """
    path = folder / name
    try:
        size = path.stat().st_size
    except OSError as error:
        raise CorruptTableError(f"{path} can't be read: {error.strerror}") from error
    if size != expected.bytes:
        raise CorruptTableError(
            f"{path} has {size:,} bytes, the manifest says {expected.bytes:,}: "
            "it is truncated or was changed; get or build the table anew"
        )
    return path


def check_sum(path: Path, digest: str, expected: StoredFile) -> None:
    """Compare a checksum with the manifest's.

    Raises:
        CorruptTableError: If they differ.
    """
    if digest != expected.sha256:
        raise CorruptTableError(
            f"{path} is damaged: its SHA-256 is {digest[:12]}..., the manifest says "
            f"{expected.sha256[:12]}...; get or build the table anew"
        )
