"""The strategies: what each promises, and what probability theory says of random search."""

from __future__ import annotations

import hashlib
import json
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
    Trace,
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


def digest(trace: Trace) -> str:
    """Return what tells a search from every other: what it asked, and what it was told."""
    asked = json.dumps(trace.hashes.tolist()) + json.dumps(trace.rewards.tolist())
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("strategy", "cora", "proteins"),
    [
        (
            "random",
            ("386ff45b0be5cb6a", "0c48ae059a6ec155", "42966c5f1effd80d"),
            ("bbda7729ab08475f", "26ccafc85413e196", "f8979d9ea77d628d"),
        ),
        (
            "local",
            ("20c1998c8924ff84", "686c8623be2766ed", "0b139bb9afbe2fe0"),
            ("7a4a33577b44ebe3", "64c4e3ebf1f1c579", "14e37551329cc1fe"),
        ),
        (
            "evolution",
            ("fac74467aeb127de", "988eb016d4cf8d08", "146026add366692f"),
            ("19155dc03c13f8ce", "58830e1d2b88603b", "d38f541618a25bc4"),
        ),
        (
            "reinforce",
            ("7b32222dae5462ef", "e30a0432aa02d8ea", "f1690d534a41fbd9"),
            ("dc796e4413113578", "db7891f3731fc6c3", "27e9805ffa0d038d"),
        ),
        (
            "nni:random",
            ("1831082adb2ef74e", "31b3d1b45a664388", "9345402d688e8fc5"),
            ("981a7a56e6e8c20c", "2d867f53bc3ecb8c", "60498a33dc920516"),
        ),
        (
            "nni:grid",
            ("40299e205e7215ab", "be9581e6d431c95c", "6167a5ba08a52045"),
            ("716e55411fbe32ae", "dbf97a318248953a", "50c65a6422ccf86b"),
        ),
        (
            "nni:evolution",
            ("dfa46ac6c3c60e77", "95a434fed34ecd72", "ed010f3be713f78c"),
            ("981a7a56e6e8c20c", "2d867f53bc3ecb8c", "60498a33dc920516"),
        ),
        (
            "nni:evolution-repeats",
            ("dcfc5daf7ea98e7b", "a3e7da94a12e91e4", "80b8888ec3e77a9e"),
            ("981a7a56e6e8c20c", "2d867f53bc3ecb8c", "60498a33dc920516"),
        ),
        (
            "nni:tpe",
            ("72506194a9316fc4", "68663b4581a03331", "e7f8fed205b7bc66"),
            ("d92af73a2947c9e0", "ff5ed8880eb68b3d", "b9dd1f95633abb95"),
        ),
    ],
)
def test_full_tables_are_searched_as_ever(
    strategy: str, cora: tuple[str, ...], proteins: tuple[str, ...]
) -> None:
    """The digests are from before partial tables were answered by the nearest architecture."""
    pytest.importorskip("nni" if ":" in strategy else "numpy")
    for name, budget, expected in (("cora", 120, cora), ("proteins", 60, proteins)):
        table = lightread(name)
        found = [digest(run(strategy, table, budget, seed=seed)) for seed in range(3)]
        assert found == list(expected)


@pytest.mark.parametrize(
    "strategy",
    ["evolution", "local", "reinforce", "nni:random", "nni:tpe", "optuna:random", "optuna:nsga2"],
)
def test_partial_tables_are_searched_in_earnest(strategy: str) -> None:
    """Where forms outside the table were worth nothing, few of them were ever visited."""
    adapter, named, _ = strategy.partition(":")
    if named:
        pytest.importorskip(adapter)
    table = lightread("cora-built")
    for seed in range(2):
        report = run(strategy, table, 100, seed=seed).report()
        assert report.queries == report.spent == 100
        assert report.architectures > 30


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


def test_names_in_any_letter_case(proteins: ArchTable) -> None:
    assert get_strategy("Evolution") is get_strategy(" EVOLUTION ") is STRATEGIES["evolution"]
    assert run("Random", proteins, 5).strategy == "random"
    for wrong, meant in (("evolutoin", "evolution"), ("nni:tpee", "nni:tpe"), ("Randm", "random")):
        with pytest.raises(UnknownNameError, match=f"'{wrong}'; did you mean '{meant}'"):
            run(wrong, proteins)
    with pytest.raises(UnknownNameError, match="unknown strategy 7; allowed: random"):
        run(7, proteins)  # type: ignore[arg-type]


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
