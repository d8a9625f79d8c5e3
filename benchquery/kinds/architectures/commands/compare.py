"""``benchquery compare``: how tables rank architectures, or one architecture on each."""

from __future__ import annotations

import argparse
import itertools
from typing import Any

from benchquery.commands.options import (
    add_by,
    add_command,
    given_values,
    print_ranked,
    print_rows,
    standing_rows,
)
from benchquery.kinds.architectures.reading import lightread
from benchquery.kinds.architectures.table import ArchTable


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "compare",
        _run,
        "compare tables: how they rank architectures, or one architecture on each",
        "compare cora citeseer --by perf",
    )
    parser.set_defaults(rest=[])
    parser.add_argument("tables", nargs="+", metavar="table", help="names of tables")
    parser.add_argument("--share", type=float, default=0.05, help="what counts as top (0.05)")
    add_by(parser)


def _run(args: argparse.Namespace) -> None:
    from benchquery.kinds.architectures.analysis.agreement import agreement

    opened = {name: lightread(name, args.source) for name in args.tables}
    values = given_values(args.rest)
    by = next(iter(opened.values())).ranking_column(args.by)
    if not values:
        rows = [
            {"first": a, "second": b, **agreement(first, second, by, args.share)}
            for (a, first), (b, second) in itertools.combinations(opened.items(), 2)
        ]
        print_rows(rows, as_json=args.json)
        return
    rows = [{"table": name, **_standing(table, values, by)} for name, table in opened.items()]
    print_ranked(next(iter(opened.values())), rows, by, as_json=args.json)


def _standing(table: ArchTable, values: dict[str, str], by: str) -> dict[str, Any]:
    """Return one architecture of a table, with where it stands."""
    (row,) = standing_rows(table, table.take([table.pick(**values)]), by)
    return row
