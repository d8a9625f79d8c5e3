"""``benchquery plot``: a picture of one table, or of several compared."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery.commands.options import add_command, given_values, print_done
from benchquery.errors import QueryError
from benchquery.naming import match_name, suggestion
from benchquery.table.kind import resolve
from benchquery.table.registry import kinds
from benchquery.table.rows import RowTable
from benchquery.table.store import open_table

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "plot", _run, "draw a picture", "plot cora pareto -o pareto.png")
    parser.set_defaults(rest=[])
    parser.epilog = f"{parser.epilog}. Pictures {_pictures()}"
    parser.add_argument(
        "names",
        nargs="+",
        metavar="table ... figure",
        help="one or several tables, then what to draw; benchquery ls pictures lists them. "
        "Pictures of one row take options that name it, as show does",
    )
    parser.add_argument(
        "-o", "--out", type=Path, required=True, help="picture: .png, .svg, .pdf or .html"
    )


def _pictures() -> str:
    """Return the names of all pictures by what they are of, for the help text."""
    lists = [
        (f"{of} of {kind.many}", names)
        for kind in kinds()
        for of, names in (("one table", kind.pictures), ("several", kind.pictures_of_several))
        if names
    ]
    return "; ".join(f"of {what}: {', '.join(names)}" for what, names in lists)


def _run(args: argparse.Namespace) -> None:
    from benchquery.figures.page import check_picture, save

    *names, figure = args.names
    check_picture(args.out)
    if not names:
        raise QueryError("name a table, then what to draw, as in: plot cora pareto -o pareto.png")
    tables = {name: open_table(name, args.source) for name in names}
    values = given_values(args.rest)
    drawn = (
        _draw_one(next(iter(tables.values())), figure, values)
        if len(tables) == 1
        else _draw_several(tables, figure, values)
    )
    save(drawn, args.out)
    print_done({"path": str(args.out)}, f"drawn: {args.out}", as_json=args.json)


def _draw_one(table: RowTable[Any], figure: str, values: dict[str, str]) -> mpl_figure.Figure:
    """Draw a picture of one table; of one of its rows, if values name one."""
    kind = table.kind
    meant = match_name(figure, kind.pictures)
    if meant is None:
        several = kind.pictures_of_several
        said = f"; of several: {', '.join(several)}" if figure in several else ""
        raise QueryError(
            f"can't draw {figure!r} of {table.name!r}{suggestion(figure, kind.pictures) or ';'} "
            f"allowed: {', '.join(kind.pictures) or 'none'}{said}"
        )
    picture = kind.pictures[meant]
    if values and not picture.of_one:
        of_one = [name for name, one in kind.pictures.items() if one.of_one]
        raise QueryError(
            f"{meant!r} shows the whole table, so options that name a row don't go with it; they "
            f"go with: {', '.join(of_one) or 'none'}"
        )
    chosen = {"key": next(iter(table.take([table.pick(**values)])))} if values else {}
    drawn: mpl_figure.Figure = resolve(picture.draw)(table, **chosen)
    return drawn


def _draw_several(
    tables: dict[str, RowTable[Any]], figure: str, values: dict[str, str]
) -> mpl_figure.Figure:
    """Draw a picture of several tables of one kind."""
    kinds = {table.kind.name: table.kind for table in tables.values()}
    kind = next(iter(kinds.values()))
    if len(kinds) > 1:
        raise QueryError(
            f"tables of different kinds can't be drawn together: {', '.join(sorted(kinds))}"
        )
    meant = match_name(figure, kind.pictures_of_several)
    if meant is None or values:
        raise QueryError(
            f"can't draw {figure!r} of {len(tables)} tables; of several: "
            f"{', '.join(kind.pictures_of_several) or 'none'}; for those of one, name one table"
        )
    drawn: mpl_figure.Figure = resolve(kind.pictures_of_several[meant].draw)(tables)
    return drawn
