"""What a kind of table tells the explorer.

A kind names its `View` by a reference (`benchquery.table.kind.TableKind.view`), so a view is
imported only where the explorer runs, and may hold functions as they are. Everything in it may be
left out: a kind without a view is shown by the one that serves every kind.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from benchquery.errors import KindError
from benchquery.explorer.assets import MEDIA_TYPES
from benchquery.table.kind import Reference, TableKind, resolve

SCRIPT = "view.js"
"""The module of a kind's page that exports ``createView(kind, catalogue)``."""

_RESERVED = ("catalogue", "curves", "kinds", "tables")
_SECTION = re.compile(r"[a-z][a-z0-9_-]*")


@dataclasses.dataclass(frozen=True)
class KindFile:
    """One file for all tables of a kind, at ``data/kinds/KIND/SECTION`` with its ending.

    Attributes:
        ending: How its name ends, such as ``.json``; it says what it is sent as.
        make: A function without arguments that returns its bytes.
    """

    ending: str
    make: Callable[[], bytes]


@dataclasses.dataclass(frozen=True)
class TableFiles:
    """Files of one table, at ``data/SECTION/TABLE/NAME`` with their ending.

    Attributes:
        ending: How their names end.
        names: A function of a table that lists their names, without the ending. No other name
            is ever asked for.
        make: A function of a table and one of these names that returns the bytes of the file.
    """

    ending: str
    names: Callable[[Any], Iterable[str]]
    make: Callable[[Any, str], bytes]


@dataclasses.dataclass(frozen=True)
class PairFiles:
    """A file of every two tables of a kind, at ``data/SECTION/FIRST/SECOND`` with its ending.

    The first is the one whose name sorts first.

    Attributes:
        ending: How their names end.
        make: A function of the two tables that returns the bytes of the file.
    """

    ending: str
    make: Callable[[Any, Any], bytes]


Files = KindFile | TableFiles | PairFiles


def _no_facts() -> Mapping[str, Any]:
    return {}


@dataclasses.dataclass(frozen=True)
class View:
    """How the explorer shows tables of a kind.

    Attributes:
        key: The columns that, joined by dots, name a row in addresses; empty for those that name
            it elsewhere (`TableKind.key`).
        choices: The columns whose values are chosen among, in filters and as colours; None for
            texts, and whole numbers of the key, that have few different values.
        curves_by: The column whose numbers learning curves go by; None if they go by the
            position of their row.
        facts: A function without arguments that returns what the kind's script needs to know of
            the kind, as JSON can say it.
        files: What the kind's script loads beside tables and curves, by section.
        page: The folder of the kind's script, ``package:folder``, with a module `SCRIPT` and
            other modules and style sheets; None for the view that serves every kind.

    Raises:
        ValueError: If a section has no plain name, or a file an ending that no browser is told
            the meaning of.
    """

    key: tuple[str, ...] = ()
    choices: tuple[str, ...] | None = None
    curves_by: str | None = None
    facts: Callable[[], Mapping[str, Any]] = _no_facts
    files: Mapping[str, Files] = dataclasses.field(default_factory=dict)
    page: Reference | None = None

    def __post_init__(self) -> None:
        for section, files in self.files.items():
            if not _SECTION.fullmatch(section) or section in _RESERVED:
                raise ValueError(
                    f"a section of files can't be called {section!r}: it takes small letters, and "
                    f"none of {', '.join(_RESERVED)}"
                )
            if PurePosixPath(f"file{files.ending}").suffix not in MEDIA_TYPES:
                raise ValueError(
                    f"files of the section {section!r} can't end in {files.ending!r}; allowed "
                    f"are names that end in {', '.join(MEDIA_TYPES)}"
                )


def view_of(kind: TableKind) -> View:
    """Return the view of a kind, its key filled in.

    Raises:
        KindError: If it can't be imported, or is no `View`.
    """
    view = View()
    if kind.view is not None:
        try:
            view = resolve(kind.view)
        except Exception as error:
            raise KindError(
                f"kind of table {kind.name!r}: can't import its view {kind.view}: "
                f"{type(error).__name__}: {error}"
            ) from error
    if not isinstance(view, View):
        raise KindError(f"kind of table {kind.name!r}: its view {kind.view} is no View")
    return dataclasses.replace(view, key=view.key or kind.key)
