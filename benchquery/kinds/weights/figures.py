"""The picture of a differentiable search: its weights beside the choices of the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.figures.style import COLOURS, GREY, finish, new_figure, title
from benchquery.kinds.weights.analysis import WeightComparison, average_weights, weight_errors
from benchquery.kinds.weights.table import WeightTable

if TYPE_CHECKING:
    import matplotlib.figure as mpl_figure
    import numpy as np
else:
    np = LazyModule("numpy")


def weights(comparison: WeightComparison) -> mpl_figure.Figure:
    """Draw mean weights and frequencies of every operation side by side (Figure 7)."""
    figure = new_figure(7, 3.4)
    axes = figure.subplots()
    names = list(comparison.weights)
    places = np.arange(len(names))
    axes.bar(
        places - 0.2, list(comparison.weights.values()), 0.4, color=COLOURS[0],
        yerr=list(comparison.errors.values()), label="mean weight, with its standard error",
    )  # fmt: skip
    axes.bar(
        places + 0.2, list(comparison.top.values()), 0.4, color=COLOURS[1],
        label=f"share in the top {comparison.share:.0%} by {comparison.by}",
    )  # fmt: skip
    axes.set_xticks(places, names, fontsize=8)
    axes.set(xlabel="operation", ylabel="share of the nodes")
    axes.legend(fontsize=8)
    finish(axes, f"Differentiable search: {comparison.dataset}")
    return figure


def mean_weights(table: WeightTable) -> mpl_figure.Figure:
    """Draw the mean weight of every operation over all searches that ended well."""
    means, errors = average_weights(table), weight_errors(table)
    figure = new_figure(7, 3.4)
    axes = figure.subplots()
    axes.bar(
        list(means), list(means.values()), 0.6, color=COLOURS[0],
        yerr=np.nan_to_num(list(errors.values())), label="mean weight, with its standard error",
    )  # fmt: skip
    axes.axhline(1 / len(means), color=GREY, linestyle="--", label="equal shares")
    axes.set(xlabel="operation", ylabel="weight [fraction]")
    axes.legend(fontsize=8)
    finish(axes, title(table, "Differentiable search"))
    return figure
