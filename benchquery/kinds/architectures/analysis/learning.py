"""What learning curves tell: how early the ranking settles, how much seeds differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
_DIGITS = 6
_SHOWN = (1, 5, 10, 20, 50, 100, 200, 500, 1_000)
"""The epochs that a summary has a row of, as far as curves go."""


@dataclass(frozen=True, eq=False)
class Settling:
    """How early a ranking settles: four rank correlations, epoch by epoch, with figures of the end.

    Attributes:
        archs: How many architectures were compared, but in `current`.
        left_out: How many lack the final figure, or a seed without any figure.
        whole: How many of them have whole curves, so that they are in `current`.
        current: Of the figure of an epoch, mean over the seeds, with the final figure.
        best_so_far: Of the best figure so far. A search that stops a training knows this one.
        one_seed: Of the best so far of one seed with the end of the other seeds, averaged over the
            seeds: what one training tells of the next. NaN with one seed.
        among_best: Of the best so far, among the best share by the final figure, ties included:
            there a ranking decides something.
        share: That share.
        best: How many architectures are in it.
    """

    archs: int
    left_out: int
    whole: int
    current: Floats
    best_so_far: Floats
    one_seed: Floats
    among_best: Floats
    share: float
    best: int

    @property
    def note(self) -> str:
        """How many architectures the rows are about."""
        return (
            f"{self.archs:,} architectures, {self.whole:,} of them with whole curves (current), "
            f"{self.best:,} among the best {self.share:.0%}; {self.left_out:,} left out"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for some epochs, the last one included."""
        last = len(self.current)
        names = ("current", "best_so_far", "one_seed", "among_best")
        return [
            {"epoch": epoch, **{name: float(getattr(self, name)[epoch - 1]) for name in names}}
            for epoch in (*(epoch for epoch in _SHOWN if epoch < last), last)
        ]


def _curves(table: ArchTable, column: str) -> Array:
    """Return one figure of all curves: (architectures, seeds, epochs).

    Curves are stored with seven digits; further ones are noise that would break ties.
    """
    if column not in _NAMES:
        raise UnknownNameError(f"unknown figure {column!r}; allowed: {', '.join(_NAMES)}")
    index = _NAMES.index(column)
    seeds, epochs = table.curves.seeds, table.curves.epochs
    figures: Array = np.array(
        [[table.curves.curve(number, seed)[:, index] for seed in seeds] for number in table],
        dtype=float,
    )
    return figures.reshape(len(table), len(seeds), epochs).round(_DIGITS)


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
    return _by_epoch(means, final)


def settling(
    table: ArchTable, column: str = "valid_perf", by: str = "valid_perf", share: float = 0.25
) -> Settling:
    """Return how early the ranking of a table settles, for all architectures and for the best.

    An epoch without a figure is no gain to the best so far, so a training that diverged keeps what
    it had; `current` needs whole curves.

    Args:
        table: A table with curves.
        column: The figure of the curves; more is better.
        by: The column of the table that it is compared with.
        share: Which share of the architectures counts as best.

    Raises:
        QueryError: If the table has no curves, fewer than two architectures are left, or the share
            is not in (0, 1].
        UnknownNameError: If there is no such figure or column.
    """
    if not 0 < share <= 1:
        raise QueryError(f"the share of the best must be above 0 and at most 1, not {share}")
    figures = _curves(table, column)
    reached = np.fmax.accumulate(figures, axis=2)
    kept = has_figures(table, by) & ~np.isnan(reached[:, :, -1]).any(axis=1)
    if kept.sum() < 2:
        what = f"architectures of the table {table.name!r} with curves of {column!r}"
        raise too_few(int(kept.sum()), len(kept), what, (by,), 2)
    figures, reached, final = figures[kept], reached[kept], table.column(by)[kept]
    whole = _complete(figures)
    means = reached.mean(axis=1)
    best = final >= np.quantile(final, 1 - share)
    return Settling(
        archs=len(final),
        left_out=int((~kept).sum()),
        whole=int(whole.sum()),
        current=_by_epoch(figures[whole].mean(axis=1), final[whole]),
        best_so_far=_by_epoch(means, final),
        one_seed=_one_seed(reached),
        among_best=_by_epoch(means[best], final[best]),
        share=share,
        best=int(best.sum()),
    )


def _by_epoch(figures: Array, final: Array) -> Floats:
    """Return the rank correlation of each epoch's figures with the final ones."""
    return np.array([rank_correlation(epoch, final) for epoch in figures.T])


def _one_seed(reached: Array) -> Floats:
    """Return how the best so far of one seed ranks as the end of the others does."""
    seeds = reached.shape[1]
    if seeds < 2:
        return np.full(reached.shape[2], np.nan)
    ends = reached[:, :, -1]
    found = [
        _by_epoch(reached[:, seed], np.delete(ends, seed, axis=1).mean(axis=1))
        for seed in range(seeds)
    ]
    return np.asarray(np.mean(found, axis=0))


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
