"""The strategies: what each promises, and what probability theory says of random search."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest

from benchquery import Arch, ArchTable, get_space, lightread
from benchquery.errors import QueryError, StrategyError, UnknownNameError
from benchquery.search import (
    STRATEGIES,
    Budget,
    Oracle,
    get_strategy,
    run,
    strategy_names,
)
from tests.benchquery.search.conftest import EPOCHS, Raced


@pytest.fixture(scope="module")
def proteins() -> ArchTable:
    return lightread("proteins")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("workers", [1, 3])
def test_the_same_seed_asks_the_same(raced: Raced, strategy: str, workers: int) -> None:
    first, again, other = (
        run(strategy, raced.table, 30, seed=seed, workers=workers) for seed in (0, 0, 1)
    )
    for name in ("hashes", "rewards", "fidelities", "worker", "ended"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert first.hashes.tolist() != other.hashes.tolist()
    assert first.seed == 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_whole_budget_is_used(raced: Raced, strategy: str) -> None:
    trace = run(strategy, raced.table, Budget(30), seed=0)
    assert 29 < trace.costs.sum() <= 30 + 1e-9
    assert np.isin(trace.hashes, raced.table.hashes).all()


def test_random_search_is_what_probability_says(proteins: ArchTable) -> None:
    """The k-th best of N is the best of n with chance C(N - k, n - 1) / C(N, n)."""
    drawn, size, repetitions = 40, len(proteins), 150
    best_first = proteins.top(size, "valid_perf")
    tests = best_first.column("perf")
    chances = np.array(
        [math.comb(size - k, drawn - 1) / math.comb(size, drawn) for k in range(1, size + 1)]
    )
    expected = float(chances @ tests)
    deviation = math.sqrt(chances @ (tests - expected) ** 2)
    found = [run("random", proteins, drawn, seed=seed).report().perf for seed in range(repetitions)]
    assert chances.sum() == pytest.approx(1)
    assert np.mean(found) == pytest.approx(expected, abs=4 * deviation / math.sqrt(repetitions))


@pytest.mark.parametrize(
    ("dataset", "leaky", "leaky_error", "fair", "fair_error"),
    [("cora", 82.00, 0.16, 80.47, 0.54), ("physics", 92.54, 0.07, 91.57, 0.32),
     ("computers", 84.80, 0.16, 83.31, 0.47), ("proteins", 78.62, 0.13, 77.57, 0.39)],
)  # fmt: skip
def test_random_search_gives_what_was_measured_before(
    dataset: str, leaky: float, leaky_error: float, fair: float, fair_error: float
) -> None:
    """The specification's table: means of 400, with the standard error of a mean of five."""
    table, repetitions = lightread(dataset), 25
    for protocol, mean, error in (
        ("leaky-test", leaky, leaky_error),
        ("validation", fair, fair_error),
    ):
        found = [
            100 * run("random", table, "2%", seed=seed, protocol=protocol).report().perf  # type: ignore[arg-type]
            for seed in range(repetitions)
        ]
        deviation = error * math.sqrt(5)
        assert np.mean(found) == pytest.approx(
            mean, abs=4 * deviation * math.sqrt(1 / repetitions + 1 / 400)
        )


def test_random_and_local_search_never_ask_twice_and_end_with_the_best(
    proteins: ArchTable,
) -> None:
    for strategy in ("random", "local"):
        trace = run(strategy, proteins, "100%", seed=0)
        assert sorted(trace.hashes.tolist()) == proteins.hashes.tolist()
        assert trace.report().valid_rank == 1


def test_local_search_climbs_by_neighbours(proteins: ArchTable) -> None:
    """Until a climb ends, every query is a neighbour; it ends where none is better."""
    space = get_space("proteins")
    for seed in range(4):
        trace = run("local", proteins, 400, seed=seed)
        asked = list(zip(trace.hashes.tolist(), trace.rewards.tolist(), strict=True))
        top, height = asked[0]
        done = {top}
        for number, reward in asked[1:]:
            around = {arch.valid_hash() for arch in space.neighbours(Arch.from_hash(top))}
            if number not in around:
                break
            done.add(number)
            if reward > height:
                top, height = number, reward
        assert around <= done
        assert height == max(proteins.lookup(sorted(around | {top}), "valid_perf"))


