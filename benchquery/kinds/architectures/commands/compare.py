"""``benchquery compare``: how tables rank architectures, or one architecture on each."""

from __future__ import annotations

import argparse
import itertools
from typing import Any

from benchquery.commands.options import (
    add_arch,
    add_by,
    add_command,
    arch_row,
    chosen_arch,
    print_archs,
    print_rows,
)
from benchquery.table.store import lightread


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "compare",
        _run,
        "compare tables: how they rank architectures, or one architecture on each",
        "compare cora citeseer --by perf",
    )
    parser.add_argument("tables", nargs="+", metavar="table", help="names of tables")
    parser.add_argument("--share", type=float, default=0.05, help="what counts as top (0.05)")
    add_arch(parser)
    add_by(parser)


def _run(args: argparse.Namespace) -> None:
    from benchquery.kinds.architectures.analysis.agreement import agreement

    opened = {name: lightread(name, args.source) for name in args.tables}
    if args.hash is None and not args.link and not args.ops:
        rows = [
            {"first": a, "second": b, **agreement(first, second, args.by, args.share)}
            for (a, first), (b, second) in itertools.combinations(opened.items(), 2)
        ]
        print_rows(rows, as_json=args.json)
    else:
        number = chosen_arch(args).valid_hash()
        rows = [
            {"table": name, **arch_row(table, number, args.by)} for name, table in opened.items()
        ]
        print_archs(rows, args.by, as_json=args.json)
