"""Croissant metadata: JSON-LD that describes published files to programs.

The format is MLCommons' Croissant 1.0: files with their checksums, and record sets whose fields
name the columns that they come from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchbuild.publishing.card import config_name
from benchbuild.publishing.facts import PublishedTable
from benchquery.table.manifest import StoredFile

CROISSANT = "croissant.json"
CONFORMS_TO = "http://mlcommons.org/croissant/1.0"

_CR = (
    "citeAs", "column", "data", "dataType", "equivalentProperty", "examples", "extract", "field",
    "fileObject", "fileProperty", "fileSet", "format", "includes", "isLiveDataset", "jsonPath",
    "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated",
    "replace", "separator", "source", "subField", "transform",
)  # fmt: skip
_TYPED = {"data": "@json", "dataType": "@vocab", "examples": "@json"}
_ENCODINGS: Mapping[str, str] = {
    ".parquet": "application/x-parquet",
    ".json": "application/json",
    ".h5": "application/x-hdf5",
}


def croissant(
    title: str,
    tables: Sequence[PublishedTable],
    files: Mapping[str, StoredFile],
    *,
    licence: str,
    address: str,
) -> str:
    """Return the text of croissant.json.

    Args:
        title: What is published is called.
        tables: What is published.
        files: Its files by path.
        licence: Its licence.
        address: Where it will lie.
    """
    body = {
        "@context": _context(),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": title,
        "description": "; ".join(_described(table) for table in tables),
        "license": licence,
        "url": address,
        "version": "1.0.0",
        "citeAs": " ".join(dict.fromkeys(table.source for table in tables)),
        "distribution": [_file(path, file) for path, file in files.items()],
        "recordSet": [
            _records(config_name(table.name, path), path, schema)
            for table in tables
            for path, schema in table.schemas.items()
        ],
    }
    return json.dumps(body, indent=1) + "\n"


def _context() -> dict[str, Any]:
    """Return what the names of the format stand for."""
    names = {
        name: {"@id": f"cr:{name}", "@type": _TYPED[name]} if name in _TYPED else f"cr:{name}"
        for name in _CR
    }
    return {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "sc": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "dct": "http://purl.org/dc/terms/",
        "conformsTo": "dct:conformsTo",
        **names,
    }


def _described(table: PublishedTable) -> str:
    manifest = table.manifest
    return f"{manifest.rows:,} {table.rows_are} on {manifest.dataset}, {manifest.origin}"


def _file(path: str, file: StoredFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": _ENCODINGS.get(Path(path).suffix, "text/plain"),
        "sha256": file.sha256,
    }


def _records(name: str, path: str, schema: pa.Schema) -> dict[str, Any]:
    fields = list(_fields(name, path, schema))
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _fields(name: str, path: str, schema: pa.Schema) -> Iterator[dict[str, Any]]:
    for field in schema:
        said = (field.metadata or {}).get(b"description", b"").decode()
        yield {
            "@type": "cr:Field",
            "@id": f"{name}/{field.name}",
            "name": field.name,
            "description": said or field.name,
            "dataType": _type(field.type),
            "source": {"fileObject": {"@id": path}, "extract": {"column": field.name}},
        }


def _type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "sc:Boolean"
    if pa.types.is_integer(kind):
        return "sc:Integer"
    return "sc:Float" if pa.types.is_floating(kind) else "sc:Text"
