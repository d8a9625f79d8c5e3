"""``benchquery datasets``: the tables that can be opened."""

from __future__ import annotations

import argparse
from typing import Any

from benchquery.commands.options import add_command, print_rows
from benchquery.table.schema import KINDS
from benchquery.table.store import ROWS, TableInfo, tables

_NAMES = ("name", "dataset", "origin", "space", "rows", "metric", "curves")


def add(commands: Any) -> None:
    """Add the command."""
    add_command(commands, "datasets", _run, "list the tables", "datasets")


def _run(args: argparse.Namespace) -> None:
    infos = tables(args.source)
    if args.json:
        print_rows([_row(info) | {"kind": info.kind} for info in infos], as_json=True)
        return
    archs = [_row(info) for info in infos if info.kind == "architectures"]
    if archs or not infos:
        print_rows(archs, as_json=False)
    for kind in KINDS[1:]:
        rows = [_row(info) for info in infos if info.kind == kind]
        if rows:
            print(f"\n{ROWS[kind]}:" if archs else f"{ROWS[kind]}:")
            print_rows(rows, as_json=False)


def _row(info: TableInfo) -> dict[str, Any]:
    return {name: getattr(info, name) for name in _NAMES}
