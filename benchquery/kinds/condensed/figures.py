"""Pictures of a table of condensed graphs; its kind names them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part, left_out
from benchquery.errors import QueryError
from benchquery.figures.epochs import draw_epochs, draw_learning
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
    of_one_task,
    usual_means,
    usual_model,
)
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.forms import GRAPH, IMAGES
from benchquery.kinds.condensed.methods import method_names
from benchquery.kinds.condensed.pixels import first_of_each, shown_classes, shown_pixels
from benchquery.kinds.condensed.published import Published, mean_accuracy, whole_accuracy
from benchquery.kinds.condensed.structure import degrees_of, force_directed, projected
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.record import Record

if TYPE_CHECKING:
    import matplotlib.axes as mpl_axes
    import matplotlib.figure as mpl_figure
    import numpy as np

    from benchquery._typing import Array, Floats
else:
    np = LazyModule("numpy")

_PAPER = "published by the GC-Bench paper"
_NO_LOSS = ("epoch", "valid_perf", "seconds")
_LARGEST = 220.0
_SIDE = 0.55
"""Of a grid of images: inches of an image's side."""
_LONGEST_NAME = 24
"""Letters in a line of a name; hyper-parameters make some names longer than a picture is wide."""
_LONGEST_LABEL = 56
"""The same in a legend of two columns."""


def _look_of(table: CondensedTable, method: str) -> dict[str, Any]:
    """Return the look of a method, the same in every picture of a sort of data."""
    known = method_names(table.domain.name)
    return look(known.index(method) if method in known else len(known))


def _whole(table: CondensedTable) -> str:
    """Return what all of the data is called."""
    return "whole graph" if table.domain.form == GRAPH else "whole set"


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
    model = model or usual_model(table)
    lines = usual_means(table, model)
    figure = new_figure(7.4, 5.2)
    axes = figure.subplots()
    for method, means in lines.items():
        axes.errorbar(
            [mean[table.size] for mean in means], [100 * mean["perf"] for mean in means],
            yerr=[100 * mean["perf_std"] for mean in means], capsize=3, markersize=5,
            label=textwrap.fill(method_name(means[0]), _LONGEST_LABEL), **_look_of(table, method),
        )  # fmt: skip
    drawn = [mean for means in lines.values() for mean in means]
    axes.axhline(_whole_percent(drawn), color=GREY, label=_whole(table), zorder=1)
    if published:
        _mark_published(axes, table, drawn, model)
    _size_ticks(axes, table, sorted({mean[table.size] for mean in drawn}))
    axes.set(xlabel=label(table, table.size), ylabel=f"perf, {table.manifest.metric} [%]")
    figure.legend(loc="outside lower center", fontsize=7, ncols=2)
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
                **{**_look_of(table, mean["method"]), "linestyle": "none"},
            )  # fmt: skip
            named = "_"
    whole = _percent(whole_accuracy(table.dataset, model, table.domain.task))
    if whole is not None:
        axes.axhline(whole, color=GREY, linestyle=":", label=f"{_whole(table)}, {_PAPER}", zorder=1)


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
    model = model or usual_model(table)
    by_method: dict[str, list[Record]] = {}
    for mean in means_with_figures(table, model):
        by_method.setdefault(mean["method"], []).append(mean)
    sizes = [mean["graph_bytes"] for means in by_method.values() for mean in means]
    figure = new_figure(7.4, 4.6)
    axes = figure.subplots()
    for method in in_order(by_method):
        means = by_method[method]
        style = _look_of(table, method)
        axes.scatter(
            [mean["condense_time"] + np.nan_to_num(mean["expert_time"]) for mean in means],
            [100 * mean["perf"] for mean in means],
            s=[_LARGEST * mean["graph_bytes"] / max(sizes) + 8 for mean in means],
            color=style["color"], marker=style["marker"], alpha=0.65, linewidths=0, label=method,
        )  # fmt: skip
    for size in (min(sizes), max(sizes)):
        area = _LARGEST * size / max(sizes) + 8
        axes.scatter([], [], s=area, color=GREY, label=f"{size / 1e3:,.1f} kB")
    log_scale(axes, "s")
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
    figure = draw_epochs(panels, figures["epoch"], "condensation epoch")
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


