"""What the page knows before it loads any figures: tables, columns, operations, links."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from benchquery import __version__
from benchquery.kinds.architectures.arch import LINKS, NODES, OPS, Arch
from benchquery.kinds.condensed.methods import METHODS
from benchquery.table.manifest import Manifest, read_manifest
from benchquery.table.schema import CURVE_COLUMNS, Column, is_of_one_seed
from benchquery.table.store import TableInfo

START = "cora"
"""The table that the page opens with, if it is there."""


def shown_columns(manifest: Manifest) -> list[Column]:
    """Return the columns of a table that the page shows.

    Columns of single seeds are left out: they repeat a column that is there, and would
    multiply the bytes to send.
    """
    return [column for column in manifest.columns if not is_of_one_seed(column.name)]


CHOICES = ("method", "ratio", "init", "backbone", "task", "model", "protocol", "seed")
"""The columns of condensed tables whose values are chosen among."""


def is_metric(column: Column) -> bool:
    """Tell whether a column holds figures, so that it can be an axis."""
    return column.name != "hash" and column.dtype not in ("bool", "string")


def start_table(names: Sequence[str]) -> str:
    """Return which of some tables the page opens with."""
    return START if START in names else names[0]


def catalogue_json(infos: Collection[TableInfo]) -> str:
    """Return the catalogue of some tables as JSON."""
    return json.dumps(
        {
            "version": __version__,
            "start": start_table([info.name for info in infos]),
            "tables": [_describe_table(info) for info in infos],
            "ops": OPS,
            "methods": list(METHODS),
            "links": [_describe_link(index) for index in range(len(LINKS))],
            "curve_columns": [_describe_column(column) for column in CURVE_COLUMNS],
        }
    )


def _describe_table(info: TableInfo) -> dict[str, Any]:
    manifest = read_manifest(info.path)
    return {
        "name": info.name,
        "dataset": info.dataset,
        "kind": info.kind,
        "origin": info.origin,
        "space": info.space,
        "rows": info.rows,
        "metric": info.metric,
        "curves": info.curves,
        "licence": manifest.licence,
        "source": dict(manifest.source),
        "notes": manifest.notes,
        "columns": [_describe_column(column) for column in shown_columns(manifest)],
        "choices": CHOICES if info.kind == "condensed" else (),
    }


def _describe_column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "dtype": column.dtype,
        "description": column.description,
        "unit": column.unit,
        "direction": column.direction,
        "is_metric": is_metric(column),
    }


def _describe_link(index: int) -> dict[str, Any]:
    """Describe one of the nine link lists, with a drawing to write operations into.

    Four different operations in ascending order are in canonical form on every link
    list, so the drawing's boxes are the input, the nodes in order, and the output.
    """
    digits = "".join(map(str, range(NODES)))
    arch = Arch.from_hash(int(f"{index}{digits}"))
    return {
        "name": "".join(map(str, arch.link)),
        "link": arch.link,
        "depth": arch.depth,
        "svg": arch.to_svg(),
    }
