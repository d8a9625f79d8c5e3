r"""How well a table that was built agrees with the published one, and what could be hoped for.

The difference of two means of k seeds is the mean of k differences of two seeds. So how far apart
two independent means are by chance is found by drawing k differences of our own seeds, again and
again: a training that fails now and then makes long tails, for which no factor of a normal
distribution holds. Three seeds of one architecture are few, so the differences are drawn from it
and its neighbours by median figure, ten in all.

With r the rank correlation of two single seeds, two independent means of k seeds agree by

.. math::
    \frac{k r}{1 + (k - 1) r}

(Spearman and Brown). That is the ceiling: an exact copy of the recipe would reach it.

Intervals are percentiles over architectures that are drawn anew with replacement (bootstrap).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.statistics import kendall, rank_correlation
from benchquery.errors import QueryError
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")

FIGURES = ("valid_perf", "perf")
"""What is compared with the paper."""

_NEIGHBOURS = 10
_DRAWS = 200_000
_FEWEST = 200
_RESAMPLES = 1_000


@dataclass(frozen=True)
class Fidelity:
    """Agreement of one figure with the published one.

    What could be hoped for is said too: how far apart two independent means over as many seeds
    would be by chance alone, and how alike they would rank. Both are NaN where no two seeds have
    figures of the same two architectures. Correlations are NaN where a side does not vary.
    Intervals are of 95%.

    Attributes:
        archs: Architectures compared.
        left_out: Architectures without a figure of ours, or without a published one.
        seeds: Seeds an architecture.
        bias: Mean of ours minus published.
        mean_error: Mean absolute error.
        mean_error_low: The lower end of its interval.
        mean_error_high: The upper end.
        median_error: Median absolute error.
        chance_error: Mean absolute difference expected of two independent means of ours.
        spearman: Rank correlation of our means with the published ones.
        spearman_low: The lower end of its interval.
        spearman_high: The upper end.
        spearman_ceiling: The one expected of two independent means of ours.
        kendall: The same by Kendall's tau-b.
        seed_spearman: Rank correlation of two of our seeds, averaged over the pairs.
        seed_kendall: The same by Kendall's tau-b.
    """

    archs: int
    left_out: int
    seeds: int
    bias: float
    mean_error: float
    mean_error_low: float
    mean_error_high: float
    median_error: float
    chance_error: float
    spearman: float
    spearman_low: float
    spearman_high: float
    spearman_ceiling: float
    kendall: float
    seed_spearman: float
    seed_kendall: float


def fidelity(built: ArchTable, reference: ArchTable, by: str = "perf") -> Fidelity:
    """Compare a built table with a reference, architecture by architecture.

    Args:
        built: A table with figures of single seeds.
        reference: A table with the same architectures, and perhaps more.
        by: The figure to compare.

    Raises:
        QueryError: If the built table has no figures of single seeds, or fewer than two
            architectures with a figure in both tables.
        UnknownHashError: If the reference lacks an architecture.
    """
    return compare_seeds(seed_figures(built, by), reference.lookup(built.hashes, by))


def largest_errors(
    built: ArchTable, reference: ArchTable, by: str = "perf", count: int = 5
) -> list[dict[str, Any]]:
    """Return the architectures whose figures differ most, the worst first.

    Args:
        built: A table with figures of single seeds.
        reference: A table with the same architectures, and perhaps more.
        by: The figure to compare.
        count: How many; those without a figure of ours are none of them.

    Raises:
        QueryError: If the count is below 1, or the built table has no figures of single seeds.
        UnknownHashError: If the reference lacks an architecture.
    """
    if count < 1:
        raise QueryError(f"the number of architectures to list must be at least 1, not {count}")
    published, ours = reference.lookup(built.hashes, by), built.column(by)
    seeds, errors = seed_figures(built, by), ours - published
    worst_first = np.argsort(-np.abs(errors), kind="stable")
    archs = built.archs()
    return [
        {
            "hash": int(built.hashes[row]),
            "link": list(archs[row].link),
            "ops": list(archs[row].ops),
            "published": float(published[row]),
            "ours": float(ours[row]),
            "error": float(errors[row]),
            "seeds": seeds[row].tolist(),
        }
        for row in worst_first[:count]
        if not np.isnan(errors[row])
    ]


@dataclass(frozen=True)
class WiringFidelity:
    """Agreement of the architectures of one wiring, on average.

    Attributes:
        link: The wiring; empty for all architectures together.
        archs: Architectures with a figure of ours and a published one.
        ours: Mean of ours.
        published: Mean of the published ones.
        difference: Ours minus published.
        standard_error: Of the difference, by how much it varies over the architectures; NaN of
            one alone.
    """

    link: tuple[int, ...]
    archs: int
    ours: float
    published: float
    difference: float
    standard_error: float


def by_wiring(built: ArchTable, reference: ArchTable, by: str = "perf") -> list[WiringFidelity]:
    """Compare means of a built table with those of a reference, wiring by wiring, all of them last.

    Means over many architectures compare what is chance for one: how often training fails.

    Args:
        built: A table.
        reference: A table with the same architectures, and perhaps more.
        by: The figure to compare.

    Raises:
        UnknownHashError: If the reference lacks an architecture.
    """
    ours, published = built.column(by), reference.lookup(built.hashes, by)
    known = np.flatnonzero(~(np.isnan(ours) | np.isnan(published)))
    archs = built.archs()
    rows: dict[tuple[int, ...], list[int]] = {}
    for row in known:
        rows.setdefault(tuple(archs[row].link), []).append(int(row))
    return [
        _compare_means(link, ours[np.array(which, int)], published[np.array(which, int)])
        for link, which in (*sorted(rows.items()), ((), known.tolist()))
    ]


def _compare_means(link: tuple[int, ...], ours: Floats, published: Floats) -> WiringFidelity:
    differences = ours - published
    count = len(differences)
    return WiringFidelity(
        link=link,
        archs=count,
        ours=float(ours.mean()) if count else float("nan"),
        published=float(published.mean()) if count else float("nan"),
        difference=float(differences.mean()) if count else float("nan"),
        standard_error=float(differences.std(ddof=1) / count**0.5) if count > 1 else float("nan"),
    )


def seed_figures(table: ArchTable, by: str) -> Floats:
    """Return the figures of every seed: (architectures, seeds), NaN where a seed has none.

    Raises:
        QueryError: If the table has none: published tables hold means alone.
    """
    columns = [name for name in table.columns if name.startswith(f"{by}_seed")]
    if not columns:
        raise QueryError(
            f"the table of {table.name!r} ({table.manifest.origin}) has no figures of single "
            f"seeds, such as {by}_seed0; tables that benchbuild merged have them"
        )
    return np.stack([table.column(name) for name in columns], axis=1)


def compare_seeds(per_seed: Floats, reference: Floats) -> Fidelity:
    """Compare the figures of several seeds with means of others.

    Args:
        per_seed: (architectures, seeds), NaN where a seed has no figure.
        reference: One figure an architecture, NaN where there is none.

    Raises:
        QueryError: If fewer than two architectures have a figure on both sides.
    """
    known = ~(np.isnan(per_seed).all(axis=1) | np.isnan(reference))
    if known.sum() < 2:
        raise QueryError(
            f"{known.sum()} of {len(per_seed)} architectures have a figure; at least 2 are needed"
        )
    ours, theirs = per_seed[known], reference[known]
    means = np.nanmean(ours, axis=1)
    errors = means - theirs
    error_ends = _bootstrap(lambda rows: float(np.abs(errors[rows]).mean()), len(errors))
    rank_ends = _bootstrap(lambda rows: rank_correlation(means[rows], theirs[rows]), len(errors))
    return Fidelity(
        archs=len(ours),
        left_out=int((~known).sum()),
        seeds=ours.shape[1],
        bias=float(errors.mean()),
        mean_error=float(np.abs(errors).mean()),
        mean_error_low=error_ends[0],
        mean_error_high=error_ends[1],
        median_error=float(np.median(np.abs(errors))),
        chance_error=_chance_error(ours),
        spearman=rank_correlation(means, theirs),
        spearman_low=rank_ends[0],
        spearman_high=rank_ends[1],
        spearman_ceiling=rank_ceiling(ours),
        kendall=kendall(means, theirs),
        seed_spearman=_between_seeds(rank_correlation, ours),
        seed_kendall=_between_seeds(kendall, ours),
    )


def spearman_brown(between: float, count: int) -> float:
    """Return how well means of some seeds agree, given how well two single seeds do.

    Example:
        >>> round(spearman_brown(0.5, 3), 2)
        0.75
    """
    return count * between / (1 + (count - 1) * between)


def rank_ceiling(seeds: Floats) -> float:
    """Return the rank correlation to expect of two independent means of as many seeds.

    Args:
        seeds: Figures, (architectures, seeds); NaN for those that failed.
    """
    return spearman_brown(_between_seeds(rank_correlation, seeds), seeds.shape[1])


def _between_seeds(measure: Callable[[Floats, Floats], float], ours: Floats) -> float:
    """Return a measure of two seeds, averaged over the pairs; NaN if there are none.

    A pair counts where two architectures have a figure of both seeds.
    """
    found = []
    for one, other in itertools.combinations(ours.T, 2):
        both = ~(np.isnan(one) | np.isnan(other))
        if both.sum() > 1:
            found.append(measure(one[both], other[both]))
    return float(np.mean(found)) if found else float("nan")


def _chance_error(ours: Floats) -> float:
    """Return how far apart two independent means of as many seeds are, by drawing differences."""
    count = ours.shape[1]
    pairs = list(itertools.permutations(range(count), 2))
    several = ours[(~np.isnan(ours)).sum(axis=1) > 1]
    if not pairs or not len(several):
        return float("nan")
    differences = np.stack([several[:, a] - several[:, b] for a, b in pairs], axis=1)
    in_order = differences[np.argsort(np.nanmedian(several, axis=1), kind="stable")]
    groups = np.array_split(in_order, max(1, len(in_order) // _NEIGHBOURS))
    rng = np.random.default_rng(0)
    sizes = [len(group) for group in groups]
    found = []
    for group in groups:
        known = group[~np.isnan(group)]
        drawn = rng.choice(known, (max(_FEWEST, _DRAWS // len(groups)), count))
        found.append(float(np.abs(drawn.mean(axis=1)).mean()))
    return float(np.average(found, weights=sizes))


def _bootstrap(measure: Callable[[Ints], float], size: int) -> tuple[float, float]:
    """Return the 95% interval of a measure of some architectures, given which are drawn."""
    rng = np.random.default_rng(0)
    found = np.array([measure(rng.integers(0, size, size)) for _ in range(_RESAMPLES)])
    if np.isnan(found).all():
        return float("nan"), float("nan")
    low, high = np.nanquantile(found, [0.025, 0.975])
    return float(low), float(high)
