"""``benchquery predictors``: how well predictors rank what they did not learn."""

from __future__ import annotations

import argparse
from typing import Any

from benchquery.commands.options import add_by, add_command, column_names, print_rows
from benchquery.kinds.architectures.reading import lightread


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "predictors",
        _run,
        "let predictors learn a few architectures and rank the others, on each table",
        "predictors cora citeseer --seeds 3",
    )
    parser.add_argument("tables", nargs="+", metavar="table", help="names of tables")
    parser.add_argument(
        "--encoding", default="adjacency", help="one-hot, adjacency or path (adjacency)"
    )
    parser.add_argument(
        "--predictors", type=column_names, default=["ridge", "trees", "graph"], metavar="NAMES",
        help="some of ridge, trees, graph (all)",
    )  # fmt: skip
    parser.add_argument("--seeds", type=int, default=3, help="how many splits of each size (3)")
    add_by(parser)


def _run(args: argparse.Namespace) -> None:
    from benchquery.kinds.architectures.analysis.predictors import benchmark_predictors

    tables = {name: lightread(name, args.source) for name in args.tables}
    found = benchmark_predictors(
        tables,
        next(iter(tables.values())).ranking_column(args.by),
        encoding=args.encoding,
        predictors=args.predictors,
        seeds=args.seeds,
    )
    print_rows(found.rows(), as_json=args.json)
    if not args.json:
        print(found.note)
