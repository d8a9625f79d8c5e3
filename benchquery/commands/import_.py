"""``benchquery import``: a table in a file of others, written over into a table of this house."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchquery.commands.options import add_command, print_done
from benchquery.table.foreign import write_foreign
from benchquery.table.store import table_info
from benchquery.table.writer import new_table


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "import",
        _run,
        "make a table of a file that others publish, such as NAS-Bench-201's as CSV",
        "import nats_bench.csv -o tables/nas-bench-201",
    )
    parser.add_argument("file", type=Path, help="the file")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder of the table")


def _run(args: argparse.Namespace) -> None:
    with new_table(args.out) as stage:
        write_foreign(args.file, stage)
    info = table_info(args.out)
    done = {"path": str(args.out), "kind": info.kind, "rows": info.rows}
    print_done(done, f"{info.rows:,} rows written to {args.out}", as_json=args.json)
