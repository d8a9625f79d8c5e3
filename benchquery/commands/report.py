"""``benchquery report``: every picture of a table, and the numbers, on one page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchquery.commands.options import add_command, add_table, open_table, print_done


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "report",
        _run,
        "write one page with all pictures of a table and the numbers behind",
        "report cora -o report.html",
    )
    add_table(parser)
    parser.add_argument("-o", "--out", type=Path, required=True, help="page: .html")


def _run(args: argparse.Namespace) -> None:
    from benchquery.figures.page import write_report

    write_report(open_table(args), args.out)
    print_done({"path": str(args.out)}, f"written: {args.out}", as_json=args.json)
