"""``benchquery ls``: what there is, of everything that goes by a name."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from typing import Any

from benchquery.commands.datasets import list_tables, print_tables
from benchquery.commands.options import add_command, print_rows
from benchquery.errors import QueryError
from benchquery.naming import match_name, unknown
from benchquery.table.kind import resolve
from benchquery.table.registry import kinds
from benchquery.table.store import TableInfo

Rows = list[dict[str, Any]]


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "ls", _run, "list what there is: tables, datasets, methods ...", "ls methods"
    )
    parser.add_argument("what", nargs="?", help="what to list; without it, what can be listed")


def _run(args: argparse.Namespace) -> None:
    lists = _lists(args)
    if args.what is None:
        rows = [{"list": name, "entries": len(make())} for name, make in lists.items()]
        print_rows(rows, as_json=args.json)
        return
    what = match_name(args.what, lists)
    if what is None:
        raise QueryError(unknown("list", args.what, lists))
    if what == "tables":
        print_tables(args)
    else:
        print_rows(lists[what](), as_json=args.json)


def _lists(args: argparse.Namespace) -> dict[str, Callable[[], Rows]]:
    """Return all lists by name: those of every table, then those of the kinds."""
    of_kinds = {name: resolve(make) for kind in kinds() for name, make in kind.lists.items()}
    infos = functools.cache(lambda: list_tables(args.source))
    return {
        "tables": lambda: [{"table": info.name} for info in infos()],
        "datasets": lambda: _datasets(infos()),
        "kinds": _kinds,
        "pictures": _pictures,
        "analyses": _analyses,
        "strategies": _strategies,
        **of_kinds,
    }


def _datasets(infos: list[TableInfo]) -> Rows:
    found: dict[str, list[str]] = {}
    for info in infos:
        found.setdefault(info.dataset, []).append(info.name)
    return [{"dataset": name, "tables": found[name]} for name in sorted(found)]


def _kinds() -> Rows:
    return [
        {"kind": kind.name, "rows": kind.many, "key": list(kind.key), "reader": kind.reader}
        for kind in kinds()
    ]


def _pictures() -> Rows:
    return [
        {"picture": name, "of": f"{number} of {kind.many}", "shows": picture.title}
        for kind in kinds()
        for number, pictures in (
            ("one table", kind.pictures),
            ("several tables", kind.pictures_of_several),
        )
        for name, picture in pictures.items()
    ]


def _analyses() -> Rows:
    return [
        {"analysis": name, "of": kind.many}
        for kind in kinds()
        for name in kind.analyses
        if name[0].islower()
    ]


def _strategies() -> Rows:
    from benchquery.search.strategies import strategy_names

    return [{"strategy": name} for name in strategy_names()]
