"""``benchquery across``: the numbers of an analysis of several tables."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from benchquery.commands.options import add_command
from benchquery.errors import QueryError
from benchquery.kinds.architectures.commands.analyse import add_figure, find_analysis, print_found
from benchquery.kinds.architectures.reading import lightread

_HERE = "benchquery.kinds.architectures.analysis"

ANALYSES: Mapping[str, str] = {
    "map": f"{_HERE}.datasets:dataset_map",
    "generalists": f"{_HERE}.generalists:generalists",
    "fronts": f"{_HERE}.common_fronts:common_fronts",
}
"""By name, the analysis; each returns a record that has ``rows()`` and a ``note``."""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "across",
        _run,
        "print the numbers of an analysis of several tables of architectures",
        "across generalists cora citeseer pubmed",
    )
    parser.add_argument("analysis", help=f"one of {', '.join(ANALYSES)}")
    parser.add_argument("tables", nargs="+", metavar="table", help="names of tables")
    add_figure(parser)


def _run(args: argparse.Namespace) -> None:
    analyse = find_analysis(args.analysis, ANALYSES)
    twice = {name for name in args.tables if args.tables.count(name) > 1}
    if twice:
        raise QueryError(f"the table {', '.join(sorted(twice))} is given twice")
    tables = {name: lightread(name, args.source) for name in args.tables}
    print_found(analyse, tables, next(iter(tables.values())), args)
