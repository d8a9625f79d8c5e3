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
    "indistinct": f"{_HERE}.noise:indistinct",
    "landscape": f"{_HERE}.landscape:landscape",
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
    add_figure(parser)


def add_figure(parser: argparse.ArgumentParser) -> None:
    """Add the figure to look at."""
    parser.add_argument(
        "--by",
        help="column to look at; valid and test for short (the test figure, as an analysis reports "
        "and does not choose; of learning curves the validation figure)",
    )


def _run(args: argparse.Namespace) -> None:
    analyse = find_analysis(args.analysis, ANALYSES)
    table = lightread(args.table, args.source)
    print_found(analyse, table, table, args)


def find_analysis(name: str, known: Mapping[str, str]) -> Callable[..., Any]:
    """Return the analysis that a name means.

    Raises:
        QueryError: If there is none of that name.
    """
    meant = match_name(name, known)
    if meant is None:
        raise QueryError(unknown("analysis", name, known))
    analyse: Callable[..., Any] = resolve(known[meant])
    return analyse


def print_found(
    analyse: Callable[..., Any], asked: object, table: ArchTable, args: argparse.Namespace
) -> None:
    """Print what an analysis finds, of the column that is meant or of its own.

    Args:
        analyse: The analysis.
        asked: What it is of.
        table: A table whose columns can be meant.
        args: The options of the command.
    """
    by = {} if args.by is None else {"by": table.ranking_column(args.by)}
    found = analyse(asked, **by)
    print_rows(found.rows(), as_json=args.json)
    if not args.json:
        print(found.note)
