"""``benchquery export``: a table, or part of it, as a file for other programs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchquery.commands.options import add_command, add_table, add_where, open_table, print_done
from benchquery.table.export import FORMATS


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "export",
        _run,
        "write a table, or part of it, to a file",
        "export cora -o cora.csv --where 'depth == 2'",
    )
    add_table(parser)
    parser.add_argument("-o", "--out", type=Path, required=True, help=f"file: {', '.join(FORMATS)}")
    add_where(parser)


def _run(args: argparse.Namespace) -> None:
    table = open_table(args).where(*args.where)
    table.export(args.out)
    done = {"path": str(args.out), "rows": table.num_rows, "bytes": args.out.stat().st_size}
    print_done(done, f"{table.num_rows:,} rows written to {args.out}", as_json=args.json)
