"""Which kinds of job there are: those that come with benchbuild, and those of other packages.

A kind is named by a reference text and imported when it is first asked for. A package publishes
one as an entry point whose object is called ``JOB``::

    [project.entry-points."graphtab.kinds"]
    mine = "my_package.jobs:JOB"       # JOB = MyKind(), a benchbuild.pipeline.jobs.JobKind

Objects of the same group with other names, such as ``TABLE``, are not looked at here: what a kind
of table is, benchquery knows.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType

from benchbuild.errors import KindError
from benchbuild.pipeline.jobs import AnyKind, JobKind

GROUP = "graphtab.kinds"
OBJECT = "JOB"

BUILT_IN: Mapping[str, str] = MappingProxyType(
    {
        name: f"benchbuild.kinds.{name}.kind:{OBJECT}"
        for name in ("train", "tune", "darts", "condense", "evaluate", "choose")
    }
)
"""The kinds of this package: where each is, by name, in the order of their commands."""


def kind_names() -> list[str]:
    """Return the names of all kinds, those of this package first."""
    return list(dict.fromkeys([*BUILT_IN, *_published()]))


def kind_of(name: str) -> AnyKind:
    """Return a kind of job by name.

    Raises:
        KindError: If there is no such kind, or the package that has it can't be used.
    """
    if name in BUILT_IN:
        return _load(name, BUILT_IN[name])
    points = _published()
    if name not in points:
        raise KindError(
            f"unknown kind of job {name!r}; there are {', '.join(kind_names())}: install the "
            "package that has it, or upgrade graphtab"
        )
    return _load(name, points[name].value)


def kinds() -> Iterator[AnyKind]:
    """Import all kinds, those of this package first."""
    for name in kind_names():
        yield kind_of(name)


def writers(table: str) -> Iterator[AnyKind]:
    """Import the kinds whose records make a certain kind of table."""
    return (kind for kind in kinds() if kind.table == table)


@cache
def _published() -> Mapping[str, EntryPoint]:
    """Return what other packages publish, by name, without importing it; looked up once."""
    return {point.name: point for point in entry_points(group=GROUP) if point.attr == OBJECT}


@cache
def _load(name: str, reference: str) -> AnyKind:
    """Import a kind.

    Raises:
        KindError: If it can't be imported, or is something else.
    """
    module, _, attribute = reference.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:
        raise KindError(
            f"kind of job {name!r}: can't import {reference}: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(found, JobKind):
        raise KindError(
            f"kind of job {name!r}: {reference} is no benchbuild.pipeline.jobs.JobKind but "
            f"{type(found).__name__}"
        )
    if found.name != name:
        raise KindError(
            f"kind of job {name!r}: {reference} calls itself {found.name!r}; give the entry point "
            "and the kind one name"
        )
    return found
