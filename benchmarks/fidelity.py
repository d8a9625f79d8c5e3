"""How well the builder's figures agree with the published ones.

    python benchmarks/fidelity.py --dataset cora --sample 150 --seeds 3
    python benchmarks/fidelity.py --dataset cora --table BUILT_TABLE

The first form trains a seeded uniform sample; the second reads a table that was built. Reported
for valid_perf and perf: bias (ours minus published), mean absolute and median error, Spearman and
Kendall correlation. Two ceilings say what could be hoped for: how well two of our own seeds rank
alike, and how far apart two independent means over as many seeds would be by chance alone.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import kendalltau, spearmanr

from benchquery import SPACES, ArchTable, lightread

FIGURES = ("valid_perf", "perf")


@dataclass(frozen=True)
class Fidelity:
    """Agreement of one figure with the published one.

    Attributes:
        count: Architectures compared.
        left_out: Architectures without a figure of ours.
        bias: Mean of ours minus published.
        mae: Mean absolute error.
        median_error: Median absolute error.
        spearman: Rank correlation of our means with the published ones.
        kendall: The same by Kendall's tau-b.
        seed_spearman: Rank correlation of two of our seeds, averaged over the pairs.
        seed_kendall: The same by Kendall's tau-b.
        chance_mae: Mean absolute difference expected of two independent means of ours.
    """

    count: int
    left_out: int
    bias: float
    mae: float
    median_error: float
    spearman: float
    kendall: float
    seed_spearman: float
    seed_kendall: float
    chance_mae: float


def fidelity(per_seed: np.ndarray, published: np.ndarray) -> Fidelity:
    """Compares the results of several seeds with published means.

    Args:
        per_seed: (architectures, seeds), NaN where a seed has no figure.
        published: One figure per architecture.
    """
    has_figure = ~np.isnan(per_seed).all(axis=1)
    ours, theirs = per_seed[has_figure], published[has_figure]
    means = np.nanmean(ours, axis=1)
    error = means - theirs
    pairs = list(itertools.combinations(range(ours.shape[1]), 2))
    return Fidelity(
        count=len(ours),
        left_out=int((~has_figure).sum()),
        bias=float(error.mean()),
        mae=float(np.abs(error).mean()),
        median_error=float(np.median(np.abs(error))),
        spearman=_rank_correlation(spearmanr, means, theirs),
        kendall=_rank_correlation(kendalltau, means, theirs),
        seed_spearman=_over_pairs(spearmanr, ours, pairs),
        seed_kendall=_over_pairs(kendalltau, ours, pairs),
        chance_mae=_chance_mae(ours, pairs),
    )


def _rank_correlation(measure, one: np.ndarray, other: np.ndarray) -> float:  # type: ignore[no-untyped-def]
    both = ~(np.isnan(one) | np.isnan(other))
    return float(measure(one[both], other[both]).statistic)


def _over_pairs(measure, ours: np.ndarray, pairs: Sequence[tuple[int, int]]) -> float:  # type: ignore[no-untyped-def]
    if not pairs:
        return float("nan")
    return float(np.mean([_rank_correlation(measure, ours[:, i], ours[:, j]) for i, j in pairs]))


def _chance_mae(ours: np.ndarray, pairs: Sequence[tuple[int, int]]) -> float:
    """A mean of k seeds varies sqrt(k) times less than a seed, and so do differences of two."""
    if not pairs:
        return float("nan")
    between_seeds = np.nanmean([np.abs(ours[:, i] - ours[:, j]) for i, j in pairs])
    return float(between_seeds / np.sqrt(ours.shape[1]))


def read_built(table: ArchTable) -> tuple[list[int], dict[str, np.ndarray]]:
    """Per-seed figures of a built table, by architecture."""
    per_seed = {
        figure: np.stack(
            [table.column(c) for c in table.columns if c.startswith(f"{figure}_seed")], axis=1
        )
        for figure in FIGURES
    }
    return [int(number) for number in table.hashes], per_seed


def train_sample(
    dataset: str, sample: int, sample_seed: int, seeds: int, data_root: str | None
) -> tuple[list[int], dict[str, np.ndarray]]:
    """Trains a uniform sample that both the space and the published table hold."""
    from tqdm import tqdm

    from benchbuild.datasets import load
    from benchbuild.hyperparameters import hyperparameters_for
    from benchbuild.training import train

    archs = SPACES["proteins" if dataset == "proteins" else "full"].sample(sample, seed=sample_seed)
    graph, hp = load(dataset, data_root), hyperparameters_for(dataset)
    jobs = list(itertools.product(archs, range(seeds)))
    results = [train(arch, graph, hp, seed) for arch, seed in tqdm(jobs, unit="job")]
    unwell = [result for result in results if not result.ok]
    for result in unwell:
        print(f"{result.hash} seed {result.seed}: {result.status}, {result.reason}")
    per_seed = {
        figure: np.array([getattr(result, figure) for result in results]).reshape(-1, seeds)
        for figure in FIGURES
    }
    return [arch.valid_hash() for arch in archs], per_seed


def report(dataset: str, hashes: Sequence[int], per_seed: dict[str, np.ndarray]) -> None:
    """Prints the agreement of every figure."""
    published = lightread(dataset)
    for figure in FIGURES:
        theirs = np.array([published[number][figure] for number in hashes])
        found = fidelity(per_seed[figure], theirs)
        print(
            f"{dataset} {figure}: {found.count} architectures, {per_seed[figure].shape[1]} seeds, "
            f"{found.left_out} left out\n"
            f"  bias {found.bias:+.4f}  mean error {found.mae:.4f}  median {found.median_error:.4f}"
            f"  (by chance {found.chance_mae:.4f})\n"
            f"  Spearman {found.spearman:.3f}  Kendall {found.kendall:.3f}"
            f"  (two of our seeds: {found.seed_spearman:.3f}, {found.seed_kendall:.3f})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--table", help="a built table to read instead of training")
    parser.add_argument("--sample", type=int, default=150, help="architectures, drawn uniformly")
    parser.add_argument("--sample-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data-root")
    options = parser.parse_args()
    if options.table:
        hashes, per_seed = read_built(lightread(options.dataset, source=options.table))
    else:
        hashes, per_seed = train_sample(
            options.dataset,
            options.sample,
            options.sample_seed,
            options.seeds,
            options.data_root,
        )
    report(options.dataset, hashes, per_seed)


if __name__ == "__main__":
    main()