def graph(
    table: CondensedTable, key: CondenseConfig | str | None = None, share: float = 0.2
) -> mpl_figure.Figure:
    """Draw a condensed graph, and how many neighbours its nodes have.

    Where there are edges, joined nodes are drawn together; where there are none, nodes lie by the
    first two principal components of their features. Colours are classes.

    Args:
        table: The table.
        key: A configuration or its hash; None for the best by validation.
        share: Which share of the edges is drawn, those of greatest weight, as in GC-Bench.

    Raises:
        QueryError: If what is kept of the configuration is no single graph, or the share is not
            above 0 and at most 1.
        UnknownHashError: If the table does not hold it, or nothing is kept of it.
    """
    record = _chosen(table, key)
    if table.graphs.form(record["config"]) != GRAPH:
        raise QueryError(f"{record['config']} is no single graph")
    if not 0 < share <= 1:
        raise QueryError(f"share is {share}; it must be above 0 and at most 1")
    arrays = table.graph(record["config"])
    labels = arrays["y"] if arrays["y"].ndim == 1 else arrays["y"].argmax(axis=1)
    degrees = degrees_of(arrays, record["threshold"])
    figure = new_figure(9.0, 4.4)
    axes, beside = figure.subplots(1, 2, width_ratios=(3, 2))
    if degrees.any():
        weights = np.where(arrays["adjacency"] >= record["threshold"], arrays["adjacency"], 0.0)
        places = force_directed(weights.astype(np.float64))
        said = _draw_edges(axes, weights, places, share)
    else:
        places, said = projected(arrays["x"]), "no edges; by the principal components of features"
    for one in np.unique(labels).tolist():
        here = places[labels == one]
        axes.scatter(*here.T, s=26, color=COLOURS[one % len(COLOURS)], label=str(one), zorder=3)
    axes.set(xticks=[], yticks=[], xlabel=said)
    axes.legend(fontsize=7, title="class", title_fontsize=7, loc="upper right")
    finish(axes)
    beside.hist(degrees, bins=np.arange(degrees.max() + 2) - 0.5, color=GREY)
    beside.xaxis.get_major_locator().set_params(integer=True)
    beside.set(xlabel="degree", ylabel="nodes")
    finish(beside)
    figure.suptitle(title(table, f"Graph by {_naming(table, record)}"), fontsize=10)
    return figure


def _draw_edges(axes: mpl_axes.Axes, weights: Array, places: Array, share: float) -> str:
    """Draw the heaviest edges; return which they are."""
    first, second = np.nonzero(np.triu(weights, 1))
    order = np.argsort(-weights[first, second], kind="stable")
    drawn = order[: max(int(np.ceil(share * len(order))), 1)]
    for one, other in zip(first[drawn].tolist(), second[drawn].tolist(), strict=True):
        strength = 0.3 + 0.7 * float(weights[one, other])
        axes.plot(*places[[one, other]].T, color=GREY, linewidth=1.1, alpha=strength, zorder=1)
    return f"the {len(drawn)} heaviest of {len(order)} edges"


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
    figure = draw_learning(
        table.curve(record["config"], model), table.manifest.metric, "epoch of the evaluation"
    )
    judged = model or table[record["config"]]["model"]
    figure.suptitle(title(table, f"{judged} trained on {_naming(table, record)}"), fontsize=10)
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
    table = by_named_models(of_one_task(table))
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
    rows = [textwrap.fill(names[method], _LONGEST_NAME) for method in methods]
    rows.append(_whole(table))
    lines = [line for row in rows for line in row.splitlines()]
    most_lines = max(row.count("\n") + 1 for row in rows)
    if len(columns) == 1:
        return _dots(table, part, matrix[:, 0], rows, f"{columns[0]}, {table.size} {size:g}")
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


def _dots(
    table: CondensedTable, part: CondensedTable, values: Floats, rows: Sequence[str], said: str
) -> mpl_figure.Figure:
    """Draw figures of one model as dots: a heat map of one column would say nothing by place."""
    figure = new_figure(7.0, 1.4 + 0.34 * len(rows))
    axes = figure.subplots()
    places = np.arange(len(rows))
    axes.scatter(values, places, s=60, color=[*[COLOURS[0]] * (len(rows) - 1), GREY])
    for place in np.flatnonzero(~np.isnan(values)):
        value = values[place]
        axes.annotate(
            f"{value:.1f}", (value, place), (8, 0), textcoords="offset points", va="center",
            fontsize=8,
        )  # fmt: skip
    axes.set_yticks(places, rows, fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set(xlabel=f"perf, {table.manifest.metric} [%]", ylabel="method")
    finish(axes)
    heading = title(table, f"By {said}") + without(left_out(part, "perf"))
    figure.suptitle(heading, fontsize=9, wrap=True)
    return figure
