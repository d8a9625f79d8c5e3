"""The comparison with published figures: on figures whose agreement is known beforehand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchquery import Arch, lightread
from benchquery.errors import QueryError
from benchquery.kinds.architectures.analysis.fidelity import (
    by_wiring,
    compare_seeds,
    fidelity,
    largest_errors,
)
from benchquery.kinds.architectures.arch import LINKS
from tests.benchquery.conftest import HASHES


def test_known_errors() -> None:
    published = np.array([0.5, 0.6, 0.7, 0.8])
    ours = published + np.array([0.01, 0.01, 0.05, -0.03])
    found = compare_seeds(np.stack([ours - 0.02, ours + 0.02], axis=1), published)
    assert (found.archs, found.seeds) == (4, 2)
    assert found.bias == pytest.approx(0.01)
    assert found.mean_error == pytest.approx(0.025)
    assert found.median_error == pytest.approx(0.02)
    assert found.spearman == pytest.approx(1.0)
    assert found.seed_kendall == pytest.approx(1.0)


def test_architectures_without_a_figure_are_left_out_and_counted() -> None:
    per_seed = np.array([[np.nan, np.nan], [0.4, np.nan], [0.6, 0.8], [0.9, 0.9]])
    found = compare_seeds(per_seed, np.array([0.1, 0.4, 0.7, 0.8]))
    assert (found.archs, found.left_out) == (3, 1)
    assert found.bias == pytest.approx(0.1 / 3)


@pytest.mark.slow
def test_chance_is_what_two_independent_means_differ_by() -> None:
    random = np.random.RandomState(0)
    truth = random.uniform(0.3, 0.9, size=(20_000, 1))
    one, two = (truth + 0.02 * random.standard_normal((20_000, 3)) for _ in range(2))
    found = compare_seeds(one, two.mean(axis=1))
    assert found.chance_error == pytest.approx(found.mean_error, rel=0.03)
    assert abs(found.bias) < 0.001


def test_one_seed_has_no_ceiling() -> None:
    found = compare_seeds(np.array([[0.5], [0.7]]), np.array([0.4, 0.9]))
    assert np.isnan([found.chance_error, found.seed_spearman, found.seed_kendall]).all()
    assert found.spearman == pytest.approx(1)
    with pytest.raises(QueryError, match="1 of 2 architectures have a figure"):
        compare_seeds(np.array([[0.5], [np.nan]]), np.array([0.4, 0.9]))


def test_a_table_is_compared_row_by_row(built: Path) -> None:
    toy, cora = lightread("toy", built), lightread("cora")
    errors = {number: toy[number]["perf"] - cora[number]["perf"] for number in HASHES}
    assert fidelity(toy, cora).bias == pytest.approx(np.mean(list(errors.values())))
    worst = largest_errors(toy, cora, count=2)
    ranked = sorted(errors, key=lambda number: -abs(errors[number]))
    assert [row["hash"] for row in worst] == ranked[:2]
    assert worst[0]["error"] == pytest.approx(errors[ranked[0]])
    assert worst[0]["seeds"] == [toy[ranked[0]][f"perf_seed{seed}"] for seed in (0, 1)]
    with pytest.raises(QueryError, match="no figures of single seeds, such as perf_seed0"):
        fidelity(cora, cora)


def test_chance_holds_where_trainings_fail_now_and_then() -> None:
    """One in twenty fails: two means differ by far more than a normal distribution would have."""
    random = np.random.RandomState(1)
    truth = random.uniform(0.7, 0.8, size=(3_000, 1))

    def train() -> np.ndarray:
        figures = truth + 0.005 * random.standard_normal((3_000, 3))
        return np.where(random.random_sample((3_000, 3)) < 0.05, 0.3, figures)

    one, two = train(), train()
    found = compare_seeds(one, two.mean(axis=1))
    assert found.chance_error == pytest.approx(found.mean_error, rel=0.15)
    of_seeds = np.mean([np.abs(one[:, a] - one[:, b]).mean() for a, b in ((0, 1), (0, 2), (1, 2))])
    assert of_seeds / np.sqrt(3) < 0.75 * found.mean_error


def test_the_ceiling_is_what_two_tables_of_three_seeds_reach() -> None:
    random = np.random.RandomState(2)
    truth = random.standard_normal((4_000, 1))
    one, two = (truth + 0.8 * random.standard_normal((4_000, 3)) for _ in range(2))
    found = compare_seeds(one, two.mean(axis=1))
    assert found.spearman_ceiling == pytest.approx(found.spearman, abs=0.02)
    assert found.spearman_low < found.spearman < found.spearman_high
    width = stats.bootstrap(
        (np.abs(one.mean(axis=1) - two.mean(axis=1)),), np.mean, n_resamples=500,
        method="percentile", random_state=0,
    ).confidence_interval  # fmt: skip
    assert (found.mean_error_low, found.mean_error_high) == pytest.approx(tuple(width), rel=0.01)


def test_cora_is_where_chance_puts_it_in_size_and_below_its_ceiling_in_rank() -> None:
    built, cora = lightread("cora-built"), lightread("cora")
    valid, test = (fidelity(built, cora, by) for by in ("valid_perf", "perf"))
    assert valid.spearman_ceiling == pytest.approx(0.854, abs=5e-4)
    assert test.spearman_ceiling == pytest.approx(0.888, abs=5e-4)
    for found in (valid, test):
        assert found.mean_error_low < found.chance_error < found.mean_error_high
        assert found.spearman < found.spearman_ceiling


def test_wirings_are_compared_by_their_means() -> None:
    """Against pandas, with a row that has no figure left out."""
    stacks, cora = lightread("cora-stacks"), lightread("cora")
    frame = pd.DataFrame({"hash": stacks.hashes, "ours": stacks.column("perf")})
    frame["published"] = [cora[number]["perf"] for number in frame["hash"]]
    frame["link"] = [Arch.from_hash(number).link for number in frame["hash"]]
    frame["difference"] = frame["ours"] - frame["published"]
    *rows, total = by_wiring(stacks, cora, "perf")
    assert [row.link for row in rows] == sorted(LINKS)
    assert (total.link, total.archs) == ((), 107)
    for row, (_, some) in zip(
        (*rows, total), (*frame.groupby("link"), ("all", frame)), strict=True
    ):
        assert row.archs == len(some)
        expected = some[["ours", "published", "difference"]].mean()
        assert [row.ours, row.published, row.difference] == pytest.approx(expected.tolist())
        assert row.standard_error == pytest.approx(some["difference"].sem())


def test_one_architecture_of_a_wiring_has_no_standard_error(built: Path) -> None:
    toy = lightread("toy", built).take(np.arange(1))
    row, total = by_wiring(toy, lightread("cora"))
    assert (row.archs, total.archs) == (1, 1)
    assert np.isnan(row.standard_error)


def test_stacks_of_sums_fail_as_often_as_the_published_ones() -> None:
    stacks, cora = lightread("cora-stacks"), lightread("cora")
    everything = [Arch.from_hash(number) for number in cora.hashes]
    assert {arch.valid_hash() for arch in everything if {*arch.ops} <= {"gin", "graph"}} == {
        *stacks.hashes.tolist()
    }
    built_seeds = [name for name in lightread("cora-built").columns if "valid_perf_seed" in name]
    (fresh,) = [name for name in stacks.columns if "valid_perf_seed" in name]
    assert fresh not in built_seeds
    *_, total = by_wiring(stacks, cora, "valid_perf")
    assert (round(total.ours, 3), round(total.published, 3)) == (0.561, 0.562)
    assert abs(total.difference) < total.standard_error
