"""``benchquery plot``: a picture of one table, or of several compared."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchquery.commands.options import add_command, print_done
from benchquery.errors import QueryError
from benchquery.store import lightread


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "plot", _run, "draw a picture", "plot cora pareto -o pareto.png")
    parser.add_argument(
        "names",
        nargs="+",
        metavar="table ... figure",
        help="one or several tables, then what to draw; a wrong name lists the pictures",
    )
    parser.add_argument(
        "-o", "--out", type=Path, required=True, help="picture: .png, .svg, .pdf or .html"
    )


def _run(args: argparse.Namespace) -> None:
    from benchquery.figures import SEVERAL_FIGURES, TABLE_FIGURES, save
    from benchquery.figures.page import check_picture

    *names, figure = args.names
    check_picture(args.out)
    tables = {name: lightread(name, args.source) for name in names}
    if figure in TABLE_FIGURES and len(tables) == 1:
        drawn = TABLE_FIGURES[figure](next(iter(tables.values())))
    elif figure in SEVERAL_FIGURES and len(tables) > 1:
        drawn = SEVERAL_FIGURES[figure](tables)
    else:
        raise QueryError(
            f"can't draw {figure!r} of {len(tables)} tables; of one table: "
            f"{', '.join(TABLE_FIGURES)}; of several: {', '.join(SEVERAL_FIGURES)}"
        )
    save(drawn, args.out)
    print_done({"path": str(args.out)}, f"drawn: {args.out}", as_json=args.json)
