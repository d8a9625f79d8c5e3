"""Pictures of a table of condensed graphs; its kind names them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part, left_out
from benchquery.errors import QueryError
from benchquery.figures.style import (
    COLOURS,
    GREY,
    draw_matrix,
    finish,
    label,
    log_scale,
    look,
    new_figure,
    title,
    without,
)
from benchquery.kinds.condensed.analysis import (
    by_named_models,
    common_size,
    in_order,
    means_with_figures,
    method_name,
    usual_means,
)
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.forms import IMAGES
from benchquery.kinds.condensed.methods import method_names
from benchquery.kinds.condensed.pixels import first_of_each, shown_classes, shown_pixels
from benchquery.kinds.condensed.published import Published, mean_accuracy, whole_accuracy
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.record import Record
from benchquery.table.schema import CURVE_COLUMNS

if TYPE_CHECKING:
    import matplotlib.axes as mpl_axes
    import matplotlib.figure as mpl_figure
    import numpy as np

    from benchquery._typing import Array
else:
    np = LazyModule("numpy")

_PAPER = "published by the GC-Bench paper"
_NO_LOSS = ("epoch", "valid_perf", "seconds")
_LARGEST = 220.0
_WHOLE = "whole graph"
_SIDE = 0.55
"""Of a grid of images: inches of an image's side."""
_LONGEST_NAME = 24
"""Letters in a line of a name; hyper-parameters make some names longer than a picture is wide."""


def _look_of(method: str) -> dict[str, Any]:
    """Return the look of a method, the same in every picture."""
    known = method_names()
    return look(known.index(method) if method in known else len(known))


def _whole_percent(means: Sequence[Record]) -> float:
    """Return the figure of the whole graph that some runs are compared with."""
    known = [mean["full_perf"] for mean in means if not np.isnan(mean["full_perf"])]
    return 100 * float(np.mean(known)) if known else np.nan


def _percent(figure: Published | None) -> float | None:
    return None if figure is None else figure.percent


def ratios(
    table: CondensedTable, model: str | None = None, *, published: bool = True
) -> mpl_figure.Figure:
    """Draw test performance against the size: one line a method, mean and std over seeds.

    Args:
        table: The table; which run of a method is drawn, `usual_means` says.
        model: The model that judged the graphs; None for the usual one.
        published: Whether to mark what the paper has.
    """
    model = model or table.domain.model
    lines = usual_means(table, model)
    figure = new_figure(7.4, 4.6)
    axes = figure.subplots()
    for method, means in lines.items():
        axes.errorbar(
            [mean[table.size] for mean in means], [100 * mean["perf"] for mean in means],
            yerr=[100 * mean["perf_std"] for mean in means], capsize=3, markersize=5,
            label=method_name(means[0]), **_look_of(method),
        )  # fmt: skip
    drawn = [mean for means in lines.values() for mean in means]
    axes.axhline(_whole_percent(drawn), color=GREY, label=_WHOLE, zorder=1)
    if published:
        _mark_published(axes, table, drawn, model)
    _size_ticks(axes, table, sorted({mean[table.size] for mean in drawn}))
    axes.set(xlabel=label(table, table.size), ylabel=f"perf, {table.manifest.metric} [%]")
    axes.legend(fontsize=7, ncols=2)
    missing = without(left_out(table.where(model=model), "perf"))
    finish(axes, title(table, f"Test performance of {model} by {table.size}") + missing)
    return figure


def _mark_published(
    axes: mpl_axes.Axes, table: CondensedTable, drawn: Sequence[Record], model: str
) -> None:
    """Mark the paper's figures of the same runs, hollow, and that of the whole graph."""
    named = _PAPER
    for mean in drawn:
        paper = _percent(mean_accuracy(mean))
        if paper is not None:
            axes.plot(
                mean[table.size], paper, markersize=9, markerfacecolor="none", label=named,
                **{**_look_of(mean["method"]), "linestyle": "none"},
            )  # fmt: skip
            named = "_"
    whole = _percent(whole_accuracy(table.dataset, model, table.domain.task))
    if whole is not None:
        axes.axhline(whole, color=GREY, linestyle=":", label=f"{_WHOLE}, {_PAPER}", zorder=1)


