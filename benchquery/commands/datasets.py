"""``benchquery datasets``: the tables that can be opened."""

from __future__ import annotations

import argparse
from typing import Any

from benchquery.commands.options import add_command, print_rows
from benchquery.table.store import TableInfo, grouped, tables

_NAMES = ("name", "dataset", "origin", "space", "rows", "metric", "curves")


def add(commands: Any) -> None:
    """Add the command."""
    add_command(commands, "datasets", print_tables, "list the tables", "datasets")


def print_tables(args: argparse.Namespace) -> None:
    """Print the tables, kind by kind."""
    infos = tables(args.source)
    if args.json:
        print_rows([_row(info) | {"kind": info.kind} for info in infos], as_json=True)
        return
    groups = list(grouped(infos))
    for number, (many, same) in enumerate(groups):
        if len(groups) > 1:
            print(f"\n{many}:" if number else f"{many}:")
        print_rows([_row(info) for info in same], as_json=False)
    if not groups:
        print_rows([], as_json=False)


def _row(info: TableInfo) -> dict[str, Any]:
    return {name: getattr(info, name) for name in _NAMES}
