"""The oracle, against books kept in another way."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path
from typing import Any

import nas_bench_graph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchquery import Arch, ArchTable, condread, lightread
from benchquery.errors import (
    ArchitectureError,
    BudgetExhaustedError,
    QueryError,
    TableKindError,
    UnknownHashError,
    UnknownNameError,
)
from benchquery.kinds.architectures.space import Space, get_space
from benchquery.search import PROTOCOLS, STRATEGIES, Budget, Oracle, run
from benchquery.search.oracle import PATIENCE
from benchquery.table.store import open_table
from benchquery.table.writer import new_table, write_table
from tests.benchquery.search.conftest import EPOCHS, FAILED, ROWS, Raced

queries = st.lists(st.tuples(st.integers(0, 9), st.integers(1, EPOCHS)), max_size=40)


def test_rewards_are_the_published_figures() -> None:
    published = nas_bench_graph.light_read("cora")
    rng = random.Random(0)
    for protocol, column in zip(PROTOCOLS, ("valid_perf", "perf"), strict=False):
        oracle = Oracle(lightread("cora"), Budget(100), protocol=protocol)
        for number in rng.sample(sorted(published), 100):
            assert oracle.evaluate(Arch.from_hash(number)) == published[number][column]


def test_the_budget_is_used_to_the_last_and_no_further() -> None:
    oracle = Oracle(lightread("proteins"), Budget(3))
    for number in oracle.hashes[:3]:
        assert not oracle.exhausted
        oracle.evaluate(number)
    assert oracle.exhausted
    for again in range(2):
        with pytest.raises(BudgetExhaustedError, match="3 queries"):
            oracle.evaluate(oracle.hashes[again])
    trace = oracle.finish(strategy="mine", seed=0)
    assert trace.hashes.tolist() == list(oracle.hashes[:3])
    assert trace.costs.tolist() == [1, 1, 1]


def test_nothing_is_answered_after_the_end() -> None:
    oracle = Oracle(lightread("proteins"), Budget(3, repeats="free"))
    oracle.evaluate(oracle.hashes[0])
    oracle.finish(strategy="mine", seed=0)
    with pytest.raises(BudgetExhaustedError):
        oracle.evaluate(oracle.hashes[0])


@settings(max_examples=60, deadline=None)
@given(asked=queries)
def test_free_repeats_pay_each_epoch_once(raced: Raced, asked: list[tuple[int, int]]) -> None:
    oracle = Oracle(raced.table, Budget(10_000, repeats="free"))
    paid: set[tuple[int, int]] = set()
    for row, epochs in asked:
        oracle.evaluate(oracle.hashes[row], epochs)
        paid |= {(row, epoch) for epoch in range(epochs)}
        assert oracle.spent == pytest.approx(len(paid) / EPOCHS)


@settings(max_examples=60, deadline=None)
@given(asked=queries)
def test_charged_repeats_in_seconds(raced: Raced, asked: list[tuple[int, int]]) -> None:
    times = np.where(np.isnan(raced.train_time), np.nanmean(raced.train_time), raced.train_time)
    oracle = Oracle(raced.table, Budget(1e6, "seconds"))
    trained, paid = dict.fromkeys(range(10), 0), 0.0
    for row, epochs in asked:
        oracle.evaluate(oracle.hashes[row], epochs)
        new = epochs - trained[row] if epochs > trained[row] else epochs
        trained[row] = max(trained[row], epochs)
        paid += times[row] * new / EPOCHS
    assert oracle.spent == pytest.approx(paid)
    trace = oracle.finish(strategy="mine", seed=0)
    assert trace.costs.sum() == pytest.approx(paid)
    assert trace.ended[-1:].sum() == pytest.approx(paid)


def test_early_stops_reward_the_best_epoch_so_far(raced: Raced) -> None:
    oracle = Oracle(raced.table, Budget(1000))
    leaky = Oracle(raced.table, Budget(1000), protocol="leaky-test")
    for row in (0, 3, ROWS - 1):
        for epochs in (1, 5, EPOCHS - 1):
            best = raced.curves[row, :, :epochs, 1].max(axis=1).mean()
            assert oracle.evaluate(oracle.hashes[row], epochs) == pytest.approx(best)
            so_far = raced.curves[row, :, epochs - 1, 6].mean()
            assert leaky.evaluate(leaky.hashes[row], epochs) == pytest.approx(so_far)
        whole = raced.table[oracle.hashes[row]]["valid_perf"]
        assert oracle.evaluate(oracle.hashes[row], EPOCHS) == whole
        assert oracle.evaluate(oracle.hashes[row]) == whole


def test_failed_trainings_get_the_worst_reward(raced: Raced) -> None:
    oracle = Oracle(raced.table, Budget(10))
    assert oracle.evaluate(oracle.hashes[FAILED]) == 0
    assert oracle.evaluate(oracle.hashes[FAILED], 3) == 0


def test_forms_without_a_figure_are_the_worst_and_free(raced: Raced) -> None:
    oracle = Oracle(raced.table, Budget(10))
    assert oracle.evaluate_form([0, 1, 2, 3], ["skip"] * 4) == 0
    proteins = Oracle(lightread("proteins"), Budget(10))
    assert proteins.evaluate_form([0, 1, 2, 3], ["cheb"] * 4) == 0
    assert oracle.spent == proteins.spent == 0
    there = Arch.from_hash(oracle.hashes[0])
    assert oracle.evaluate_form(there.link, there.ops) == raced.table[there]["valid_perf"]
    assert oracle.spent == 1
    with pytest.raises(ArchitectureError, match="mlp"):
        oracle.evaluate_form([0, 1, 2, 3], ["mlp"] * 4)


def steps_to(space: Space, start: Arch, there: set[int]) -> tuple[int, set[int]]:
    """Return how many changed choices away the nearest of some architectures are, and which.

    Goes through all changes of the raw forms, one choice more at a time.
    """
    forms = {(form.link, form.ops) for form in space.raw_forms(start)}
    for places in range(1, 8):
        found: set[int] = set()
        for (link, ops), chosen in itertools.product(
            forms, itertools.combinations(range(7), places)
        ):
            choices = [
                (range(place + 2) if place < 3 else space.ops)
                if place in chosen
                else ([*link[1:], *ops][place],)
                for place in range(7)
            ]
            for one, two, three, *changed in itertools.product(*choices):
                if set(changed) != {"skip"}:
                    found.add(Arch([0, one, two, three], changed).valid_hash())
        if found & there:
            return places, found & there
    raise AssertionError("there is always one")


def test_the_nearest_answers_for_what_a_partial_table_lacks() -> None:
    """Against a search through all changes of one choice, of two, of three."""
    space = get_space("proteins")
    proteins = lightread("proteins")
    part = proteins.where(np.arange(len(proteins)) % 40 == 7)
    oracle = Oracle(part, Budget(40))
    rng, there = random.Random(3), set(oracle.hashes)
    apart = set()
    for number in rng.sample(sorted(set(proteins.hashes.tolist()) - there), 12):
        arch = Arch.from_hash(number)
        steps, nearest = steps_to(space, arch, there)
        apart.add(steps)
        for form in space.raw_forms(arch):
            assert oracle.resolve_form(form.link, form.ops) == min(nearest)
        before = oracle.spent
        assert oracle.evaluate_form(arch.link, arch.ops) == part[min(nearest)]["valid_perf"]
        assert oracle.spent == before + 1
    assert len(apart) > 1
    trace = oracle.finish(strategy="mine", seed=0)
    assert set(trace.hashes.tolist()) <= there
    missing = next(arch for arch in space if arch not in there)
    with pytest.raises(UnknownHashError):
        Oracle(part, Budget(1)).evaluate(missing)


def test_full_tables_answer_for_each_form_itself() -> None:
    oracle = Oracle(lightread("proteins"), Budget(1))
    for arch in get_space("proteins").sample(300, seed=1, over="raw"):
        assert oracle.resolve_form(arch.link, arch.ops) == arch.valid_hash()


@pytest.mark.parametrize("known", [True, False])
def test_a_search_that_learns_nothing_new_ends(raced: Raced, known: bool) -> None:
    oracle = Oracle(raced.table, Budget(10, repeats="free"))
    arch = Arch.from_hash(oracle.hashes[0])
    oracle.evaluate(arch)
    ops = arch.ops if known else ["skip"] * 4
    for _ in range(PATIENCE):
        oracle.evaluate_form(arch.link, ops)
    with pytest.raises(BudgetExhaustedError, match="stuck"):
        oracle.evaluate_form(arch.link, ops)


@pytest.mark.parametrize("key", [88888, -1, 10**9])
def test_unknown_architectures_are_named(key: int) -> None:
    oracle = Oracle(lightread("cora"), Budget(10))
    with pytest.raises(UnknownHashError):
        oracle.evaluate(key)
    assert oracle.spent == 0


@pytest.mark.parametrize("key", ["gcn", None, 2.5, [1, 2]])
def test_what_is_no_hash_is_named(key: Any) -> None:
    oracle = Oracle(lightread("cora"), Budget(10))
    with pytest.raises(UnknownHashError, match=f"by hash.* not by {re.escape(repr(key))}"):
        oracle.evaluate(key)
    assert oracle.spent == 0


def test_what_a_table_lacks_is_named(raced: Raced) -> None:
    cora = lightread("cora")
    with pytest.raises(QueryError, match=r"'cora' .* no learning curves, so no training"):
        Oracle(cora, Budget(10)).evaluate(0, epochs=3)
    with pytest.raises(QueryError, match=r"'cora' .* 'train_time'"):
        Oracle(cora, Budget(10, "seconds"))
    with pytest.raises(QueryError, match="no architectures"):
        Oracle(cora.where("perf > 2"), Budget(10))
    for workers in (0, "2"):
        with pytest.raises(QueryError, match=f"1 worker, not {workers!r}"):
            Oracle(cora, Budget(10), workers=workers)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match=r"'test'.*leaky-test"):
        Oracle(cora, Budget(10), protocol="test")  # type: ignore[arg-type]
    for epochs in (0, EPOCHS + 1):
        with pytest.raises(QueryError, match=f"1 to {EPOCHS} epochs, not after {epochs}"):
            Oracle(raced.table, Budget(10)).evaluate(int(raced.table.hashes[0]), epochs)


def test_budgets_may_be_numbers_and_texts() -> None:
    cora = lightread("cora")
    assert Oracle(cora, 100).budget == Budget(100)
    assert Oracle(cora, "2%").budget == Budget(524)
    for budget in (None, "much", [3], 10**6):
        with pytest.raises(QueryError, match="budget"):
            Oracle(cora, budget)  # type: ignore[arg-type]


def test_only_tables_of_architectures_are_searched() -> None:
    for table, named in (
        (condread("cora"), "the condensed table 'cora-condensed'"),
        (None, "None"),
    ):
        for search in (lambda t: Oracle(t, 5), lambda t: run("random", t, 5)):
            with pytest.raises(QueryError, match=f"architectures, not {named}; .*lightread"):
                search(table)
    with pytest.raises(TableKindError, match="condensed graphs, not of architectures"):
        run("random", "cora-condensed")


def test_costs_come_after_the_question_and_never_from_the_test_set() -> None:
    oracle = Oracle(lightread("cora"), Budget(10))
    with pytest.raises(QueryError, match="not asked for"):
        oracle.cost(61237, "latency")
    oracle.evaluate(61237)
    assert oracle.cost(61237, "latency") == lightread("cora")[61237]["latency"]
    for column in ("perf", "valid_perf", "para_consistent"):
        with pytest.raises(QueryError, match=rf"'{column}' is no cost.*latency, para"):
            oracle.cost(61237, column)
    with pytest.raises(UnknownNameError, match="'speed'"):
        oracle.cost(61237, "speed")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_strategy_sees_the_test_set(strategy: str, raced: Raced, tmp_path: Any) -> None:
    """With other test figures, every strategy asks the same."""
    folder = tmp_path / "other"
    with new_table(folder) as stage:
        (stage / "curves.h5").write_bytes((raced.folder / "curves.h5").read_bytes())
        columns = {name: raced.table.column(name) for name in raced.table.columns}
        columns["perf"] = np.ascontiguousarray(columns["perf"][::-1])
        write_table(
            stage, columns, name="raced", space="full", origin="synthetic", metric="accuracy",
            source={"title": "the same with other test figures"}, licence="CC0-1.0",
        )  # fmt: skip
    other = open_table(folder)
    asked = [run(strategy, table, 40, seed=3) for table in (raced.table, other)]
    np.testing.assert_array_equal(asked[0].hashes, asked[1].hashes)
    np.testing.assert_array_equal(asked[0].rewards, asked[1].rewards)
    assert {trace.protocol for trace in asked} == {"validation"}
    leaky = run(strategy, other, 40, seed=3, protocol="leaky-test")
    assert leaky.protocol == leaky.report().protocol == "leaky-test"
    whole = leaky.fidelities == 1
    np.testing.assert_array_equal(
        leaky.rewards[whole], np.nan_to_num(other.lookup(leaky.hashes[whole], "perf"))
    )


def rewritten(raced: Raced, folder: Path, **columns: Any) -> ArchTable:
    """The table with other columns, and without curves."""
    kept = ("hash", "valid_perf", "perf", "train_time")
    about = ("name", "space", "origin", "metric", "source", "licence")
    with new_table(folder) as stage:
        write_table(
            stage,
            {name: raced.table.column(name) for name in kept} | columns,
            **{name: getattr(raced.table.manifest, name) for name in about},
        )
    return lightread(folder)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seconds", [np.nan, 0.0, -1.0, np.inf])
def test_trainings_that_take_no_time_do_not_let_a_search_go_on_for_ever(
    raced: Raced, tmp_path: Path, seconds: float
) -> None:
    timeless = rewritten(raced, tmp_path / "none", train_time=np.full(ROWS, seconds))
    with pytest.raises(QueryError, match=r"'none' .synthetic. has no figures in 'train_time'"):
        Oracle(timeless, Budget(10, "seconds"))
    assert len(run("random", timeless, 5)) == 5
    mixed = rewritten(raced, tmp_path / "one", train_time=np.r_[2.0, np.full(ROWS - 1, seconds)])
    assert len(run("random", mixed, Budget(10, "seconds"))) == 5


@pytest.mark.filterwarnings("error")
def test_a_table_without_figures_is_nothing_to_search(raced: Raced, tmp_path: Path) -> None:
    unknown = np.full(ROWS, np.nan)
    with pytest.raises(QueryError, match=r"0 of the 120 rows .* have a figure in 'valid_perf'"):
        Oracle(rewritten(raced, tmp_path / "none", valid_perf=unknown), Budget(5))
    untested = rewritten(raced, tmp_path / "untested", perf=unknown)
    report = run("random", untested, 5).report()
    assert np.isnan([report.perf, report.regret, report.normalised_regret]).all()
    with pytest.raises(QueryError, match="figure in 'perf'"):
        run("random", untested, 5, protocol="leaky-test")
