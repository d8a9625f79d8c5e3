"""``benchquery pareto``: the architectures that none beats in everything."""

from __future__ import annotations

import argparse
from typing import Any

from benchquery.commands.options import (
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
        commands,
        "pareto",
        _run,
        "list the architectures that none beats in everything",
        "pareto cora --maximise valid_perf --minimise latency,para",
    )
    add_table(parser)
    parser.add_argument("--maximise", type=_names, default=["valid_perf"], metavar="COLUMNS")
    parser.add_argument("--minimise", type=_names, default=["latency"], metavar="COLUMNS")
    add_where(parser)


def _names(text: str) -> list[str]:
    """Split a list of column names."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _run(args: argparse.Namespace) -> None:
    table = open_table(args)
    front = table.where(*args.where).pareto(args.maximise, args.minimise)
    by = (args.maximise or args.minimise)[0]
    rows = [arch_row(table, number, by) for number in front.top(len(front), by)] if front else []
    print_archs(rows, by, as_json=args.json)