def _size_ticks(axes: mpl_axes.Axes, table: CondensedTable, values: Sequence[float]) -> None:
    """Make the horizontal axis logarithmic with the sizes as ticks."""
    axes.set_xscale("log")
    in_percent = table.size == "ratio"
    axes.set_xticks(values, [f"{100 * one:g}%" if in_percent else f"{one:g}" for one in values])
    axes.set_xticks([], minor=True)


def costs(table: CondensedTable, model: str | None = None) -> mpl_figure.Figure:
    """Draw test performance against the time of condensing, experts included.

    Every point is the mean over seeds of one way to condense; its area is the size of the graph.

    Args:
        table: The table.
        model: The model that judged the graphs; None for the usual one.
    """
    model = model or table.domain.model
    by_method: dict[str, list[Record]] = {}
    for mean in means_with_figures(table, model):
        by_method.setdefault(mean["method"], []).append(mean)
    sizes = [mean["graph_bytes"] for means in by_method.values() for mean in means]
    figure = new_figure(7.4, 4.6)
    axes = figure.subplots()
    for method in in_order(by_method):
        means = by_method[method]
        style = _look_of(method)
        axes.scatter(
            [mean["condense_time"] + np.nan_to_num(mean["expert_time"]) for mean in means],
            [100 * mean["perf"] for mean in means],
            s=[_LARGEST * mean["graph_bytes"] / max(sizes) + 8 for mean in means],
            color=style["color"], marker=style["marker"], alpha=0.65, linewidths=0, label=method,
        )  # fmt: skip
    for size in (min(sizes), max(sizes)):
        area = _LARGEST * size / max(sizes) + 8
        axes.scatter([], [], s=area, color=GREY, label=f"graph of {size / 1e3:,.1f} kB")
    log_scale(axes)
    axes.set(xlabel="condense_time + expert_time [s]", ylabel=f"perf, {table.manifest.metric} [%]")
    axes.legend(fontsize=7, ncols=2)
    missing = without(left_out(table.where(model=model), "perf"))
    finish(axes, title(table, f"Test performance of {model} by cost") + missing)
    return figure


def _chosen(table: CondensedTable, key: CondenseConfig | str | None) -> Record:
    """Return the record of a configuration; of the best by validation if none is named."""
    return table.best() if key is None else table[key]


def _naming(table: CondensedTable, record: Record) -> str:
    size = f"{table.size.replace('_', ' ')} {record[table.size]:g}"
    return f"{record['method']}, {size}, seed {record['seed']}"


def trace(table: CondensedTable, key: CondenseConfig | str | None = None) -> mpl_figure.Figure:
    """Draw how a condensation went: losses and validation of its snapshots.

    Args:
        table: The table.
        key: A configuration or its hash; None for the best by validation.
    """
    record = _chosen(table, key)
    figures = table.trace(record["config"])
    losses = {name: values for name, values in figures.items() if name not in _NO_LOSS}
    panels = [(losses, "loss")] if losses else []
    panels.append(({"valid_perf": figures["valid_perf"]}, label(table, "valid_perf")))
    figure = _panels(panels, figures["epoch"], "condensation epoch")
    figure.axes[-1].axvline(
        record["best_epoch"], color=GREY, linestyle="--", zorder=1, label="chosen snapshot"
    )
    figure.axes[-1].legend(fontsize=8)
    figure.suptitle(title(table, f"Condensation by {_naming(table, record)}"), fontsize=10)
    return figure


