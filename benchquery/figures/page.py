"""Pictures as files, and a table's report as one self-contained page."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery.errors import QueryError
from benchquery.table.files import written_aside
from benchquery.table.kind import resolve
from benchquery.table.plots import drawable
from benchquery.table.rows import RowTable
from benchquery.text import format_table

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure

ENDINGS = (".png", ".svg", ".pdf", ".html")
_DPI = 150
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;"
    "color:#111;background:#fff}svg{max-width:100%;height:auto}pre{overflow-x:auto;"
    "background:#f4f5f7;padding:1rem;font-size:13px}h2{margin-top:2.5rem}"
)


def check_picture(path: Path, endings: Iterable[str] = ENDINGS) -> None:
    """Refuse a file that can't be drawn.

    Raises:
        QueryError: If the ending of the name is unknown, or there is no such folder.
    """
    if path.suffix not in endings:
        raise QueryError(f"can't draw {path.name!r}; the ending must be {' or '.join(endings)}")
    if not path.parent.is_dir():
        raise QueryError(f"can't draw {path}: there is no folder {path.parent}")


def _svg(figure: mpl_figure.Figure, name: str) -> str:
    """Return a figure as an SVG element for a page, with a name for who can't see it."""
    text = io.StringIO()
    figure.savefig(text, format="svg", dpi=_DPI)
    content = text.getvalue()
    drawing = content[content.index("<svg") :]
    return drawing.replace("<svg", f'<svg role="img" aria-label="{html.escape(name)}"', 1)


def _page(heading: str, body: str) -> str:
    """Return a page that needs no other file."""
    name = html.escape(heading)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><main><h1>{name}</h1>\n{body}</main></body></html>\n"
    )


def save(figure: mpl_figure.Figure, path: Path) -> None:
    """Write a figure as .png, .svg, .pdf or .html.

    Raises:
        QueryError: If the ending of the name is another, there is no such folder, or it can't be
            written to.
    """
    check_picture(path)
    drawn = io.BytesIO()
    if path.suffix == ".html":
        drawn.write(_page(path.stem, _svg(figure, path.stem)).encode())
    else:
        figure.savefig(drawn, format=path.suffix.removeprefix("."), dpi=_DPI)
    with written_aside(path) as aside:
        aside.write_bytes(drawn.getvalue())


def write_report(table: RowTable[Any], path: Path) -> None:
    """Write one self-contained page with every picture of a table and the numbers behind.

    In the place of a picture that the table has too few figures for, the page says so.

    Raises:
        QueryError: If the ending of the name is not .html, there is no such folder, or it can't
            be written to.
    """
    check_picture(path, [".html"])
    manifest, kind = table.manifest, table.kind
    facts = [
        f"{len(table):,} {kind.many} of {manifest.space}, measured on {table.dataset}",
        f"{manifest.origin} figures, metric {manifest.metric}, licence {manifest.licence}",
        *(f"{key}: {value}" for key, value in manifest.source.items()),
        *manifest.notes,
    ]
    listed = "".join(f"<li>{html.escape(fact)}</li>" for fact in facts)
    numbers = resolve(kind.report)(table) if kind.report else _best_rows(table)
    counted = "".join(
        f"<h2>{html.escape(heading)}</h2>{_numbers(heading, lines)}"
        for heading, lines in numbers.items()
    )
    drawn = "".join(
        f"<h2>{html.escape(name.capitalize())}</h2>{_picture(table, name)}"
        for name in drawable(table)
    )
    body = f"<ul>{listed}</ul>{counted}{drawn}"
    with written_aside(path) as aside:
        aside.write_text(_page(f"GraphTab: {table.name}", body), encoding="utf-8")


def _numbers(heading: str, lines: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as an element; it can be scrolled by keys where it is wider than the page."""
    name, text = html.escape(heading), html.escape(format_table(lines))
    return f'<pre tabindex="0" role="region" aria-label="{name}">{text}</pre>'


def _picture(table: RowTable[Any], name: str) -> str:
    """Return a picture of a table as an element, or why there is none."""
    try:
        return _svg(getattr(table.plot, name)(), f"{name} of {table.name}")
    except QueryError as error:
        return f"<p>not drawn: {html.escape(str(error))}</p>"


def _best_rows(table: RowTable[Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the numbers in the report of a kind that has none of its own: the best rows."""
    directed = [column.name for column in table.manifest.columns if column.direction]
    by = next((name for name in ("valid_perf", *directed) if name in table.columns), None)
    if by is None:
        return {"The first rows": [table.brief(row) for row in table.records()[:10]]}
    return {f"The ten best by {by}": [table.brief(row) for row in table.top(10, by).records()]}
