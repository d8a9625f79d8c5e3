"""``benchquery cells``: what condensed images say of cell networks, beside NAS-Bench-201."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, cast

from benchquery.commands.options import add_command, open_table, print_rows
from benchquery.kinds.cells.columns import ACCURACIES
from benchquery.kinds.cells.table import CellTable
from benchquery.table.store import open_table as open_by_name

_SHOWN = ("method", "per_class", "seed", "by", "architectures", "left_out")
_WITH_CHANCE = ("spearman", "kendall", "top1", "regret")


def add(commands: Any) -> None:
    """Add the command."""
    what = "hold rankings of cell networks by condensed images against NAS-Bench-201"
    group = commands.add_parser(
        "cells",
        help=what,
        description=f"{what.capitalize()}.",
        epilog="example: benchquery cells agreement nats_bench.csv tables/cifar10-nas",
    )
    actions = group.add_subparsers(required=True, metavar="ACTION")
    agreement = add_command(
        actions,
        "agreement",
        _agreement,
        "Spearman, Kendall, top-1 and regret of each condensed set, with chance beside",
        "cells agreement nats_bench.csv tables/cifar10-nas",
    )
    agreement.add_argument("table", metavar="cells", help="the table of NAS-Bench-201, or its file")
    agreement.add_argument(
        "condensed", help="a table of condensed images that such networks judged"
    )
    agreement.add_argument(
        "--column", choices=tuple(ACCURACIES), help="accuracy to compare with (the dataset's own)"
    )
    agreement.add_argument("--by", default="valid_perf", help="column that ranks (valid_perf)")


def _agreement(args: argparse.Namespace) -> None:
    from benchquery.kinds.cells.analysis import search_agreement

    cells = cast(CellTable, open_table(args, "cells"))
    condensed = open_by_name(args.condensed, args.source, "condensed")
    rows = search_agreement(condensed, cells, args.column, args.by)
    if args.json:
        print_rows(rows, as_json=True)
        return
    print_rows([_for_people(row) for row in rows], as_json=False)
    column = rows[0]["compared_with"]
    print(f"\nin brackets: by chance; top1 and regret: {column} of {cells.name}, percent")


def _for_people(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a comparison fits on a line."""
    shown = {name: row[name] for name in _SHOWN}
    for name in _WITH_CHANCE:
        spread = "±" if name in ("spearman", "kendall") else ""
        shown[name] = f"{row[name]:.2f} ({spread}{row[f'{name}_chance']:.2f})"
    return shown
