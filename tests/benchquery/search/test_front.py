from __future__ import annotations

import dataclasses
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchquery import Arch, lightread
from benchquery.errors import QueryError
from benchquery.search import Budget, Oracle, front, run
from benchquery.search.choices import choices
from benchquery.search.front import hypervolume
from tests.benchquery.failing import fail
from tests.benchquery.search.conftest import FAILED, Raced


@given(points=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=8))
def test_hypervolume_is_the_number_of_dominated_cells(points: list[tuple[int, int]]) -> None:
    cells = sum(any(x <= i and y <= j for x, y in points) for i in range(6) for j in range(6))
    assert hypervolume(np.array(points, float), np.array([6.0, 6.0])) == pytest.approx(cells)


def test_a_search_of_everything_finds_the_front() -> None:
    table = lightread("proteins")
    whole = front(run("random", table, "100%"), table)
    assert whole.found == whole.true == tuple(sorted(table.pareto()))
    assert (whole.hits, whole.share) == (len(whole.true), 1)
    part = front(run("random", table, "2%"), table)
    assert 0 < part.share < 1
    assert part.hits == len(set(part.found) & set(whole.true))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 99), share=st.sampled_from([0.01, 0.5, 0.99]), column=st.booleans())
def test_failed_rows_are_on_no_front(seed: int, share: float, column: bool) -> None:
    whole = lightread("proteins")
    failed = np.random.default_rng(seed).random(len(whole)) < share
    failed[np.argsort(whole.column("valid_perf"))[-2:]] = True
    table = fail(whole, failed, ("valid_perf",) if column else None)
    trace = run("random", whole, "10%", seed=seed)
    result = front(trace, table)
    assert result.left_out == failed.sum()
    assert not set(result.found + result.true) & set(whole.hashes[failed].tolist())
    rest = front(trace, whole.take(np.flatnonzero(~failed)))
    assert dataclasses.replace(result, left_out=0) == rest


def test_without_figures_there_is_no_front_to_find() -> None:
    whole = lightread("proteins")
    trace = run("random", whole, 5)
    with pytest.raises(QueryError, match=r"0 of the 2,021 .*'valid_perf' and 'latency'"):
        front(trace, fail(whole, np.ones(len(whole), dtype=bool)))
    alone = front(trace, whole.take(np.flatnonzero(whole.hashes == trace.hashes[0])))
    assert (alone.hits, len(alone.true)) == (1, 1)
    assert math.isnan(alone.share)


def test_a_search_that_asks_for_the_front_has_it() -> None:
    table = lightread("cora")

    def clairvoyant(oracle: Oracle, rng: random.Random) -> None:
        for number in table.pareto("valid_perf", "para"):
            oracle.evaluate(number)

    assert front(run(clairvoyant, table), table, "para").share == pytest.approx(1)


def test_a_failed_training_is_the_worst_in_both_objectives(raced: Raced) -> None:
    optuna = pytest.importorskip("optuna")
    from benchquery.adapters.optuna import objective

    oracle = Oracle(raced.table, Budget(5))
    arch = Arch.from_hash(oracle.hashes[FAILED])
    chosen = dict(zip(choices(oracle.space), [*arch.link[1:], *arch.ops], strict=True))
    trial = optuna.trial.FixedTrial(chosen)
    assert objective(oracle, "train_time")(trial) == (0, float("inf"))
    assert oracle.spent == 1
