"""Pictures as files, and a table's report as one self-contained page."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from benchquery.analysis.distribution import describe
from benchquery.errors import QueryError
from benchquery.figures.single import TABLE_FIGURES
from benchquery.manifest import CURVES
from benchquery.schema import column as schema_column
from benchquery.table import ArchTable
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


def _svg(figure: mpl_figure.Figure) -> str:
    """Return a figure as an SVG element that can stand inside a page."""
    text = io.StringIO()
    figure.savefig(text, format="svg", dpi=_DPI)
    content = text.getvalue()
    return content[content.index("<svg") :]


def _page(heading: str, body: str) -> str:
    """Return a page that needs no other file."""
    name = html.escape(heading)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><h1>{name}</h1>\n{body}</body></html>\n"
    )


def save(figure: mpl_figure.Figure, path: Path) -> None:
    """Write a figure as .png, .svg, .pdf or .html.

    Raises:
        QueryError: If the ending of the name is another, or there is no such folder.
    """
    check_picture(path)
    if path.suffix == ".html":
        path.write_text(_page(path.stem, _svg(figure)), encoding="utf-8")
    else:
        figure.savefig(path, dpi=_DPI)


def _numbers(table: ArchTable) -> str:
    """Return the figures behind the pictures as text."""
    metrics = [name for name in ("valid_perf", "perf", "latency", "para") if name in table.columns]
    spread = [
        {"column": name, "unit": schema_column(name).unit, **describe(table, name)}
        for name in metrics
    ]
    best = [
        {"hash": arch.valid_hash(), "arch": repr(arch)} | {m: table[arch][m] for m in metrics}
        for arch in table.top(10).archs()
    ]
    return (
        f"<h2>Numbers</h2><pre>{html.escape(format_table(spread))}</pre>"
        f"<h2>The ten best by valid_perf</h2><pre>{html.escape(format_table(best))}</pre>"
    )


def write_report(table: ArchTable, path: Path) -> None:
    """Write one self-contained page with every picture of a table and the numbers behind.

    Raises:
        QueryError: If the ending of the name is not .html, or there is no such folder.
    """
    check_picture(path, [".html"])
    manifest = table.manifest
    facts = [
        f"{len(table):,} architectures of space {manifest.space}",
        f"{manifest.origin} figures, metric {manifest.metric}, licence {manifest.licence}",
        *(f"{key}: {value}" for key, value in manifest.source.items()),
        *manifest.notes,
    ]
    listed = "".join(f"<li>{html.escape(fact)}</li>" for fact in facts)
    names = [name for name in TABLE_FIGURES if name != "learning" or CURVES in manifest.files]
    drawn = "".join(
        f"<h2>{name.capitalize()}</h2>{_svg(TABLE_FIGURES[name](table))}" for name in names
    )
    body = f"<ul>{listed}</ul>{_numbers(table)}{drawn}"
    path.write_text(_page(f"GraphTab: {table.name}", body), encoding="utf-8")
