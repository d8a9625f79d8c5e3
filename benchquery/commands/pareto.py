"""``benchquery pareto``: the rows that none beats in everything."""

from __future__ import annotations

import argparse
from typing import Any

from benchquery.commands.options import (
    add_command,
    add_table,
    add_where,
    column_names,
    open_table,
    print_ranked,
    standing_rows,
)


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "pareto",
        _run,
        "list the rows that none beats in everything",
        "pareto cora --maximise valid_perf --minimise latency,para",
    )
    add_table(parser)
    parser.add_argument(
        "--maximise", type=column_names, metavar="COLUMNS",
        help="columns to maximise (the validation figure)",
    )  # fmt: skip
    parser.add_argument(
        "--minimise", type=column_names, metavar="COLUMNS",
        help="columns to minimise (latency of architectures, condense_time_best of condensed "
        "graphs)",
    )  # fmt: skip
    add_where(parser)


def _run(args: argparse.Namespace) -> None:
    table = open_table(args)
    front = table.where(*args.where).pareto(args.maximise, args.minimise)
    by = next(iter((args.maximise or []) + (args.minimise or [])), None)
    best_first = front.top(front.num_rows, by) if front.num_rows else front
    print_ranked(table, standing_rows(table, best_first, by), by, as_json=args.json)
