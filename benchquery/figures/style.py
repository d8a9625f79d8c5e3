"""One look for all pictures: size, colours that colour-blind people can tell apart, labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.table.rows import RowTable

if TYPE_CHECKING:
    import matplotlib.axes as mpl_axes
    import matplotlib.figure as mpl_figure
    import matplotlib.ticker as mpl_ticker
    import numpy as np

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")
    mpl_figure = LazyModule("matplotlib.figure", extra="plot")
    mpl_ticker = LazyModule("matplotlib.ticker", extra="plot")

GREY = "#9aa5b1"
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
    "#882255", "#999933", "#6a3fc4", GREY,
)  # fmt: skip
"""The palette of Okabe and Ito, which colour-blind people can tell apart too, three more from that
of Tol, and a grey. The explorer has the same."""


def new_figure(width: float = 7.0, height: float = 4.2) -> mpl_figure.Figure:
    """Return an empty figure; sizes in inches."""
    return mpl_figure.Figure(figsize=(width, height), layout="constrained")


_MARKERS = "os^DvPX*<>"
_MANY_POINTS, _FEW_POINTS = 5_000, 500
_FEW_DECADES, _MANY_DECADES = 2.0, 8.0


def look(index: int) -> dict[str, Any]:
    """Return colour and marker of the series of a number, different for many of them."""
    colours = COLOURS[:-1]
    return {
        "color": colours[index % len(colours)],
        "marker": _MARKERS[index % len(_MARKERS)],
        "linestyle": "-" if index < len(colours) else "--",
    }


def specks(count: int) -> dict[str, Any]:
    """Return the look of so many points of a cloud: the fewer, the larger and the darker."""
    if count > _MANY_POINTS:
        return {"s": 4, "alpha": 0.35, "linewidths": 0}
    return {"s": 10 if count > _FEW_POINTS else 22, "alpha": 0.6, "linewidths": 0}


def label(table: RowTable[Any], name: str) -> str:
    """Return the label of an axis: the column with its unit."""
    unit = table.described(name).unit
    return f"{name} [{unit}]" if unit else name


def title(table: RowTable[Any], what: str) -> str:
    """Return a title that says what is shown and where the figures come from."""
    named = (table.manifest.source.get(key) for key in ("package", "builder", "title"))
    source = next((name for name in named if name), "source unknown")
    return f"{what}: {table.name}, {table.manifest.origin} ({source})"


def without(count: int, what: str = "a figure") -> str:
    """Return the line of a heading that says how many rows are not shown; empty if all are."""
    return f"\n{count:,} without {what} left out" if count else ""


def finish(axes: mpl_axes.Axes, heading: str = "") -> None:
    """Give axes their grid and heading."""
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    if heading:
        axes.set_title(heading, fontsize=10)


def log_scale(axes: mpl_axes.Axes, unit: str | None = None) -> None:
    """Make the horizontal axis logarithmic, with few and readable ticks.

    Args:
        axes: The axes, on which all is drawn already.
        unit: What the figures are in. Seconds are written with it, as an m alone would be read as
            minutes.
    """
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    decades = np.log10(high / low)
    steps = (1, 2, 5) if decades <= _FEW_DECADES else (1,)
    thinned = 1000.0 if decades > _MANY_DECADES else 10.0
    axes.xaxis.set_major_locator(mpl_ticker.LogLocator(base=thinned, subs=steps))
    short = mpl_ticker.EngFormatter()
    axes.xaxis.set_major_formatter(
        mpl_ticker.FuncFormatter(lambda value, _: _seconds(value) if unit == "s" else short(value))
    )
    axes.xaxis.set_minor_formatter(mpl_ticker.NullFormatter())


def _seconds(value: float) -> str:
    """Return seconds as people write them: thousands as they are, small ones with a prefix."""
    return f"{value:,g} s" if value >= 1 else str(mpl_ticker.EngFormatter(unit="s")(value))


def draw_matrix(
    axes: mpl_axes.Axes,
    matrix: Floats,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    least: float = 0.0,
    most: float = 1.0,
    digits: int = 2,
) -> None:
    """Draw a matrix as coloured cells with their values, coloured from `least` to `most`.

    What is NaN has no colour and a dash.
    """
    axes.imshow(matrix, cmap="cividis", vmin=least, vmax=most)
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right", fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    middle = (most + least) / 2
    for i, j in np.ndindex(matrix.shape):
        value = matrix[i, j]
        text = "-" if np.isnan(value) else f"{value:.{digits}f}"
        colour = "white" if value <= middle else "black"
        axes.text(j, i, text, ha="center", va="center", color=colour, fontsize=7)
