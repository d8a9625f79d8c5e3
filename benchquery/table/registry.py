"""The kinds of table by name: those of this package, and those that others publish.

A package adds a kind through the entry point group ``graphtab.kinds``::

    [project.entry-points."graphtab.kinds"]
    poems = "my_package.poems:TABLE"

The object must be called ``TABLE``. The same group holds benchbuild's kinds of job, which are
called ``JOB``; those are never imported here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchquery.errors import KindError
from benchquery.naming import unknown
from benchquery.table.kind import Reference, TableKind, resolve

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "graphtab.kinds"
OBJECT = "TABLE"
"""What a published kind of table is called in its module."""

BUILT_IN: Mapping[str, Reference] = MappingProxyType(
    {
        "architectures": "benchquery.kinds.architectures.kind:TABLE",
        "condensed": "benchquery.kinds.condensed.kind:TABLE",
        "weights": "benchquery.kinds.weights.kind:TABLE",
        "cells": "benchquery.kinds.cells.kind:TABLE",
    }
)
"""The kinds that come with this package, in the order in which they are listed."""


@cache
def _published() -> Mapping[str, EntryPoint]:
    """Find the kinds of other packages, without importing them."""
    from importlib.metadata import entry_points

    points = entry_points(group=ENTRY_POINTS)
    return {point.name: point for point in points if point.attr == OBJECT}


def kind_names() -> tuple[str, ...]:
    """Return the names of all kinds."""
    return tuple(dict.fromkeys([*BUILT_IN, *sorted(_published())]))


def kinds() -> Iterator[TableKind]:
    """List all kinds that can be imported; one that can't be is left out."""
    for name in kind_names():
        try:
            yield kind_of(name)
        except KindError:
            if name in BUILT_IN:
                raise


@cache
def kind_of(name: str) -> TableKind:
    """Return the kind of a name.

    Raises:
        KindError: If there is no such kind, or its package publishes no `TableKind`.
    """
    if name in BUILT_IN:
        found = resolve(BUILT_IN[name])
    else:
        point = _published().get(name)
        if point is None:
            raise KindError(
                f"{unknown('kind of table', name, kind_names())}. Install the package that "
                f"publishes it in the entry point group {ENTRY_POINTS!r}"
            )
        try:
            found = point.load()
        except Exception as error:
            raise KindError(
                f"kind of table {name!r}: can't import {point.value}: "
                f"{type(error).__name__}: {error}"
            ) from error
    if not isinstance(found, TableKind):
        raise KindError(f"kind of table {name!r}: {found!r} is no TableKind")
    if found.name != name:
        raise KindError(f"kind of table {name!r} calls itself {found.name!r}")
    return found
