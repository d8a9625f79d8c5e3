"""``benchquery datasets``: the tables that can be opened."""

from __future__ import annotations

import argparse
from typing import Any

from benchquery.commands.options import add_command, print_rows
from benchquery.store import tables


def add(commands: Any) -> None:
    """Add the command."""
    add_command(commands, "datasets", _run, "list the tables", "datasets")


def _run(args: argparse.Namespace) -> None:
    names = ("name", "dataset", "origin", "space", "rows", "metric", "curves")
    rows = [{name: getattr(info, name) for name in names} for info in tables(args.source)]
    print_rows(rows, as_json=args.json)
