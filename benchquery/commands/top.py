"""``benchquery top``: the best architectures of a table."""

from __future__ import annotations

import argparse
from typing import Any

from benchquery.commands.options import (
    add_by,
    add_command,
    add_table,
    add_where,
    arch_row,
    open_table,
    print_archs,
)


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "top", _run, "list the best architectures", "top cora -k 5 --by perf"
    )
    add_table(parser)
    parser.add_argument("-k", type=int, default=10, help="how many (10)")
    add_by(parser)
    add_where(parser)


def _run(args: argparse.Namespace) -> None:
    table = open_table(args)
    best = table.where(*args.where).top(args.k, args.by)
    rows = [arch_row(table, number, args.by) for number in best]
    print_archs(rows, args.by, as_json=args.json)
