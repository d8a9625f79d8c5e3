"""Pictures as files, and a table's report as one self-contained page."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery.errors import QueryError
from benchquery.figures.kinds import drawable, figures_of
from benchquery.kinds.architectures.analysis.distribution import describe
from benchquery.kinds.architectures.table import ArchTable
from benchquery.kinds.condensed.analysis import method_name
from benchquery.kinds.condensed.published import mean_accuracy
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.schema import column as schema_column
from benchquery.text import format_table

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure

ENDINGS = (".png", ".svg", ".pdf", ".html")
_DPI = 150
_MEANS = ("perf", "perf_std", "retained", "nodes", "edges", "condense_time", "graph_bytes")
_BEST = ("config", "method", "ratio", "init", "seed", "model", "valid_perf", "perf", "full_perf")
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


def _arch_numbers(table: ArchTable) -> dict[str, list[dict[str, Any]]]:
    """Return the figures behind the pictures of architectures, by heading."""
    metrics = [name for name in ("valid_perf", "perf", "latency", "para") if name in table.columns]
    spread = [
        {"column": name, "unit": schema_column(name).unit, **describe(table, name)}
        for name in metrics
    ]
    best = [
        {"hash": arch.valid_hash(), "arch": repr(arch)} | {m: table[arch][m] for m in metrics}
        for arch in table.top(10).archs()
    ]
    return {"Numbers": spread, "The ten best by valid_perf": best}


def _condensed_numbers(table: CondensedTable) -> dict[str, list[dict[str, Any]]]:
    """Return the figures behind the pictures of condensed graphs, by heading."""
    means = []
    for mean in table.mean(over="seed"):
        paper = mean_accuracy(mean)
        means.append(
            {"method": method_name(mean)}
            | {name: mean[name] for name in ("ratio", "task", "model", "count", *_MEANS)}
            | {"paper [%]": None if paper is None else paper.percent}
        )
    best = [{name: row[name] for name in _BEST} for row in table.top(10).records()]
    return {"Means over condensation seeds": means, "The ten best by valid_perf": best}


def write_report(table: ArchTable | CondensedTable, path: Path) -> None:
    """Write one self-contained page with every picture of a table and the numbers behind.

    Raises:
        QueryError: If the ending of the name is not .html, or there is no such folder.
    """
    check_picture(path, [".html"])
    manifest = table.manifest
    if isinstance(table, ArchTable):
        rows, numbers = f"architectures of space {manifest.space}", _arch_numbers(table)
    else:
        rows, numbers = f"condensed graphs of {manifest.space}", _condensed_numbers(table)
    facts = [
        f"{len(table):,} {rows}",
        f"{manifest.origin} figures, metric {manifest.metric}, licence {manifest.licence}",
        *(f"{key}: {value}" for key, value in manifest.source.items()),
        *manifest.notes,
    ]
    listed = "".join(f"<li>{html.escape(fact)}</li>" for fact in facts)
    counted = "".join(
        f"<h2>{heading}</h2><pre>{html.escape(format_table(lines))}</pre>"
        for heading, lines in numbers.items()
    )
    drawn = "".join(
        f"<h2>{name.capitalize()}</h2>{_svg(figures_of(table)[name](table))}"
        for name in drawable(table)
    )
    body = f"<ul>{listed}</ul>{counted}{drawn}"
    path.write_text(_page(f"GraphTab: {table.name}", body), encoding="utf-8")
