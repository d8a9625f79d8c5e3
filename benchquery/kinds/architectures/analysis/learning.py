"""What learning curves tell: how early the ranking settles, how much seeds differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.statistics import correlation, ranks
from benchquery.errors import UnknownNameError
from benchquery.kinds.architectures.table import ArchTable
from benchquery.table.schema import CURVE_COLUMNS

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Floats
else:
    np = LazyModule("numpy")

_NAMES = [column.name for column in CURVE_COLUMNS]


def _curves(table: ArchTable, column: str) -> Array:
    """Return one figure of all curves: (architectures, seeds, epochs)."""
    if column not in _NAMES:
        raise UnknownNameError(f"unknown figure {column!r}; allowed: {', '.join(_NAMES)}")
    index = _NAMES.index(column)
    seeds = table.curves.seeds
    return np.array(
        [[table.curves.curve(number, seed)[:, index] for seed in seeds] for number in table]
    )


def early_rank_correlation(
    table: ArchTable, column: str = "valid_perf", by: str = "valid_perf"
) -> Floats:
    """Return, epoch by epoch, how well a curve's figure ranks architectures as the end does.

    Args:
        table: A table with curves.
        column: The figure of the curves, averaged over the seeds.
        by: The column of the table that it is compared with.

    Returns:
        Spearman's correlation after each epoch, architectures without a figure left out.
    """
    figures = _curves(table, column).mean(axis=1)
    final = table.column(by)
    kept = ~(np.isnan(figures).any(axis=1) | np.isnan(final))
    goal = ranks(final[kept])
    return np.array([correlation(ranks(epoch), goal) for epoch in figures[kept].T])


def seed_noise(table: ArchTable, column: str = "valid_perf") -> Floats:
    """Return, epoch by epoch, the standard deviation over seeds, averaged (root mean square).

    An architecture counts in the epochs that at least two of its seeds have; NaN where none does.
    """
    figures = _curves(table, column)
    seeds = (~np.isnan(figures)).sum(axis=1)
    means = np.nansum(figures, axis=1) / np.maximum(seeds, 1)
    squares = np.nansum((figures - means[:, None]) ** 2, axis=1) / np.maximum(seeds - 1, 1)
    counted = (seeds > 1).sum(axis=0)
    total = np.where(seeds > 1, squares, 0.0).sum(axis=0)
    noise: Floats = np.where(counted > 0, np.sqrt(total / np.maximum(counted, 1)), np.nan)
    return noise
