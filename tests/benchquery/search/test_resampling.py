"""Searches that see single trainings, on the seeds of a table that was built."""

from __future__ import annotations

import numpy as np
import pytest

from benchquery import ArchTable, lightread
from benchquery.errors import QueryError
from benchquery.search import Oracle, compare, random_search_exactly, resample, run
from tests.benchquery.failing import fail


@pytest.fixture(scope="module")
def built() -> ArchTable:
    return lightread("cora-built")


def test_every_figure_is_one_of_the_architectures_own(built: ArchTable) -> None:
    drawn = resample(built, 5)
    for row, record in enumerate(built.records()):
        seed = drawn.seed[row]
        assert drawn.valid_perf[row] == record[f"valid_perf_seed{seed}"]
        assert drawn.perf[row] == record[f"perf_seed{seed}"]
    assert (
        resample(built, 5).seed.tolist() == drawn.seed.tolist() != resample(built, 6).seed.tolist()
    )


def test_draws_average_to_the_mean_and_spread_as_the_seeds_do(built: ArchTable) -> None:
    drawn = np.stack([resample(built, seed).valid_perf for seed in range(600)])
    seeds = np.stack([built.column(f"valid_perf_seed{seed}") for seed in range(3)])
    error = seeds.std(axis=0) / np.sqrt(600)
    assert (np.abs(drawn.mean(axis=0) - built.column("valid_perf")) <= 4.5 * error + 1e-9).all()
    assert drawn.std(axis=0).mean() == pytest.approx(seeds.std(axis=0).mean(), rel=0.05)


def test_failed_seeds_are_not_drawn(built: ArchTable) -> None:
    first, whole = np.arange(len(built)) < 50, np.arange(len(built)) < 10
    some = fail(built, first, ("valid_perf_seed0",))
    assert not (resample(some, 0).seed[first] == 0).any()
    none = fail(built, whole, tuple(f"valid_perf_seed{seed}" for seed in range(3)))
    assert (resample(none, 0).seed[whole] == -1).all()
    oracle = Oracle(none, 5, protocol="one-seed")
    assert oracle.evaluate(int(none.hashes[0])) == 0.0
    assert oracle.evaluate(int(none.hashes[1]), epochs=10) == 0.0


def test_a_search_sees_one_training_and_is_judged_by_means(built: ArchTable) -> None:
    trace = run("random", built, 40, seed=3, protocol="one-seed")
    drawn = dict(zip(built.hashes.tolist(), resample(built, 3).valid_perf.tolist(), strict=True))
    assert [drawn[number] for number in trace.hashes.tolist()] == trace.rewards.tolist()
    report = trace.report()
    assert report.protocol == "one-seed"
    assert report.perf == built[report.hash]["perf"]
    (row,) = compare([trace])
    assert row.strategy == "random"


def test_early_stops_are_of_the_same_training(built: ArchTable) -> None:
    number, oracle = int(built.hashes[3]), Oracle(built, 5, protocol="one-seed", seed=2)
    curve = built.curve(number, int(resample(built, 2).seed[3]))
    assert oracle.evaluate(number, epochs=50) == pytest.approx(np.nanmax(curve[:50, 1]))


def test_what_can_not_be_drawn_is_said(built: ArchTable) -> None:
    with pytest.raises(QueryError, match=r"'cora' .published. has no figures of single seeds"):
        run("random", "cora", 5, protocol="one-seed")
    with pytest.raises(QueryError, match="at least 0, not -1"):
        resample(built, -1)
    with pytest.raises(QueryError, match="validation, leaky-test, not for 'one-seed'"):
        random_search_exactly(built, 5, "one-seed")
