"""``benchquery fidelity``: how well a built table agrees with the published one."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from benchquery.commands.options import add_by, add_command, add_table, print_rows
from benchquery.kinds.architectures.reading import lightread


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "fidelity",
        _run,
        "compare a table that was built with the published one",
        "fidelity cora-built --worst 5",
    )
    add_table(parser)
    parser.add_argument("--reference", metavar="TABLE", help="compare with (that of its dataset)")
    parser.add_argument(
        "--worst", type=int, metavar="K", help="list the K architectures that differ most"
    )
    parser.add_argument(
        "--wirings", action="store_true", help="compare means, wiring by wiring, and all at last"
    )
    add_by(parser)


def _run(args: argparse.Namespace) -> None:
    from benchquery.kinds.architectures.analysis.fidelity import (
        FIGURES,
        by_wiring,
        fidelity,
        largest_errors,
    )

    built = lightread(args.table, args.source)
    reference = lightread(args.reference or built.dataset)
    if args.worst is not None:
        by = built.ranking_column(args.by)
        print_rows(largest_errors(built, reference, by, args.worst), as_json=args.json)
        return
    if args.wirings:
        by = built.ranking_column(args.by)
        means = [dataclasses.asdict(row) for row in by_wiring(built, reference, by)]
        print_rows(means if args.json else [_named(row) for row in means], as_json=args.json)
        return
    found = {name: dataclasses.asdict(fidelity(built, reference, name)) for name in FIGURES}
    if args.json:
        print_rows([{"figure": name, **row} for name, row in found.items()], as_json=True)
        return
    measures = next(iter(found.values()))
    rows = [{"": name, **{figure: found[figure][name] for figure in found}} for name in measures]
    print_rows(rows, as_json=False)


def _named(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for readers: the last one is of all wirings."""
    return {**row, "link": ",".join(map(str, row["link"])) or "all"}
