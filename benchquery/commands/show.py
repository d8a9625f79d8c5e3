"""``benchquery show``: one architecture, drawn and with its figures."""

from __future__ import annotations

import argparse
from typing import Any

from benchquery.commands.options import (
    add_arch,
    add_by,
    add_command,
    add_table,
    arch_row,
    chosen_arch,
    open_table,
    print_figures,
)
from benchquery.text import format_value, to_json


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "show", _run, "show one architecture", "show cora --hash 10000")
    add_table(parser)
    add_arch(parser)
    add_by(parser)


def _run(args: argparse.Namespace) -> None:
    table, arch = open_table(args), chosen_arch(args)
    row = arch_row(table, arch.valid_hash(), args.by)
    if args.json:
        print(to_json(row))
        return
    print(f"{arch.canonical()!r} on {table.name} ({table.manifest.origin})\n\n{arch.draw()}\n")
    width = max(map(len, table.columns)) + 1
    print_figures(row, table.columns, table.manifest.kind, width)
    print(f"{'rank':{width}}{row['rank']:,} of {len(table):,} by {args.by}")
    print(f"{'regret':{width}}{format_value(row['regret'])} by {args.by}")
