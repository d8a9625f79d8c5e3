"""Simulated workers, against a plain simulation of list scheduling."""

from __future__ import annotations

import numpy as np
import pytest

from benchquery import lightread
from benchquery.errors import BudgetExhaustedError
from benchquery.search import Budget, Oracle, SimulatedWorkers, keep_busy, run
from tests.benchquery.search.conftest import Raced


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_trainings_start_on_the_first_free_worker(raced: Raced, workers: int) -> None:
    trace = run("random", raced.table, 60, seed=0, workers=workers)
    times = dict(zip(raced.table.hashes.tolist(), raced.train_time, strict=True))
    mean = np.nanmean(raced.train_time)
    free_at = [0.0] * workers
    for place, number in enumerate(trace.hashes.tolist()):
        duration = mean if np.isnan(times[number]) else times[number]
        assert trace.started[place] == pytest.approx(min(free_at))
        assert free_at[trace.worker[place]] == pytest.approx(min(free_at))
        free_at[trace.worker[place]] += duration
        assert trace.ended[place] == pytest.approx(free_at[trace.worker[place]])
    assert trace.report().time == pytest.approx(max(free_at))
    assert trace.report().workers == workers


def test_without_times_every_training_takes_one() -> None:
    trace = run("random", "proteins", 8, workers=3)
    assert trace.ended.tolist() == [1, 1, 1, 2, 2, 2, 3, 3]


def test_rewards_are_known_when_a_training_ends_and_not_before(raced: Raced) -> None:
    oracle = Oracle(raced.table, Budget(40), workers=4)
    known: list[int] = []
    at_start: list[set[int]] = []

    def propose() -> int:
        at_start.append(set(known))
        return oracle.hashes[len(at_start)]

    with pytest.raises(BudgetExhaustedError):
        keep_busy(oracle, propose, lambda arch, reward: known.append(int(arch)))  # type: ignore[arg-type]
    trace = oracle.finish(strategy="mine", seed=0)
    for place, told in enumerate(at_start[: len(trace)]):
        over = trace.hashes[trace.ended < trace.started[place]].tolist()
        assert set(over) <= told
        assert told <= set(trace.hashes[trace.ended <= trace.started[place]].tolist())


def test_all_at_once_gives_rewards_in_order(raced: Raced) -> None:
    oracle = Oracle(raced.table, Budget(40), workers=4)
    hashes = list(oracle.hashes[20:35])
    rewards = SimulatedWorkers(oracle).evaluate_all(hashes)
    assert rewards == raced.table.lookup(hashes, "valid_perf").tolist()


def test_more_workers_finish_earlier(raced: Raced) -> None:
    times = [
        run(name, raced.table, 60, seed=0, workers=workers).report().time
        for name in ("evolution", "halving")
        for workers in (1, 4)
    ]
    assert times[1] < times[0] / 2
    assert times[3] < times[2]


def test_budgets_of_time_count_all_workers() -> None:
    trace = run("random", lightread("proteins"), 9, workers=3)
    assert trace.report().spent == 9
    assert trace.report().time == 3
