"""``benchquery top``: the best rows of a table, whatever its rows are."""

from __future__ import annotations

import argparse
from typing import Any

from benchquery.commands.options import (
    add_by,
    add_command,
    add_table,
    add_where,
    open_table,
    print_ranked,
    standing_rows,
)


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "top", run_top, "list the best rows of a table", "top cora -k 5 --by perf"
    )
    add_top(parser)


def add_top(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_table(parser)
    parser.add_argument("-k", type=int, default=10, help="how many (10)")
    add_by(parser)
    add_where(parser)


def run_top(args: argparse.Namespace, kind: str | None = None) -> None:
    """Print the best rows."""
    table = open_table(args, kind)
    best = table.where(*args.where).top(args.k, args.by)
    print_ranked(table, standing_rows(table, best, args.by), args.by, as_json=args.json)
