"""What a differentiable search weighs, beside what the best architectures use (Figure 7)."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import QueryError, TableKindError
from benchquery.kinds.architectures.analysis.agreement import ranks
from benchquery.kinds.architectures.analysis.frequency import node_depths, op_frequencies
from benchquery.kinds.architectures.arch import LINKS, NODES, OPS
from benchquery.kinds.architectures.table import ArchTable
from benchquery.table.columnfile import FileColumns
from benchquery.table.manifest import read_manifest

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")

COLUMNS = ("link", "seed", "position", "operation", "weight", "status")
"""The columns of a table of weights that are read."""


@dataclasses.dataclass(frozen=True, eq=False)
class OperationWeights:
    """The operation weights of some searches at their end.

    Attributes:
        dataset: What was searched on.
        ops: The operations that were mixed.
        searches: Link list, as in ``0012``, and seed of every search that ended well.
        values: (searches, nodes, operations); those of a node add up to 1.
    """

    dataset: str
    ops: tuple[str, ...]
    searches: tuple[tuple[str, int], ...]
    values: Floats

    def __post_init__(self) -> None:
        """Check that there is a weight for everything, and something at all.

        Raises:
            QueryError: If not.
        """
        if self.values.shape != (len(self.searches), NODES, len(self.ops)):
            raise QueryError(
                f"the weights of {len(self.searches)} searches over {len(self.ops)} operations "
                f"can't have the shape {self.values.shape}"
            )
        if not self.searches:
            raise QueryError(f"no search on {self.dataset!r} has ended well")


def read_weights(folder: str | os.PathLike[str]) -> OperationWeights:
    """Read a table that ``benchbuild merge`` made of a run of ``benchbuild darts``.

    Raises:
        CorruptTableError: If a file is damaged, truncated or missing.
        TableKindError: If it is another kind of table.
        QueryError: If no search in it ended well.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    columns = FileColumns(folder, manifest)
    if manifest.kind != "weights":
        raise TableKindError(
            f"{folder} is a table of {manifest.kind}, not of operation weights; name one that was "
            "merged from a run of benchbuild darts"
        )
    used = {name: columns[name][columns["status"] == "ok"] for name in COLUMNS}
    present = set(used["operation"].tolist())
    ops = tuple(op for op in OPS if op in present)
    cells = dict(
        zip(
            zip(*(used[name].tolist() for name in COLUMNS[:4]), strict=True),
            used["weight"].tolist(),
            strict=True,
        )
    )
    searches = tuple(sorted({(link, seed) for link, seed, _, _ in cells}))
    values = np.array(
        [
            [[cells[*search, position, op] for op in ops] for position in range(1, NODES + 1)]
            for search in searches
        ]
    ).reshape(len(searches), NODES, len(ops))
    return OperationWeights(manifest.name, ops, searches, values)


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


def average_weights(weights: OperationWeights, *, first: bool | None = None) -> dict[str, float]:
    """Return the mean weight of each operation over all searches and nodes.

    Args:
        weights: The weights.
        first: True for nodes on the network's input only (depth one), False for all the deeper
            ones, None for both.

    Returns:
        By operation, its mean weight; they add up to 1. NaN if there is no such node.
    """
    chosen = _chosen(weights, first)
    if not chosen:
        return dict.fromkeys(weights.ops, math.nan)
    means = np.concatenate(chosen).mean(axis=0)
    return dict(zip(weights.ops, means.tolist(), strict=True))


def weight_errors(weights: OperationWeights, *, first: bool | None = None) -> dict[str, float]:
    """Return the standard error of each mean weight over the searches; NaN if there is one.

    Args:
        weights: The weights.
        first: As for `average_weights`.
    """
    by_search = [values.mean(axis=0) for values in _chosen(weights, first)]
    if len(by_search) < 2:
        return dict.fromkeys(weights.ops, math.nan)
    errors = np.std(by_search, axis=0, ddof=1) / math.sqrt(len(by_search))
    return dict(zip(weights.ops, errors.tolist(), strict=True))


def weight_rows(weights: OperationWeights) -> list[dict[str, Any]]:
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
        top: By operation, how often the best use it.
        everywhere: By operation, how often all architectures use it. Skips are rare here,
            because many raw forms with skips have one canonical form.
        pearson: Correlation of `weights` and `top`.
        spearman: That of their ranks.
    """

    dataset: str
    share: float
    by: str
    weights: dict[str, float]
    errors: dict[str, float]
    top: dict[str, float]
    everywhere: dict[str, float]
    pearson: float
    spearman: float

    def rows(self) -> list[dict[str, Any]]:
        """Return one row an operation."""
        return [
            row
            | {f"top {self.share:.0%}": self.top[row["operation"]]}
            | {"all": self.everywhere[row["operation"]]}
            for row in _rows(self.weights, self.errors)
        ]


def compare_weights(
    weights: OperationWeights,
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
        QueryError: If the table is one of another dataset, or the share is not in (0, 1].
    """
    if table.name != weights.dataset:
        raise QueryError(
            f"the weights are those of {weights.dataset!r}, the table is one of {table.name!r}: "
            "compare like with like"
        )
    means = average_weights(weights, first=first)
    top, everywhere = (
        {op: found[op] for op in means}
        for found in (op_frequencies(table, part, by, first=first) for part in (share, 1.0))
    )
    a, b = np.array(list(means.values())), np.array(list(top.values()))
    return WeightComparison(
        dataset=weights.dataset,
        share=share,
        by=by,
        weights=means,
        errors=weight_errors(weights, first=first),
        top=top,
        everywhere=everywhere,
        pearson=float(np.corrcoef(a, b)[0, 1]),
        spearman=float(np.corrcoef(ranks(a), ranks(b))[0, 1]),
    )
