"""``benchquery show``: one row of a table with everything that is known of it."""

from __future__ import annotations

import argparse
from typing import Any

from benchquery.commands.options import (
    add_by,
    add_command,
    add_table,
    add_where,
    figure_lines,
    given_values,
    open_table,
)
from benchquery.table.kind import resolve
from benchquery.table.schema import is_of_one_seed
from benchquery.text import format_value, to_json


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "show",
        run_show,
        "show one row of a table; options name it by its columns",
        "show cora --link 0,1,2,1 --ops gcn,gin,fc,cheb\n"
        "         benchquery show cora-condensed --method gcond --ratio 0.026 --seed 0",
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_show(parser)


def add_show(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.set_defaults(rest=[])
    parser.usage = "%(prog)s [options] table --COLUMN VALUE ..."
    add_table(parser)
    add_by(parser)
    add_where(parser)


def run_show(args: argparse.Namespace, kind: str | None = None) -> None:
    """Print a row."""
    table = open_table(args, kind)
    part = table.where(*args.where)
    row = int(part.positions[part.pick(**given_values(args.rest))])
    by = table.ranking_column(args.by)
    ranks, regrets = table.standing(by)
    record = {**table.detail(row), "rank": int(ranks[row])}
    record |= {"regret": float(regrets[row]), "by": by}
    if args.json:
        print(to_json(record))
        return
    about = table.kind
    heading = f"{about.one} {next(iter(table.take([row])))} of {table.name}"
    print(f"{resolve(about.show)(table, row) if about.show else heading}\n")
    names = [name for name in table.columns if name in record and not is_of_one_seed(name)]
    lines = figure_lines(table, record, [name for name in names if not name.endswith("_text")])
    width = max(map(len, names)) + 1
    lines.append(f"{'rank':{width}}{record['rank']:,} of {table.num_rows:,} by {by}")
    lines.append(f"{'regret':{width}}{format_value(record['regret'])} by {by}")
    print("\n".join(lines))
    if about.show_more:
        print(f"\n{resolve(about.show_more)(table, row)}")
