"""What learning curves tell: how early the ranking settles, how much seeds differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import has_figures, too_few
from benchquery.analysis.statistics import rank_correlation
from benchquery.errors import QueryError, UnknownNameError
from benchquery.kinds.architectures.table import ArchTable
from benchquery.table.schema import CURVE_COLUMNS

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Floats, Mask
else:
    np = LazyModule("numpy")

_NAMES = [column.name for column in CURVE_COLUMNS]


def _curves(table: ArchTable, column: str) -> Array:
    """Return one figure of all curves: (architectures, seeds, epochs)."""
    if column not in _NAMES:
        raise UnknownNameError(f"unknown figure {column!r}; allowed: {', '.join(_NAMES)}")
    index = _NAMES.index(column)
    seeds, epochs = table.curves.seeds, table.curves.epochs
    figures: Array = np.array(
        [[table.curves.curve(number, seed)[:, index] for seed in seeds] for number in table]
    )
    return figures.reshape(len(table), len(seeds), epochs)


def early_rank_correlation(
    table: ArchTable, column: str = "valid_perf", by: str = "valid_perf"
) -> Floats:
    """Return, epoch by epoch, how well a curve's figure ranks architectures as the end does.

    Args:
        table: A table with curves.
        column: The figure of the curves, averaged over the seeds.
        by: The column of the table that it is compared with.

    Returns:
        Spearman's correlation after each epoch; NaN where a side does not vary. What is left
        out, `curves_left_out` says.

    Raises:
        QueryError: If the table has no curves, or fewer than two architectures are left.
        UnknownNameError: If there is no such figure or column.
    """
    figures = _curves(table, column)
    kept = _complete(figures) & has_figures(table, by)
    if kept.sum() < 2:
        what = f"architectures of the table {table.name!r} with whole curves of {column!r}"
        raise too_few(int(kept.sum()), len(kept), what, (by,), 2)
    means, final = figures[kept].mean(axis=1), table.column(by)[kept]
    return np.array([rank_correlation(epoch, final) for epoch in means.T])


def curves_left_out(table: ArchTable, column: str = "valid_perf", by: str = "valid_perf") -> int:
    """Return how many architectures `early_rank_correlation` leaves out.

    These are the ones that lack the final figure, or a figure of one seed in one epoch.

    Raises:
        QueryError: If the table has no curves.
        UnknownNameError: If there is no such figure or column.
    """
    return int((~(_complete(_curves(table, column)) & has_figures(table, by))).sum())


def _complete(figures: Array) -> Mask:
    """Return of every architecture whether all its seeds have a figure of every epoch."""
    return np.asarray(~np.isnan(figures).any(axis=(1, 2)))


def seed_noise(table: ArchTable, column: str = "valid_perf") -> Floats:
    """Return, epoch by epoch, the standard deviation over seeds, averaged (root mean square).

    An architecture counts in the epochs that at least two of its seeds have; NaN where none does.

    Raises:
        QueryError: If the table has no curves, or none of them has a figure.
        UnknownNameError: If there is no such figure.
    """
    figures = _curves(table, column)
    if np.isnan(figures).all():
        raise QueryError(
            f"no curve of the {len(table):,} architectures of the table {table.name!r} has a "
            f"figure of {column!r}"
        )
    seeds = (~np.isnan(figures)).sum(axis=1)
    means = np.nansum(figures, axis=1) / np.maximum(seeds, 1)
    squares = np.nansum((figures - means[:, None]) ** 2, axis=1) / np.maximum(seeds - 1, 1)
    counted = (seeds > 1).sum(axis=0)
    total = np.where(seeds > 1, squares, 0.0).sum(axis=0)
    noise: Floats = np.where(counted > 0, np.sqrt(total / np.maximum(counted, 1)), np.nan)
    return noise
