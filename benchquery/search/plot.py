"""Pictures of searches: the best so far over the budget, with its standard error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.figures.page import check_picture, save
from benchquery.figures.style import COLOURS, new_figure
from benchquery.search.summary import Measure, aggregate, group
from benchquery.search.trace import Trace

if TYPE_CHECKING:
    import matplotlib.axes as mpl_axes
    import matplotlib.ticker as mpl_ticker
    import numpy as np
else:
    np = LazyModule("numpy")
    mpl_ticker = LazyModule("matplotlib.ticker", extra="plot")

_DASHES = ("-", "--", "-.", ":")
_COLUMNS = 3
_SKIPPED = 0.02
"""The share of a curve at its start that may leave the picture, as it rises too steeply."""


def plot_search(traces: Sequence[Trace], path: Path, measure: Measure = "reward") -> None:
    """Draw the best so far of each strategy: mean over the seeds, standard error shaded.

    There is one panel for each dataset and protocol, as in Figure 8 of the NAS-Bench-Graph
    paper.

    Args:
        traces: The traces.
        path: The picture to write: .png, .svg, .pdf or .html.
        measure: The incumbent's ``reward``, or its test metric ``perf``.

    Raises:
        QueryError: If the picture can't be written there, or there are no traces.
    """
    check_picture(path)
    if not traces:
        raise QueryError("there are no traces to draw")
    panels: dict[tuple[str, str], list[Trace]] = {}
    for trace in traces:
        panels.setdefault((trace.dataset, trace.protocol), []).append(trace)
    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    figure = new_figure(4.6 * columns + 1, 3.4 * rows)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    styles = {name: style for style, name in enumerate(dict.fromkeys(t.strategy for t in traces))}
    for panel, members in zip(axes, panels.values(), strict=False):
        _draw_panel(panel, members, measure, styles)
    for empty in axes[len(panels) :]:
        empty.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=9)
    save(figure, path)


def _draw_panel(
    axes: mpl_axes.Axes, traces: Sequence[Trace], measure: Measure, styles: dict[str, int]
) -> None:
    """Draw the strategies on one dataset under one protocol."""
    first, lowest, highest = traces[0], [], []
    for (_, _, strategy), members in group(traces).items():
        average = aggregate(members, measure)
        error = np.nan_to_num(average.error)
        lowest.append(average.mean[int(len(average.at) * _SKIPPED)])
        highest.append((average.mean + error).max())
        style = styles[strategy]
        colour = COLOURS[style % len(COLOURS)]
        axes.plot(
            average.at, average.mean, drawstyle="steps-post", color=colour, linewidth=1.4,
            linestyle=_DASHES[style // len(COLOURS) % len(_DASHES)],
            label=f"{strategy} ({average.count} seeds)",
        )  # fmt: skip
        axes.fill_between(
            average.at, average.mean - error, average.mean + error,
            step="post", color=colour, alpha=0.2, linewidth=0,
        )  # fmt: skip
    margin = 0.05 * (max(highest) - min(lowest))
    axes.set_ylim(min(lowest) - margin, max(highest) + margin)
    axes.yaxis.set_major_locator(mpl_ticker.MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(mpl_ticker.PercentFormatter(1, decimals=1, symbol=""))
    split = "validation" if (measure, first.protocol) == ("reward", "validation") else "test"
    axes.set(xlabel=f"budget [{first.budget.unit}]", ylabel=f"{split} metric of the best [%]")
    axes.set_title(f"{first.dataset} ({first.origin}), rewarded: {first.protocol}", fontsize=10)
    axes.grid(alpha=0.25)
