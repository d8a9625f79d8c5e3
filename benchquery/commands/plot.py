"""``benchquery plot``: a picture of one table, or of several compared."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery.commands.options import add_command, print_done
from benchquery.errors import QueryError
from benchquery.table.store import find, lightread, open_any

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure

_OF_ONE = ("trace", "curve")
"""The pictures of one condensed graph."""


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
        "--config",
        metavar="HASH",
        help=f"which condensed graph, for {' and '.join(_OF_ONE)} (the best by validation)",
    )
    parser.add_argument(
        "-o", "--out", type=Path, required=True, help="picture: .png, .svg, .pdf or .html"
    )


def _run(args: argparse.Namespace) -> None:
    from benchquery.figures import save
    from benchquery.figures.page import check_picture

    *names, figure = args.names
    check_picture(args.out)
    if args.config is not None and figure not in _OF_ONE:
        raise QueryError(f"--config goes with {' and '.join(_OF_ONE)}, not with {figure!r}")
    if len(names) == 1:
        drawn = _draw_one(names[0], figure, args)
    else:
        drawn = _draw_several(names, figure, args)
    save(drawn, args.out)
    print_done({"path": str(args.out)}, f"drawn: {args.out}", as_json=args.json)


def _draw_one(name: str, figure: str, args: argparse.Namespace) -> mpl_figure.Figure:
    """Draw a picture of one table, of whatever kind."""
    from benchquery.figures import SEVERAL_FIGURES, figures_of

    table = open_any(find(name, args.source))
    figures = figures_of(table)
    if figure not in figures:
        several = f"; of several: {', '.join(SEVERAL_FIGURES)}" if figure in SEVERAL_FIGURES else ""
        raise QueryError(
            f"can't draw {figure!r} of {name!r}; allowed: {', '.join(figures)}{several}"
        )
    chosen = {} if args.config is None else {"config": args.config}
    return figures[figure](table, **chosen)


def _draw_several(names: list[str], figure: str, args: argparse.Namespace) -> mpl_figure.Figure:
    """Draw a picture of several tables of architectures."""
    from benchquery.figures import SEVERAL_FIGURES

    if figure not in SEVERAL_FIGURES or not names:
        raise QueryError(
            f"can't draw {figure!r} of {len(names)} tables; of several: "
            f"{', '.join(SEVERAL_FIGURES)}; for those of one, name one table"
        )
    return SEVERAL_FIGURES[figure]({name: lightread(name, args.source) for name in names})
