"""What a kind of table must be, whatever its rows are."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from benchquery.table.kind import REFERENCE, Picture, Reference, TableKind, resolve
from benchquery.table.registry import kind_of
from benchquery.table.rows import RowTable
from benchquery.table.schema import PER_SEED, Column, Direction, Split
from benchquery.testing.claims import claim, works

DTYPES = ("bool", "int32", "int64", "float32", "float64", "string")
"""The types that columns may have."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_WORDS = re.compile(r"[A-Za-z][\w-]*( [\w-]+)*")
_SENTENCE = re.compile(r"\w.*\.")


def check_table_kind(kind: TableKind) -> None:
    """Check what a kind of table tells the rest of the house.

    All that it refers to can be imported and is what it must be. Names are words, columns are
    described in sentences and have types that files can hold, and the kind is found by its name.

    Args:
        kind: The kind, as its package publishes it.

    Raises:
        AssertionError: If something is wrong; the message names it.
    """
    claim(isinstance(kind, TableKind), f"{kind!r} is no TableKind")
    whose = f"kind of table {kind.name!r}"
    claim(
        _NAME.fullmatch(kind.name),
        f"{whose}: its name must be small letters, digits, hyphens and underscores",
    )
    for field in ("one", "many"):
        claim(
            _WORDS.fullmatch(getattr(kind, field)),
            f"{whose}: {field} is {getattr(kind, field)!r}; it must be a word or some words",
        )
    _check_columns(kind, whose)
    _check_names(kind, whose)
    _check_references(kind, whose)
    _check_pictures(kind, whose)
    _check_view(kind, whose)
    with works(f"{whose}: it is not found by its name"):
        found = kind_of(kind.name)
    claim(found is kind, f"{whose}: another kind is found under its name")


def _check_columns(kind: TableKind, whose: str) -> None:
    names = [column.name for column in kind.columns]
    claim(names, f"{whose}: it has no columns")
    twice = sorted({name for name in names if names.count(name) > 1})
    claim(not twice, f"{whose}: columns are described twice: {', '.join(twice)}")
    for column in kind.columns:
        _check_column(column, f"{whose}: column {column.name!r}")


def _check_column(column: Column, which: str) -> None:
    claim(column.name.isidentifier(), f"{which}: its name is no word")
    claim(
        not PER_SEED.fullmatch(column.name),
        f"{which}: names that end in _seed and a number are those of single seeds",
    )
    claim(
        column.dtype in DTYPES,
        f"{which} has the type {column.dtype!r}; allowed: {', '.join(DTYPES)}",
    )
    claim(
        _SENTENCE.fullmatch(column.description),
        f"{which} is described by {column.description!r}; that must be a sentence",
    )
    for field, allowed in (("split", get_args(Split)), ("direction", get_args(Direction))):
        value = getattr(column, field)
        claim(
            value is None or value in allowed,
            f"{which} has the {field} {value!r}; allowed: {', '.join(allowed)}, or None",
        )
    claim(
        column.direction is None or column.dtype != "string",
        f"{which} holds texts, so neither direction is better",
    )


def _check_names(kind: TableKind, whose: str) -> None:
    """Check the names of columns; what `brief` names beside them, only a table can tell."""
    known = {column.name: column for column in kind.columns}
    for field in ("key", "brief"):
        names = getattr(kind, field)
        claim(isinstance(names, tuple) and names, f"{whose}: {field} must be a tuple of names")
        claim(len(set(names)) == len(names), f"{whose}: {field} has a name twice: {names}")
        for name in names:
            claim(
                isinstance(name, str) and name.isidentifier(),
                f"{whose}: {field} names {name!r}, which is no word",
            )
    for name in kind.key:
        claim(name in known, f"{whose}: its key names {name!r}, which is no column of it")
    if any(column.direction for column in kind.columns):
        claim(
            kind.ranked_by in known and known[kind.ranked_by].direction,
            f"{whose}: it is ranked by {kind.ranked_by!r}, of which neither way is better",
        )
    if kind.expense is not None:
        claim(
            kind.expense in known,
            f"{whose}: its expense is {kind.expense!r}, which is no column of it",
        )
        claim(
            known[kind.expense].direction == "lower",
            f"{whose}: its expense is {kind.expense!r}, of which less is not better",
        )


def _check_references(kind: TableKind, whose: str) -> None:
    for what, reference in _references(kind):
        found = _resolved(f"{whose}: {what}", reference)
        claim(callable(found), f"{whose}: {what}: {reference} can't be called")
    table = resolve(kind.table)
    claim(
        isinstance(table, type) and issubclass(table, RowTable),
        f"{whose}: table: {kind.table} is no RowTable",
    )
    claim(
        callable(getattr(importlib.import_module("benchquery"), kind.reader, None)),
        f"{whose}: its reader is {kind.reader!r}; benchquery has no such function",
    )
    for name in kind.commands:
        with works(f"{whose}: its commands {name} can't be imported"):
            module = importlib.import_module(name)
        claim(callable(getattr(module, "add", None)), f"{whose}: {name} has no function add")
    for name, stated in kind.values.items():
        values = resolve(stated)() if isinstance(stated, str) else stated
        claim(
            values and all(isinstance(value, str) for value in values),
            f"{whose}: the values of {name!r} must be texts, not {values!r}",
        )
    for name, reference in kind.lists.items():
        with works(f"{whose}: `benchquery ls {name}` can't list"):
            rows = list(resolve(reference)())
        claim(
            rows and all(isinstance(row, Mapping) for row in rows),
            f"{whose}: {reference} must return rows as mappings, and at least one",
        )


def _references(kind: TableKind) -> Iterator[tuple[str, Reference]]:
    """List what is referred to and called, each with what it is for."""
    for field in ("table", "check", "show", "show_more", "report", "foreign"):
        if getattr(kind, field) is not None:
            yield field, getattr(kind, field)
    for name, stated in kind.values.items():
        if isinstance(stated, str):
            yield f"the values of {name!r}", stated
    for name, picture in {**kind.pictures, **kind.pictures_of_several}.items():
        yield f"the picture {name!r}", picture.draw
    for field in ("analyses", "lists"):
        for name, reference in getattr(kind, field).items():
            yield f"{field} {name!r}", reference


def _resolved(what: str, reference: Reference) -> Any:
    claim(
        REFERENCE.fullmatch(reference),
        f"{what}: {reference!r} is no reference such as package.module:name",
    )
    with works(f"{what}: {reference} can't be imported"):
        return resolve(reference)


def _check_pictures(kind: TableKind, whose: str) -> None:
    for name, picture in [*kind.pictures.items(), *kind.pictures_of_several.items()]:
        claim(isinstance(picture, Picture), f"{whose}: the picture {name!r} is no Picture")
        claim(name.isidentifier(), f"{whose}: the name of the picture {name!r} is no word")
        claim(picture.title.strip(), f"{whose}: the picture {name!r} has no title")


def _check_view(kind: TableKind, whose: str) -> None:
    from benchquery.explorer.assets import read_folder
    from benchquery.explorer.view import SCRIPT, view_of

    with works(f"{whose}: its view can't be imported"):
        view = view_of(kind)
    if view.page is not None:
        with works(f"{whose}: its page {view.page} can't be read"):
            files = read_folder(view.page)
        claim(SCRIPT in files, f"{whose}: its page {view.page} has no {SCRIPT}")
