"""Pictures of tables, by matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchquery import schema
from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.table import ArchTable

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure
    import matplotlib.ticker as mpl_ticker
else:
    mpl_ticker = LazyModule("matplotlib.ticker", extra="plot")
    mpl_figure = LazyModule("matplotlib.figure", extra="plot")

_ALL, _FRONT = "#9aa5b1", "#d55e00"
_ENDINGS = (".png", ".svg", ".pdf")


def _label(name: str) -> str:
    """Return the label of an axis: the column with its unit."""
    unit = schema.column(name).unit
    return f"{name} [{unit}]" if unit else name


def check_picture(path: Path) -> None:
    """Refuse a picture that can't be drawn.

    Raises:
        QueryError: If the ending of the name is unknown, or there is no such folder.
    """
    if path.suffix not in _ENDINGS:
        raise QueryError(f"can't draw {path.name!r}; the ending must be {' or '.join(_ENDINGS)}")
    if not path.parent.is_dir():
        raise QueryError(f"can't draw {path}: there is no folder {path.parent}")


def plot_pareto(
    table: ArchTable, path: Path, better: str = "valid_perf", cheaper: str = "latency"
) -> None:
    """Draw all architectures and the front of those that none beats in both columns.

    Args:
        table: The table.
        path: The picture to write: .png, .svg or .pdf.
        better: The column to maximise.
        cheaper: The column to minimise.

    Raises:
        QueryError: If the ending of the name is another, or there is no such folder.
    """
    check_picture(path)
    front = table.pareto(better, cheaper).top(len(table), cheaper)
    figure = mpl_figure.Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.scatter(
        table.column(cheaper), table.column(better), s=4, color=_ALL, alpha=0.35, linewidths=0,
        rasterized=True, label=f"{len(table):,} architectures",
    )  # fmt: skip
    axes.plot(
        front.column(cheaper), front.column(better), "o-", color=_FRONT, markersize=5,
        drawstyle="steps-post", label=f"Pareto front: {len(front)}",
    )  # fmt: skip
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(mpl_ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(mpl_ticker.EngFormatter())
    axes.xaxis.set_minor_formatter(mpl_ticker.NullFormatter())
    axes.set(xlabel=_label(cheaper), ylabel=_label(better))
    source = table.manifest.source.get("package") or table.manifest.source.get("title", "")
    axes.set_title(f"{table.name}: {table.manifest.origin} figures ({source})", fontsize=10)
    axes.grid(alpha=0.25)
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=150)


FIGURES: Mapping[str, Callable[[ArchTable, Path], None]] = {"pareto": plot_pareto}