def test_evolution_breeds_neighbours_of_the_living(proteins: ArchTable) -> None:
    trace = run("evolution", proteins, 150, seed=2)
    space = get_space("proteins")
    hashes = trace.hashes.tolist()
    assert len(set(hashes[:30])) == 30
    for place in range(30, 150):
        living = map(Arch.from_hash, hashes[place - 30 : place])
        around = {arch.valid_hash() for arch in space.neighbours(Arch.from_hash(hashes[place]))}
        assert around & {arch.valid_hash() for arch in living}


def test_evolution_beats_random_search() -> None:
    table = lightread("physics")
    best = {
        name: np.mean([run(name, table, "2%", seed=seed).report().valid_perf for seed in range(8)])
        for name in ("random", "evolution")
    }
    assert best["evolution"] > best["random"]


def test_reinforce_learns() -> None:
    table = lightread("cora")
    for seed in range(3):
        rewards = run("reinforce", table, "2%", seed=seed).rewards
        assert rewards[-100:].mean() > rewards[:100].mean() + 0.01


def test_halving_lets_the_best_third_go_on(raced: Raced) -> None:
    trace = run("halving", raced.table, 100, seed=0)
    asked = list(zip(trace.fidelities.tolist(), trace.hashes, trace.rewards, strict=True))
    bracket = asked[: 27 + 9 + 3 + 1]
    sizes = [27, 9, 3, 1]
    for size, epochs in zip(sizes, (1, 3, 9, 27), strict=True):
        rung, bracket = bracket[:size], bracket[size:]
        assert {fidelity for fidelity, _, _ in rung} == {epochs / EPOCHS}
        if bracket:
            best = sorted(rung, key=lambda entry: -entry[2])[: size // 3]
            assert {entry[1] for entry in best} == {entry[1] for entry in bracket[: size // 3]}
    costs = trace.costs[:40]
    assert costs.sum() * EPOCHS == pytest.approx(27 * 1 + 9 * 2 + 3 * 6 + 1 * 18)
    assert trace.report().hash in trace.hashes[trace.fidelities == 1]


def test_halving_needs_curves() -> None:
    with pytest.raises(QueryError, match=r"'cora' .*no learning curves"):
        run("halving", "cora", "2%")


def test_a_strategy_is_one_function(proteins: ArchTable) -> None:
    def first_ones(oracle: Oracle, rng: random.Random) -> None:
        for number in oracle.hashes[:5]:
            oracle.evaluate(number)

    trace = run(first_ones, proteins, 10)
    assert (trace.strategy, len(trace)) == ("first_ones", 5)


def test_invalid_architectures_are_the_strategys_fault(proteins: ArchTable) -> None:
    def astray(oracle: Oracle, rng: random.Random) -> None:
        oracle.evaluate(Arch([0, 0, 0, 0], ["gat"] * 4))

    def wrong(oracle: Oracle, rng: random.Random) -> None:
        oracle.evaluate(Arch([0, 0, 0, 9], ["gcn"] * 4))

    with pytest.raises(StrategyError, match=r"'astray'.*'proteins'"):
        run(astray, proteins, 10)
    with pytest.raises(StrategyError, match=r"'wrong'.*link\[3\] is 9"):
        run(wrong, proteins, 10)


def test_unknown_strategies_are_named() -> None:
    for name in ("annealing", "nni:annealing", "torch:tpe", ""):
        with pytest.raises(UnknownNameError, match=r"evolution.*nni:tpe.*optuna:tpe") as caught:
            get_strategy(name)
        assert repr(name) in str(caught.value)


def test_other_packages_offer_strategies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proteins: ArchTable
) -> None:
    (tmp_path / "others.py").write_text(
        "def last_one(oracle, rng):\n    oracle.evaluate(oracle.hashes[-1])\n"
    )
    package = tmp_path / "others-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[graphtab.strategies]\nlast = others:last_one\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "last" in strategy_names()
    assert run("last", proteins, 10).hashes.tolist() == [int(proteins.hashes[-1])]
