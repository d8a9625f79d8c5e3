"""``benchquery datasets``: the tables that can be opened."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from benchquery.commands.options import add_command, print_rows
from benchquery.errors import BenchQueryError, TableNotFoundError
from benchquery.program import one_line
from benchquery.table.store import TableInfo, grouped, tables

_NAMES = ("name", "dataset", "origin", "space", "rows", "metric", "curves")


def add(commands: Any) -> None:
    """Add the command."""
    add_command(commands, "datasets", print_tables, "list the tables", "datasets")


def print_tables(args: argparse.Namespace) -> None:
    """Print the tables, kind by kind."""
    infos = list_tables(args.source)
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


def list_tables(source: Path | None) -> list[TableInfo]:
    """List the tables of a source, and say on standard error which can't be read and why.

    Raises:
        TableNotFoundError: If the source is no folder, or none of its tables can be read.
    """
    left_out: list[tuple[Path, BenchQueryError]] = []
    infos = tables(source, left_out=left_out)
    for folder, error in left_out:
        print(one_line(f"left out: {folder}: {error}"), file=sys.stderr)
    if left_out and not infos:
        where = source or "any source"
        raise TableNotFoundError(f"no table in {where} can be read: {len(left_out)} left out")
    return infos


def _row(info: TableInfo) -> dict[str, Any]:
    return {name: getattr(info, name) for name in _NAMES}