def images(
    table: CondensedTable, key: CondenseConfig | str | None = None, most: int = 10
) -> mpl_figure.Figure:
    """Draw the condensed images of a configuration as a grid: a column a class, of the first 20.

    Args:
        table: The table.
        key: A configuration or its hash; None for the best by validation.
        most: How many images of a class are drawn at most.

    Raises:
        QueryError: If what is kept of the configuration are no images.
        UnknownHashError: If the table does not hold it, or nothing is kept of it.
    """
    record = _chosen(table, key)
    if table.graphs.form(record["config"]) != IMAGES:
        raise QueryError(f"{record['config']} is no set of images")
    arrays = table.graph(record["config"])
    pixels, classes = shown_pixels(arrays), shown_classes(arrays)
    members = first_of_each(classes, most)
    deepest = max(len(numbers) for _, numbers in members)
    figure = new_figure(max(_SIDE * len(members), 3.6), _SIDE * deepest + 0.9)
    grid = figure.subplots(deepest, len(members), squeeze=False)
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[], frame_on=False)
    for column, (one, numbers) in enumerate(members):
        grid[0, column].set_title(str(one), fontsize=8)
        for axes, number in zip(grid[:, column], numbers, strict=False):
            axes.imshow(pixels[number], cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    heading = title(table, f"Images by {_naming(table, record)}")
    figure.suptitle(heading, fontsize=9, wrap=True)
    return figure


def curve(
    table: CondensedTable,
    key: CondenseConfig | str | None = None,
    model: str | None = None,
) -> mpl_figure.Figure:
    """Draw the learning curve of a model on a condensed graph, the mean over evaluation seeds.

    Args:
        table: The table.
        key: A configuration or its hash; None for the best by validation.
        model: The model; None for the usual evaluation.
    """
    record = _chosen(table, key)
    values = table.curve(record["config"], model)
    tried = np.flatnonzero(~np.isnan(values).all(axis=1))
    shown = {column.name: values[tried, i] for i, column in enumerate(CURVE_COLUMNS)}
    names = [f"{split}_{{}}" for split in ("train", "valid", "test")]
    panels = [
        ({name.format(what): shown[name.format(what)] for name in names}, said)
        for what, said in (("perf", f"{table.manifest.metric} [fraction]"), ("loss", "loss [nat]"))
    ]
    figure = _panels(panels, tried, "epoch of the evaluation")
    judged = model or table[record["config"]]["model"]
    figure.suptitle(title(table, f"{judged} trained on {_naming(table, record)}"), fontsize=10)
    return figure


def _panels(
    panels: Sequence[tuple[Mapping[str, Array], str]], epochs: Array, below: str
) -> mpl_figure.Figure:
    """Draw lines over epochs, one panel beside the other."""
    figure = new_figure(max(6.6, 4.5 * len(panels)), 3.2)
    for axes, (lines, said) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
    ):
        marker = "o" if len(epochs) < 50 else ""
        for (name, values), colour in zip(lines.items(), COLOURS, strict=False):
            axes.plot(epochs, values, marker=marker, markersize=3, color=colour, label=name)
        axes.set(xlabel=below, ylabel=said)
        axes.legend(fontsize=8)
        finish(axes)
    return figure


def models(table: CondensedTable, size: float | None = None) -> mpl_figure.Figure:
    """Draw how graphs of each method serve each model: test performance in percent.

    Members of families of models, which are many, are left out.

    Args:
        table: The table; which run of a method is drawn, `usual_means` says.
        size: The ratio, or number of a class; None for the one at which most models were trained.

    Raises:
        QueryError: If the table has no such size, or no figure at it.
    """
    table = by_named_models(table)
    size = common_size(table) if size is None else size
    part = table.where(**{table.size: size})
    if not part:
        known = ", ".join(f"{one:g}" for one in sorted(set(table.column(table.size).tolist())))
        raise QueryError(
            f"this table of {table.name!r} has no {table.size} {size!r}; allowed: {known}"
        )
    columns = list(dict.fromkeys(known_part(part, "perf").column("model").tolist()))
    means = {model: usual_means(part, model) for model in columns}
    methods = in_order({method for of_model in means.values() for method in of_model})
    matrix = np.full((len(methods) + 1, len(columns)), np.nan)
    names: dict[str, str] = {}
    for j, of_model in enumerate(means.values()):
        for method, (mean,) in of_model.items():
            matrix[methods.index(method), j] = 100 * mean["perf"]
            names.setdefault(method, method_name(mean))
        matrix[-1, j] = _whole_percent([mean for (mean,) in of_model.values()])
    rows = [textwrap.fill(names[method], _LONGEST_NAME) for method in methods] + [_WHOLE]
    lines = [line for row in rows for line in row.splitlines()]
    most_lines = max(row.count("\n") + 1 for row in rows)
    figure = new_figure(
        1.6 + 0.08 * max(map(len, lines)) + 0.75 * len(columns),
        1.6 + max(0.38, 0.18 * most_lines) * len(rows),
    )
    axes = figure.subplots()
    draw_matrix(
        axes, matrix, rows, columns,
        least=float(np.nanmin(matrix)), most=float(np.nanmax(matrix)), digits=1,
    )  # fmt: skip
    axes.set(xlabel="model", ylabel="method")
    heading = title(table, f"perf, {table.manifest.metric} [%], {table.size} {size:g}")
    heading += without(left_out(part, "perf"))
    figure.suptitle(heading, fontsize=9, wrap=True)
    return figure
