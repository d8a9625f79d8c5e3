r"""What noise does to a ranking, from how much the seeds of a table differ.

A figure :math:`x_i` is a mean over seeds: the true one :math:`\mu_i` plus an error of standard
deviation :math:`\sigma`. How the true ones are spread, :math:`g`, is estimated from all figures at
once, without assuming a shape (towards the maximum likelihood of Kiefer and Wolfowitz, by 300 steps
of expectation-maximisation on a grid: further steps would make single spikes of it). Then

.. math::
    E[\mu_i \mid x_i] = \frac{\sum_\mu \mu\, g(\mu)\, \varphi((x_i - \mu)/\sigma)}
                          {\sum_\mu g(\mu)\, \varphi((x_i - \mu)/\sigma)}

is what to expect of an architecture that is run again: less than it had, if it was chosen for being
the best (the winner's curse).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.analysis.statistics import normal_quantile, top_rows
from benchquery.errors import QueryError, TableNotFoundError
from benchquery.kinds.architectures.analysis.agreement import goodness
from benchquery.kinds.architectures.analysis.fidelity import rank_ceiling, seed_figures
from benchquery.kinds.architectures.arch import Arch
from benchquery.kinds.architectures.reading import lightread
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Floats, Ints
else:
    np = LazyModule("numpy")

_TOP = 0.1
_GRID, _STEPS, _DRAWS = 400, 300, 20


@dataclass(frozen=True, eq=False)
class SeedNoise:
    """How large the noise of a table's figures is, from the seeds of repeated architectures.

    Attributes:
        hashes: The architectures with several seeds.
        errors: Of each, the standard error of its mean.
        top_error: Its root mean square over those that are in the best tenth of the table.
        ceiling: The rank correlation to expect of two means of as many seeds.
    """

    hashes: Ints
    errors: Floats
    top_error: float
    ceiling: float

    @property
    def margin(self) -> float:
        """How far below another a figure must be for a test at 5% to tell the two apart."""
        return normal_quantile(0.9) * math.sqrt(2) * self.top_error


@dataclass(frozen=True, eq=False)
class Noise:
    """How far a table's ranking can be trusted.

    Attributes:
        by: The figure.
        archs: How many architectures there are.
        left_out: How many have no figure.
        repeated: How many architectures with several seeds the noise was measured on.
        error: The standard error of a mean over seeds, root mean square over all of them.
        top_error: The same over those that are in the best tenth of the table, where a ranking
            matters; used for what follows.
        top_spread: The standard deviation between the best tenth of the table.
        hashes: The architectures.
        values: Of each, the figure; of costs its opposite, so that more is better.
        shrunk: Of each, the figure to expect if it is run again.
        shrunk_low: The lower end of the 95% interval of that.
        shrunk_high: Its upper end.
        best: The best figure of the table.
        again: What to expect of it if it is run again.
        again_low: The lower end of the 95% interval of that.
        again_high: Its upper end.
        indistinct: The architectures that can't be told from the best, at a level of 5%.
        margin: How far below the best these reach.
        share: Which share of the architectures counts as top.
        top_overlap: The overlap of that top with itself after one standard error of noise. No two
            tables of as many seeds can be expected to overlap more.
        spearman: The rank correlation to expect of two tables of as many seeds, from how alike two
            seeds rank the repeated architectures (Spearman and Brown).
    """

    by: str
    archs: int
    left_out: int
    repeated: int
    error: float
    top_error: float
    top_spread: float
    hashes: Ints
    values: Floats
    shrunk: Floats
    shrunk_low: Floats
    shrunk_high: Floats
    best: float
    again: float
    again_low: float
    again_high: float
    indistinct: Ints
    margin: float
    share: float
    top_overlap: float
    spearman: float

    @property
    def curse(self) -> float:
        """The winner's curse: the part of every regret that is due to the luck of the best."""
        return self.best - self.again

    def regret(self, figure: float) -> float:
        """Return how far a figure is below the set that can't be told from the best; 0 within."""
        return max(0.0, self.best - self.margin - figure)

    @property
    def note(self) -> str:
        """What the rows are about."""
        return (
            f"{self.archs:,} architectures by {self.by}, {self.left_out:,} left out; noise of "
            f"{self.repeated:,} that were repeated"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each number."""
        names = (
            "error", "top_error", "top_spread", "best", "again", "again_low", "again_high", "curse",
            "margin",
        )  # fmt: skip
        figures = {name: float(getattr(self, name)) for name in names}
        figures["indistinct from the best"] = float(len(self.indistinct))
        figures[f"overlap of the top {self.share:.0%} with itself"] = self.top_overlap
        figures["spearman of two such tables"] = self.spearman
        return [{"": name, "value": value} for name, value in figures.items()]


@dataclass(frozen=True, eq=False)
class Indistinct:
    """The architectures of a table that can't be told from its best.

    Attributes:
        noise: The noise that they are within.
    """

    noise: Noise

    @property
    def left_out(self) -> int:
        """How many architectures have no figure."""
        return self.noise.left_out

    @property
    def note(self) -> str:
        """What the rows are about."""
        found = self.noise
        return (
            f"{len(found.indistinct):,} of {found.archs:,} by {found.by} are within "
            f"{found.margin:.4f} of the best; again: what to expect of a second run"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each, the best first."""
        found = self.noise
        place = {int(number): row for row, number in enumerate(found.hashes)}
        named = [(int(number), place[int(number)]) for number in found.indistinct]
        return [
            {
                "hash": number,
                "link": list(Arch.from_hash(number).link),
                "ops": list(Arch.from_hash(number).ops),
                found.by: float(found.values[row]),
                "error": found.top_error,
                "again": float(found.shrunk[row]),
                "again_low": float(found.shrunk_low[row]),
                "again_high": float(found.shrunk_high[row]),
            }
            for number, row in named
        ]


def indistinct(table: ArchTable, repeated: ArchTable | None = None, by: str = "perf") -> Indistinct:
    """Return the architectures that can't be told from the best, with what to expect of each.

    Args:
        table: The table.
        repeated: A table with figures of single seeds, as `noise` takes it.
        by: The figure, of which more is better.

    Raises:
        QueryError: As `noise` does.
        TableNotFoundError: If there is no table with figures of single seeds.
    """
    return Indistinct(noise(table, repeated, by))


def seed_errors(table: ArchTable, repeated: ArchTable | None = None, by: str = "perf") -> SeedNoise:
    """Return how large the noise of a table's figures is.

    Args:
        table: The table.
        repeated: A table with figures of single seeds, as `noise` takes it.
        by: The figure, of which more is better.

    Raises:
        QueryError: If fewer than two architectures have figures of two seeds, or the table has
            fewer than two figures.
        TableNotFoundError: If there is no table with figures of single seeds.
    """
    known = known_part(table, by, least=2)
    values = goodness(known.column(by), by)
    if repeated is None:
        seeded = f"{by}_seed0" in table.columns
        repeated = table if seeded else lightread(f"{table.dataset}-built")
    hashes, errors = _standard_errors(repeated, by)
    best_tenth = known.hashes[values >= np.quantile(values, 1 - _TOP)]
    top_error = _root_mean_square(errors[np.isin(hashes, best_tenth)])
    if not top_error > 0:
        raise QueryError(
            f"no architecture of the table {repeated.name!r} in the best tenth of {table.name!r} "
            f"has a figure of seeds that differ in {by!r}"
        )
    return SeedNoise(hashes, errors, top_error, rank_ceiling(seed_figures(repeated, by)))


def known_seed_errors(table: ArchTable, by: str = "perf") -> SeedNoise | None:
    """Return how large the noise of a table's figures is; None where no seeds say it."""
    try:
        return seed_errors(table, None, by)
    except (QueryError, TableNotFoundError):
        return None


def best_again(table: ArchTable, by: str = "perf") -> tuple[float, float] | None:
    """Return the best figure of a table, and what to expect of it if it is run again.

    What it is less is the winner's curse: a part of every regret is due to the luck of the best.

    Args:
        table: The table.
        by: The figure, of which more is better.

    Returns:
        Both; None where no seeds say how large noise is.
    """
    measured = known_seed_errors(table, by)
    if measured is None:
        return None
    values: Floats = np.asarray(goodness(known_part(table, by).column(by), by))
    best = int(np.argmax(values))
    return float(values[best]), float(expected_again(values, measured.top_error)[0][best])


def noise(
    table: ArchTable,
    repeated: ArchTable | None = None,
    by: str = "perf",
    share: float = 0.05,
) -> Noise:
    """Return how far the ranking of a table can be trusted.

    Args:
        table: The table.
        repeated: A table of the same dataset with figures of single seeds, as many as the means of
            `table` are of; None for the table itself if it has them, or else for the one that was
            built of its dataset and comes with GraphTab.
        by: The figure, of which more is better.
        share: Which share of the architectures counts as top.

    Raises:
        QueryError: If fewer than two architectures have figures of two seeds, the table has fewer
            than two figures, or the share is not in (0, 1].
        TableNotFoundError: If there is no such table.
    """
    known = known_part(table, by, least=2)
    values: Floats = np.asarray(goodness(known.column(by), by))
    measured = seed_errors(table, repeated, by)
    top_error = measured.top_error
    shrunk, low, high = expected_again(values, top_error)
    best, best_first = int(np.argmax(values)), np.argsort(-values, kind="stable")
    margin = measured.margin
    return Noise(
        by=by,
        archs=len(known),
        left_out=len(table) - len(known),
        repeated=len(measured.hashes),
        error=_root_mean_square(measured.errors),
        top_error=top_error,
        top_spread=float(values[top_rows(values, _TOP)].std()),
        hashes=known.hashes,
        values=values,
        shrunk=shrunk,
        shrunk_low=low,
        shrunk_high=high,
        best=float(values[best]),
        again=float(shrunk[best]),
        again_low=float(low[best]),
        again_high=float(high[best]),
        indistinct=known.hashes[best_first[: int((values >= values[best] - margin).sum())]],
        margin=margin,
        share=share,
        top_overlap=_overlap_with_noise(values, top_error, share),
        spearman=measured.ceiling,
    )


def _standard_errors(table: ArchTable, by: str) -> tuple[Ints, Floats]:
    """Return the architectures that have figures of two seeds, with their standard errors."""
    seeds = seed_figures(table, by)
    counts = (~np.isnan(seeds)).sum(axis=1)
    several = seeds[counts > 1]
    if len(several) < 2:
        raise QueryError(
            f"{len(several)} architectures of the table {table.name!r} have a figure of two seeds "
            f"in {by!r}; at least 2 are needed"
        )
    errors = np.nanstd(several, axis=1, ddof=1) / np.sqrt(counts[counts > 1])
    return table.hashes[counts > 1], errors


def _root_mean_square(values: Floats) -> float:
    """Return the root of the mean square; NaN of none."""
    return float(np.sqrt((values**2).mean())) if len(values) else math.nan


def expected_again(values: Floats, error: float) -> tuple[Floats, Floats, Floats]:
    """Return the figures to expect of a second run, with the ends of their 95% intervals.

    Args:
        values: The figures of the first run.
        error: Their standard error.
    """
    grid = np.linspace(values.min(), values.max(), _GRID)
    seen, place, counts = np.unique(
        np.searchsorted(grid, values), return_inverse=True, return_counts=True
    )
    likely = np.exp(-(((grid[seen][:, None] - grid) / error) ** 2) / 2)
    spread = np.full(_GRID, 1 / _GRID)
    for _ in range(_STEPS):
        spread *= (counts / (likely @ spread)) @ likely / counts.sum()
    weights = likely * spread
    weights /= weights.sum(axis=1, keepdims=True)
    reached = weights.cumsum(axis=1)
    low, high = (grid[(reached < q).sum(axis=1).clip(max=_GRID - 1)] for q in (0.025, 0.975))
    return (weights @ grid)[place], low[place], high[place]


def _overlap_with_noise(values: Array, error: float, share: float) -> float:
    """Return the overlap of the top with itself after more noise."""
    rng = np.random.default_rng(0)
    top = top_rows(values, share)
    found = []
    for _ in range(_DRAWS):
        again = values + error * rng.standard_normal(len(values))
        found.append(len(np.intersect1d(top, top_rows(again, share))) / len(top))
    return float(np.mean(found))
