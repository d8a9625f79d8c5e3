"""Options that several commands share, and how rows are printed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchquery.errors import QueryError
from benchquery.kinds.architectures.arch import Arch
from benchquery.kinds.architectures.table import ArchTable
from benchquery.table.schema import Kind
from benchquery.table.schema import column as schema_column
from benchquery.table.store import lightread
from benchquery.text import PLAIN, format_table, format_value, to_json

_BRIEF = ("valid_perf", "perf", "latency", "para", "status")


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], None], what: str, example: str
) -> argparse.ArgumentParser:
    """Add a command with the options that all commands share."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog=f"example: benchquery {example}".replace("%", "%%"),
    )
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--source", type=Path, metavar="DIR", help="folder of tables, or a table")
    return parser


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the table to ask."""
    parser.add_argument("table", help="name of a table")


def add_arch(parser: argparse.ArgumentParser) -> None:
    """Add the options that name an architecture."""
    parser.add_argument("--hash", type=int, help="hash of the architecture")
    parser.add_argument("--link", help="input of each node, for example 0,1,2,1")
    parser.add_argument("--ops", help="operation of each node, for example gcn,gin,fc,cheb")


def add_by(parser: argparse.ArgumentParser) -> None:
    """Add the column to rank by."""
    parser.add_argument("--by", default="valid_perf", help="column to rank by (valid_perf)")


def add_where(
    parser: argparse.ArgumentParser, example: str = "'latency < 0.004' or 'gat == 0'"
) -> None:
    """Add the conditions on rows."""
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help=f"keep rows that fulfil it, for example {example}; repeatable",
    )


def open_table(args: argparse.Namespace) -> ArchTable:
    """Open the table that the options name."""
    return lightread(args.table, args.source)


def chosen_arch(args: argparse.Namespace) -> Arch:
    """Return the architecture that the options name.

    Raises:
        QueryError: If they name none, or two.
    """
    if args.hash is not None:
        if args.link or args.ops:
            raise QueryError("give either --hash or --link and --ops, not both")
        return Arch.from_hash(args.hash)
    if not (args.link and args.ops):
        raise QueryError("name an architecture: --hash 10000, or --link 0,1,2,1 --ops a,b,c,d")
    link = [int(part) if part.strip().isdecimal() else part for part in args.link.split(",")]
    return Arch(link, [part.strip() for part in args.ops.split(",")])


def arch_row(table: ArchTable, number: int, by: str) -> dict[str, Any]:
    """Return what the commands say of an architecture."""
    form = Arch.from_hash(number)
    return {
        "hash": number,
        "link": list(form.link),
        "ops": list(form.ops),
        **table[number],
        "rank": table.rank(number, by),
        "regret": table.regret(number, by),
        "by": by,
    }


def brief(row: Mapping[str, Any], by: str) -> dict[str, Any]:
    """Return what of a row fits on a line: no figures of single seeds and no fine print."""
    wanted = ("table", "hash", "link", "ops", *dict.fromkeys((*_BRIEF, by)), "rank", "regret")
    return {name: row[name] for name in wanted if name in row}


def print_archs(rows: Sequence[dict[str, Any]], by: str, *, as_json: bool) -> None:
    """Print architectures: all that is known of them as JSON, or a line each for people."""
    print_rows(rows if as_json else [brief(row, by) for row in rows], as_json=as_json)


def print_figures(row: Mapping[str, Any], names: Sequence[str], kind: Kind, width: int) -> None:
    """Print columns of a row for people, one a line, with their units."""
    for name in names:
        unit = schema_column(name, kind).unit
        value = str(row[name]) if name in PLAIN else format_value(row[name])
        suffix = f" {unit}" if unit not in (None, "1", "fraction") and value != "-" else ""
        print(f"{name:{width}}{value}{suffix}".rstrip())


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print rows as JSON, one a line, or as a table for people."""
    if as_json:
        print("[" + ",\n ".join(map(to_json, rows)) + "]")
    else:
        print(format_table(rows))


def print_done(facts: Mapping[str, Any], text: str, *, as_json: bool) -> None:
    """Print what a command did, as JSON or in a sentence."""
    print(to_json(facts) if as_json else text)
