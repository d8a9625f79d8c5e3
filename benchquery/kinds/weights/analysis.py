"""What a differentiable search weighs, beside what the best architectures use (Figure 7)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import left_out
from benchquery.analysis.statistics import correlation, correlation_interval, rank_correlation
from benchquery.errors import QueryError
from benchquery.kinds.architectures.analysis.frequency import node_depths, op_frequencies
from benchquery.kinds.architectures.arch import LINKS
from benchquery.kinds.architectures.table import ArchTable
from benchquery.kinds.weights.mixtures import OperationWeights
from benchquery.kinds.weights.table import WeightTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")


Weights = OperationWeights | WeightTable
"""The weights of some searches, or the table of them."""


def _of(weights: Weights) -> OperationWeights:
    return weights.operation_weights() if isinstance(weights, WeightTable) else weights


def _chosen(weights: OperationWeights, first: bool | None) -> list[Floats]:
    """Return the weights (nodes, operations) of each search, without searches that have none."""
    if first is None:
        return list(weights.values)
    depths = dict(zip(("".join(map(str, link)) for link in LINKS), node_depths(), strict=True))
    chosen = [
        values[(depths[link] == 1) == first]
        for (link, _), values in zip(weights.searches, weights.values, strict=True)
    ]
    return [values for values in chosen if len(values)]


def average_weights(weights: Weights, *, first: bool | None = None) -> dict[str, float]:
    """Return the mean weight of each operation over all searches and nodes.

    Args:
        weights: The weights.
        first: True for nodes on the network's input only (depth one), False for all the deeper
            ones, None for both.

    Returns:
        By operation, its mean weight; they add up to 1. NaN if there is no such node.
    """
    weights = _of(weights)
    chosen = _chosen(weights, first)
    if not chosen:
        return dict.fromkeys(weights.ops, math.nan)
    means = np.concatenate(chosen).mean(axis=0)
    return dict(zip(weights.ops, means.tolist(), strict=True))


def weight_errors(weights: Weights, *, first: bool | None = None) -> dict[str, float]:
    """Return the standard error of each mean weight over the searches; NaN if there is one.

    Args:
        weights: The weights.
        first: As for `average_weights`.
    """
    weights = _of(weights)
    by_search = [values.mean(axis=0) for values in _chosen(weights, first)]
    if len(by_search) < 2:
        return dict.fromkeys(weights.ops, math.nan)
    errors = np.std(by_search, axis=0, ddof=1) / math.sqrt(len(by_search))
    return dict(zip(weights.ops, errors.tolist(), strict=True))


def weight_rows(weights: Weights) -> list[dict[str, Any]]:
    """Return one row an operation: its mean weight and the error of that, None if unknown."""
    return _rows(average_weights(weights), weight_errors(weights))


def _rows(means: Mapping[str, float], errors: Mapping[str, float]) -> list[dict[str, Any]]:
    known = {op: None if math.isnan(error) else error for op, error in errors.items()}
    return [{"operation": op, "weight": means[op], "error": known[op]} for op in means]


@dataclasses.dataclass(frozen=True)
class WeightComparison:
    """Mean weights of a search beside the choices of the best architectures.

    Attributes:
        dataset: What both are about.
        share: Which share of the architectures counts as best.
        by: The column that says what is best.
        weights: By operation, its mean weight.
        errors: By operation, the standard error of that.
        top: By operation, how often the best use it, over all their raw forms on the nine link
            lists: a supernet sees those, and each operation has an equal share in them.
        everywhere: By operation, how often all architectures use it, in the same way.
        pearson: Correlation of `weights` and `top`; NaN where one of them does not vary.
        pearson_interval: Its 95% interval: that of as many numbers as there are operations.
        spearman: That of their ranks.
        spearman_interval: Its 95% interval.
        left_out: How many architectures have no figure.
    """

    dataset: str
    share: float
    by: str
    weights: dict[str, float]
    errors: dict[str, float]
    top: dict[str, float]
    everywhere: dict[str, float]
    pearson: float
    pearson_interval: tuple[float, float]
    spearman: float
    spearman_interval: tuple[float, float]
    left_out: int

    def rows(self) -> list[dict[str, Any]]:
        """Return one row an operation."""
        return [
            row
            | {f"top {self.share:.0%}": self.top[row["operation"]]}
            | {"all": self.everywhere[row["operation"]]}
            for row in _rows(self.weights, self.errors)
        ]


def compare_weights(
    weights: Weights,
    table: ArchTable,
    share: float = 0.05,
    by: str = "perf",
    *,
    first: bool | None = None,
) -> WeightComparison:
    """Compare the mean weights of a search with what the top share of a table uses.

    Args:
        weights: The weights.
        table: A table of architectures, of the same dataset.
        share: Which share of its architectures counts as top.
        by: The column that says what is best.
        first: True for nodes on the network's input only (depth one), False for all the deeper
            ones, None for both.

    Raises:
        QueryError: If the table is one of another dataset or has no figures, or the share is
            not in (0, 1].
    """
    weights = _of(weights)
    if table.dataset != weights.dataset:
        raise QueryError(
            f"the weights are those of {weights.dataset!r}, the table is one of {table.dataset!r}: "
            "compare like with like"
        )
    means = average_weights(weights, first=first)
    top, everywhere = (
        {op: found.get(op, math.nan) for op in means}
        for found in (
            op_frequencies(table, part, by, first=first, form="raw") for part in (share, 1.0)
        )
    )
    a, b = np.array(list(means.values())), np.array(list(top.values()))
    pearson, spearman, pairs = correlation(a, b), rank_correlation(a, b), len(a)
    return WeightComparison(
        dataset=weights.dataset,
        share=share,
        by=by,
        weights=means,
        errors=weight_errors(weights, first=first),
        top=top,
        everywhere=everywhere,
        pearson=pearson,
        pearson_interval=correlation_interval(pearson, pairs),
        spearman=spearman,
        spearman_interval=correlation_interval(spearman, pairs, ranked=True),
        left_out=left_out(table, by),
    )
