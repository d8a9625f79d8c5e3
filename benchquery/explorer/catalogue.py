"""What the page knows before it loads any figures: tables, their columns, their kinds."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from benchquery import __version__
from benchquery.errors import CorruptTableError
from benchquery.explorer.view import View
from benchquery.table.manifest import SUMMARY, Manifest, read_manifest
from benchquery.table.registry import kind_of
from benchquery.table.rows import RowTable
from benchquery.table.schema import CURVE_COLUMNS, Column, is_of_one_seed
from benchquery.table.store import TableInfo

START = "cora"
"""The table that the page opens with, if it is there."""

_MOST_CHOICES = 24
"""More different values than this are no choice that a person overlooks."""

OpenTable = Callable[[str], RowTable[Any]]


def shown_columns(manifest: Manifest) -> list[Column]:
    """Return the columns of a table that the page shows.

    Columns of single seeds are left out: they repeat a column that is there, and would
    multiply the bytes to send.
    """
    return [column for column in manifest.columns if not is_of_one_seed(column.name)]


def is_metric(column: Column, key: tuple[str, ...]) -> bool:
    """Tell whether a column holds figures, so that it can be an axis.

    A number that names a row by itself is no figure.
    """
    return (column.name,) != key and column.dtype not in ("bool", "string")


def start_table(names: Sequence[str]) -> str:
    """Return which of some tables the page opens with."""
    return START if START in names else names[0]


def catalogue_json(
    infos: Collection[TableInfo], views: Mapping[str, View], open_table: OpenTable
) -> str:
    """Return the catalogue of some tables as JSON.

    Args:
        infos: The tables.
        views: The view of each of their kinds, by the kind's name.
        open_table: Opens a table by its name; only those are opened whose choices must be looked
            for.
    """
    return json.dumps(
        {
            "version": __version__,
            "start": start_table([info.name for info in infos]),
            "kinds": [_describe_kind(name, view) for name, view in views.items()],
            "tables": [_describe_table(info, views[info.kind], open_table) for info in infos],
            "curve_columns": [_describe_column(column, ()) for column in CURVE_COLUMNS],
        }
    )


def _describe_kind(name: str, view: View) -> dict[str, Any]:
    kind = kind_of(name)
    return {
        "name": name,
        "one": kind.one,
        "many": kind.many,
        "key": view.key,
        "brief": kind.brief,
        "expense": kind.expense,
        "has_script": view.page is not None,
        "facts": dict(view.facts()),
    }


def _describe_table(info: TableInfo, view: View, open_table: OpenTable) -> dict[str, Any]:
    manifest = read_manifest(info.path)
    return {
        "name": info.name,
        "dataset": info.dataset,
        "kind": info.kind,
        "key": view.key,
        "origin": info.origin,
        "space": info.space,
        "rows": info.rows,
        "stamp": manifest.files[SUMMARY].sha256[:12],
        "metric": info.metric,
        "curves": info.curves,
        "licence": manifest.licence,
        "source": dict(manifest.source),
        "notes": manifest.notes,
        "columns": [_describe_column(column, view.key) for column in shown_columns(manifest)],
        "choices": _choices(info.name, manifest, view, open_table),
    }


def _choices(name: str, manifest: Manifest, view: View, open_table: OpenTable) -> list[str]:
    """Return the columns of a table whose values are chosen among.

    A damaged table has none here; who asks for its figures is told what is wrong.
    """
    columns = shown_columns(manifest)
    if view.choices is not None:
        there = {column.name for column in columns}
        return [column for column in view.choices if column in there]
    candidates = [
        column.name
        for column in columns
        if column.dtype == "string" or (column.name in view.key and column.dtype.startswith("int"))
    ]
    with contextlib.suppress(CorruptTableError):
        table = open_table(name)
        counts = {column: len(set(table.column(column).tolist())) for column in candidates}
        return [column for column, count in counts.items() if 1 < count <= _MOST_CHOICES]
    return []


def _describe_column(column: Column, key: tuple[str, ...]) -> dict[str, Any]:
    return {
        "name": column.name,
        "dtype": column.dtype,
        "description": column.description,
        "unit": column.unit,
        "direction": column.direction,
        "is_metric": is_metric(column, key),
    }
