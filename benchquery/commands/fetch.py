"""``benchquery fetch``: tables that are not part of the installation, brought from a mirror."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from benchquery.commands.options import add_command, print_rows
from benchquery.remote.fetch import Fetched, fetch, offers
from benchquery.table.store import tables
from benchquery.units import readable_bytes


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "fetch",
        _run,
        "bring tables from a mirror into the cache, or list those that are offered",
        "fetch cora-condensed --mirror https://example.org/tables",
        source=False,
    )
    parser.add_argument("tables", nargs="*", metavar="table", help="names (list what is offered)")
    parser.add_argument("--registry", metavar="R", help="address, file or folder of a registry")
    parser.add_argument(
        "--mirror", action="append", default=[], metavar="M",
        help="address or folder to ask before those of the registry; repeatable",
    )  # fmt: skip
    parser.add_argument("--to", type=Path, metavar="DIR", help="folder to put them in (the cache)")


def _run(args: argparse.Namespace) -> None:
    if not args.tables:
        rows = _listed(args.registry)
        if not args.json:
            rows = [{**row, "bytes": readable_bytes(row["bytes"])} for row in rows]
        print_rows(rows, as_json=args.json)
        return
    done = []
    for name in args.tables:
        progress = _Progress(name) if sys.stderr.isatty() else _silent
        done.append(fetch(name, args.registry, mirrors=args.mirror, to=args.to, told=progress))
    if args.json:
        print_rows([_facts(one) for one in done], as_json=True)
    else:
        for one in done:
            print(f"{one.name}: {'fetched to' if one.new else 'is here already, in'} {one.path}")


def _listed(registry: str | None) -> list[dict[str, Any]]:
    here = {info.name for info in tables(left_out=[])}
    return [
        {
            "name": offer.name,
            "version": offer.version,
            "kind": offer.kind,
            "dataset": offer.dataset,
            "rows": offer.rows,
            "bytes": offer.bytes,
            "here": offer.name in here,
        }
        for offer in offers(registry).offers.values()
    ]


def _facts(one: Fetched) -> dict[str, Any]:
    return {"name": one.name, "path": str(one.path), "new": one.new}


def _silent(file: str, done: int, whole: int) -> None:
    """Say nothing: nobody watches."""


class _Progress:
    """A line on the terminal that says how far a file is."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._shown = ""

    def __call__(self, file: str, done: int, whole: int) -> None:
        line = f"{self._table}/{file}: {readable_bytes(done)} of {readable_bytes(whole)}"
        if line != self._shown:
            end = "\n" if done == whole else ""
            print(f"\r\033[K{line}", end=end, file=sys.stderr, flush=True)
            self._shown = line
