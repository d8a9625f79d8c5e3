"""The manifest of a table: what it is, where it comes from, and its checksums."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchquery.errors import CorruptTableError, SchemaVersionError
from benchquery.table.bundled import BUNDLED_MANIFESTS, DIGITS
from benchquery.table.files import check_regular, open_regular, read_regular
from benchquery.table.schema import (
    DIRECTIONS,
    ORIGINS,
    SCHEMA_VERSION,
    SPLITS,
    Column,
    Origin,
)
from benchquery.table.sealed import LARGEST, parse_object, seal, unseal

MANIFEST = "manifest.json"
SUMMARY = "summary.parquet"
CURVES = "curves.h5"
PLAIN_BITS: Mapping[str, int] = MappingProxyType(
    {"bool": 1, "int32": 32, "int64": 64, "float32": 32, "float64": 64}
)
"""By type of a column whose values may stand in the summary as they are: the bits of one."""

WHOLE = 1 << 26
"""Files of so many bytes are compared with their checksum before anything in them is used."""

_ENCODED = ("string", "int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16")
_FORMAT = "graphtab"
_UNSEALED = 1
"""The version of manifests without a checksum of their own."""
_UNSAID_KIND = "architectures"
_MARKS = ("format", "schema_version")
_SHA256 = re.compile("[0-9a-f]{64}")
_MOST_BYTES = 1 << 62
_SHOWN = 60
_CHUNK = 1 << 20
_KEPT = 64
"""How many manifests a process keeps as it has checked them."""
_KEPT_BYTES = 1 << 16
"""How many bytes one may have to be kept."""


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
        kind: What the rows are. Manifests of version 1 that don't say are of architectures.
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
        """Return the manifest as the text of its file.

        Raises:
            ValueError: If the provenance has no JSON form.
        """
        return seal(
            {
                "format": _FORMAT,
                "schema_version": SCHEMA_VERSION,
                **{field.name: getattr(self, field.name) for field in dataclasses.fields(self)},
                "columns": [dataclasses.asdict(column) for column in self.columns],
                "files": {name: dataclasses.asdict(file) for name, file in self.files.items()},
                "source": dict(self.source),
                "provenance": dict(self.provenance),
            }
        )

    @property
    def dataset(self) -> str:
        """What the figures were measured on: in the file it is called ``name``."""
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return parse_manifest, (self.to_json(),)


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a table.

    Raises:
        CorruptTableError: If the file is missing, damaged, not a manifest, or names files
            outside the folder.
        SchemaVersionError: If it was written in a layout unknown to this version.
    """
    path = folder / MANIFEST
    try:
        return _parse_once(read_regular(path, at_most=LARGEST))
    except _WrongVersionError as error:
        raise SchemaVersionError(
            f"{path} has schema version {str(error.args[0])[:20]}; this version of benchquery "
            f"reads {_UNSEALED} and {SCHEMA_VERSION}: upgrade graphtab, or build the table anew"
        ) from error
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise CorruptTableError(f"{path} is not the manifest of a table: {said}") from error


def _parse_once(content: bytes) -> Manifest:
    """Read the content of a manifest; the very same bytes are checked once in a process.

    Raises:
        ValueError: If something does not fit; the message says what.
    """
    if len(content) > _KEPT_BYTES:
        return parse_manifest(content)
    manifest = _kept(content)
    return dataclasses.replace(
        manifest, source=dict(manifest.source), provenance=_copied(manifest.provenance)
    )


@lru_cache(_KEPT)
def _kept(content: bytes) -> Manifest:
    """Keep a manifest by its content, all of it, so that nothing else can be taken for it."""
    return parse_manifest(content)


