"""``benchquery analyse``: the numbers of an analysis of one table."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from benchquery.commands.options import add_command, add_table, print_rows
from benchquery.errors import QueryError
from benchquery.kinds.architectures.reading import lightread
from benchquery.kinds.architectures.table import ArchTable
from benchquery.naming import match_name, unknown
from benchquery.table.kind import resolve

_HERE = "benchquery.kinds.architectures.analysis"

ANALYSES: Mapping[str, str] = {
    "frequencies": f"{_HERE}.frequency:frequencies",
    "importance": f"{_HERE}.importance:decompose",
    "learning": f"{_HERE}.learning:settling",
    "noise": f"{_HERE}.noise:noise",
}
"""By name, the analysis; each returns a record that has ``rows()`` and a ``note``."""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "analyse",
        _run,
        "print the numbers of an analysis of a table of architectures",
        "analyse cora frequencies",
    )
    add_table(parser)
    parser.add_argument("analysis", help=f"one of {', '.join(ANALYSES)}")
    parser.add_argument(
        "--by",
        help="column to look at; valid and test for short (what the analysis has in Python: the "
        "test figure, but of learning curves, noise and surrogates, which look at validation)",
    )


def _run(args: argparse.Namespace) -> None:
    name = match_name(args.analysis, ANALYSES)
    if name is None:
        raise QueryError(unknown("analysis", args.analysis, ANALYSES))
    table = lightread(args.table, args.source)
    analyse: Callable[..., Any] = resolve(ANALYSES[name])
    found = _ask(analyse, table, args.by)
    print_rows(found.rows(), as_json=args.json)
    if not args.json:
        print(found.note)


def _ask(analyse: Callable[..., Any], table: ArchTable, by: str | None) -> Any:
    """Call an analysis with the column that is meant, or with its own."""
    return analyse(table) if by is None else analyse(table, by=table.ranking_column(by))
