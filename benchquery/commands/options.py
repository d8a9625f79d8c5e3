"""Options that several commands share, and how rows are printed."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchquery.errors import QueryError
from benchquery.table.rows import RowTable
from benchquery.table.store import open_table as open_by_name
from benchquery.text import PLAIN, fitting, format_table, format_value, to_json

TABLE_NAMES = {"bash": "_graphtab_tables", "zsh": "_graphtab_tables"}
"""The functions of shells that complete the names of tables (`benchquery.commands.completion`)."""


def add_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int | None],
    what: str,
    example: str,
    *,
    source: bool = True,
    json: bool = True,
) -> argparse.ArgumentParser:
    """Add a command with the options that all commands share; it returns its exit code, if any.

    Args:
        commands: What the command is added to.
        name: What it is called.
        run: What it does.
        what: Its help text.
        example: A command line.
        source: Whether it looks for tables, so that one may say where.
        json: Whether it prints rows, so that one may want them as JSON.
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog=f"example: benchquery {example}",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    if json:
        parser.add_argument("--json", action="store_true", help="print JSON")
    if source:
        parser.add_argument(
            "--source", type=Path, metavar="DIR", help="folder of tables, or a table"
        )
    return parser


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the table to ask."""
    named = parser.add_argument("table", help="name of a table")
    named.complete = TABLE_NAMES  # type: ignore[attr-defined]


def add_by(parser: argparse.ArgumentParser) -> None:
    """Add the column to rank by."""
    parser.add_argument(
        "--by", help="column to rank by; valid and test for short (the validation figure)"
    )


def add_where(
    parser: argparse.ArgumentParser, example: str = "'latency < 0.004' or 'method == gcond'"
) -> None:
    """Add the conditions on rows."""
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help=f"keep rows that fulfil it, for example {example}; repeatable",
    )


def open_table(args: argparse.Namespace, kind: str | None = None) -> RowTable[Any]:
    """Open the table that the options name."""
    return open_by_name(args.table, args.source, kind)


def column_names(text: str) -> list[str]:
    """Split a list of column names."""
    return [name.strip() for name in text.split(",") if name.strip()]


def given_values(rest: Sequence[str]) -> dict[str, str]:
    """Read options that name columns, as in ``--method gcond --ratio=0.026``.

    Raises:
        QueryError: If something is no such option, or comes twice.
    """
    values: dict[str, str] = {}
    words = list(rest)
    while words:
        word = words.pop(0)
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not name or (not equals and not words):
            raise QueryError(f"{word!r} is no option with a value, as in --hash 61237")
        name = name.replace("-", "_")
        if name in values:
            raise QueryError(f"--{name} is given twice")
        values[name] = value if equals else words.pop(0)
    return values


def standing_rows(
    whole: RowTable[Any], part: RowTable[Any], by: str | None
) -> list[dict[str, Any]]:
    """Return the rows of a part of a table, each with where it stands in the whole."""
    by = whole.ranking_column(by)
    ranks, regrets = whole.standing(by)
    return [
        {**record, "rank": int(ranks[row]), "regret": float(regrets[row]), "by": by}
        for record, row in zip(part.records(), part.positions.tolist(), strict=True)
    ]


def print_ranked(
    table: RowTable[Any], rows: Sequence[dict[str, Any]], by: str | None, *, as_json: bool
) -> None:
    """Print ranked rows: all that is known of them as JSON, or a line each for people.

    On a terminal, columns that would make lines wrap are left out and named.
    """
    left_out: list[str] = []
    if not as_json:
        by = table.ranking_column(by)
        names = tuple(dict.fromkeys(("table", *table.kind.brief, by, "rank", "regret")))
        rows = [{name: row[name] for name in names if name in row} for row in rows]
        if sys.stdout.isatty():
            kept = ("table", *table.kind.key, by, "rank")
            rows, left_out = fitting(rows, shutil.get_terminal_size().columns, kept)
    print_rows(rows, as_json=as_json)
    if left_out:
        print(f"left out to fit the terminal: {', '.join(left_out)} (--json has all)")


def figure_lines(table: RowTable[Any], row: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return columns of a row for people, one a line, with their units."""
    width = max(map(len, names)) + 1
    lines = []
    for name in names:
        unit = table.described(name).unit
        value = str(row[name]) if name in PLAIN else format_value(row[name])
        suffix = f" {unit}" if unit not in (None, "1", "fraction") and value != "-" else ""
        lines.append(f"{name:{width}}{value}{suffix}".rstrip())
    return lines


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print rows as JSON, one a line, or as a table for people."""
    if as_json:
        print("[" + ",\n ".join(map(to_json, rows)) + "]")
    else:
        print(format_table(rows))


def print_done(facts: Mapping[str, Any], text: str, *, as_json: bool) -> None:
    """Print what a command did, as JSON or in a sentence."""
    print(to_json(facts) if as_json else text)