def _copied(value: Any) -> Any:
    """Return lists and objects that whoever is given them may change, as those of a file are."""
    if isinstance(value, dict):
        return {name: _copied(one) for name, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value


class _WrongVersionError(Exception):
    """A manifest was written in another layout; the argument is its version."""


def parse_manifest(content: str | bytes) -> Manifest:
    """Read the content of a manifest.

    One of version 1 has no checksum of its own, and may not say its kind. If it belongs to a
    bundled table, it is compared with the checksum that the package has of it.

    Raises:
        ValueError: If something does not fit; the message says what.
    """
    body = parse_object(content)
    if body.get("format") != _FORMAT:
        raise ValueError(f"its format is not {_FORMAT!r}")
    version = body.get("schema_version")
    if type(version) is not int or version not in (_UNSEALED, SCHEMA_VERSION):
        raise _WrongVersionError(version)
    if version == _UNSEALED:
        body.setdefault("kind", _UNSAID_KIND)
    else:
        body = unseal(body)
    manifest = _parse({name: body[name] for name in body if name not in _MARKS})
    known = BUNDLED_MANIFESTS.get(manifest.files[SUMMARY].sha256[:DIGITS])
    if version == _UNSEALED and known is not None:
        raw = content.encode() if isinstance(content, str) else content
        if hashlib.sha256(raw).hexdigest() != known:
            raise ValueError(
                "it is damaged: it names the summary of a bundled table and is not the manifest "
                "of that table; install graphtab anew"
            )
    return manifest


def _parse(body: dict[str, Any]) -> Manifest:
    """Check every field of the decoded JSON; ValueError says what does not fit."""
    _check_names(body, {field.name for field in dataclasses.fields(Manifest)}, "the manifest")
    for name in ("name", "space", "metric", "kind"):
        _check_name(body[name], name)
    _check_text(body["licence"], "licence")
    _check_choice(body["origin"], ORIGINS, "origin")
    files = {name: parse_file(name, file) for name, file in _object(body, "files").items()}
    if SUMMARY not in files:
        raise ValueError(f"it lists no {SUMMARY}")
    rows, size = body["rows"], files[SUMMARY].bytes
    _check_count(rows, 8 * size, "rows")
    columns = tuple(_parse_column(column, rows, size) for column in _list(body, "columns"))
    if len({column.name for column in columns}) != len(columns):
        raise ValueError("it has a column twice")
    for name, text in _object(body, "source").items():
        _check_text(text, f"source, {name!r}")
    for note in _list(body, "notes"):
        _check_text(note, "a note")
    _object(body, "provenance")
    rest = {"columns": columns, "files": MappingProxyType(files), "notes": tuple(body["notes"])}
    return Manifest(**{**body, **rest})


def _parse_column(column: Any, rows: int, size: int) -> StoredColumn:
    """Check a column of a summary of so many bytes."""
    _check_names(column, {field.name for field in dataclasses.fields(StoredColumn)}, "a column")
    name, dtype, offset = column["name"], column["dtype"], column["offset"]
    _check_name(name, "the name of a column")
    _check_choice(dtype, (*PLAIN_BITS, *_ENCODED), f"the type of column {name!r}")
    _check_text(column["description"], f"the description of column {name!r}")
    if column["unit"] is not None:
        _check_name(column["unit"], f"the unit of column {name!r}")
    _check_choice(column["split"], (*SPLITS, None), f"the split of column {name!r}")
    _check_choice(column["direction"], (*DIRECTIONS, None), f"the direction of column {name!r}")
    if offset is not None:
        if dtype not in PLAIN_BITS:
            raise ValueError(f"column {name!r} has an offset, but is of the type {dtype}")
        last = size - plain_size(dtype, rows)
        _check_count(offset, last, f"the offset of column {name!r}")
    return StoredColumn(**column)


def plain_size(dtype: str, rows: int) -> int:
    """Return how many bytes a plain column takes in the summary."""
    return -(-PLAIN_BITS[dtype] * rows // 8)


def parse_file(name: str, file: Any) -> StoredFile:
    """Check the size and checksum that are stated of a file; ValueError says what does not fit."""
    if name in {"", ".", "..", MANIFEST} or set(name) & set("/\\") or not name.isprintable():
        raise ValueError(f"the file name {name!r} leaves the folder, or is no other file's")
    _check_names(file, {field.name for field in dataclasses.fields(StoredFile)}, f"file {name!r}")
    _check_count(file["bytes"], _MOST_BYTES, f"the bytes of {name!r}")
    if not isinstance(file["sha256"], str) or not _SHA256.fullmatch(file["sha256"]):
        raise ValueError(f"the SHA-256 of {name!r} is {_short(file['sha256'])}")
    return StoredFile(**file)


def _check_names(value: Any, names: set[str], what: str) -> None:
    if not isinstance(value, dict) or value.keys() != names:
        odd = sorted(value.keys() ^ names) if isinstance(value, dict) else value
        raise ValueError(f"{what} lacks or does not know: {_short(odd)}")


def _object(body: dict[str, Any], name: str) -> dict[str, Any]:
    if not isinstance(body[name], dict):
        raise ValueError(f"{name} is {_short(body[name])}, not an object")
    return dict(body[name])


def _list(body: dict[str, Any], name: str) -> list[Any]:
    if not isinstance(body[name], list):
        raise ValueError(f"{name} is {_short(body[name])}, not a list")
    return list(body[name])


def _check_text(value: Any, what: str) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{what} is {_short(value)}, not a text")


def _check_name(value: Any, what: str) -> None:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError(f"{what} is {_short(value)}, not a printable text")


def _check_count(value: Any, most: int, what: str) -> None:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{what} is {_short(value)}, not a whole number from 0 to {most}")


def _check_choice(value: Any, allowed: Sequence[str | None], what: str) -> None:
    if not isinstance(value, str | None) or value not in allowed:
        raise ValueError(f"{what} is {_short(value)}; allowed: {', '.join(map(str, allowed))}")


def _short(value: Any) -> str:
    """Return a value for a message."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def describe_file(path: Path) -> StoredFile:
    """Return the size and checksum of a file, read in pieces.

    Raises:
        OSError: If it can't be read, or is no regular file.
    """
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
        return StoredFile(file.tell(), digest.hexdigest())


def check_size(folder: Path, name: str, expected: StoredFile) -> Path:
    """Return the path of a table's file after checking that it is whole in size.

    Raises:
        CorruptTableError: If it is missing, no regular file, or has another size.
    """
    path = folder / name
    try:
        size = check_regular(path)
    except OSError as error:
        raise CorruptTableError(f"{path} can't be read: {error.strerror}") from error
    if size != expected.bytes:
        raise CorruptTableError(
            f"{path} has {size:,} bytes, the manifest says {expected.bytes:,}: "
            "it is truncated or was changed; get or build the table anew"
        )
    return path


def check_file(folder: Path, name: str, expected: StoredFile, whole: int | None = WHOLE) -> Path:
    """Return the path of a table's file after checking its size and its checksum.

    Args:
        folder: The folder of the table.
        name: The file.
        expected: What the manifest says of it.
        whole: How many bytes a file may have to be read as a whole for its checksum; None for
            any number. Larger ones, which take long to read, carry checksums of their pieces.

    Raises:
        CorruptTableError: If it is missing, no regular file, or damaged.
    """
    path = check_size(folder, name, expected)
    if whole is None or expected.bytes <= whole:
        try:
            found = describe_file(path)
        except OSError as error:
            raise CorruptTableError(f"{path} can't be read: {error.strerror}") from error
        check_sum(path, found.sha256, expected)
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
