"""Estimated training times, against fits that leave each architecture out for real."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from benchquery import lightread
from benchquery.errors import QueryError
from benchquery.search import Budget, Oracle, compare, estimate_times, load, run, save
from benchquery.search.clock import _left_out, _operations


def test_leaving_out_is_what_scikit_learn_gives_without_each() -> None:
    built = lightread("citeseer-built")
    times, inputs = built.column("train_time"), _operations(built.hashes)
    found = _left_out(inputs, times, 3.0)
    for row in (0, 7, 39):
        others = np.arange(len(times)) != row
        model = Ridge(3.0).fit(inputs[others], np.log(times[others]))
        assert np.log(found[row]) == pytest.approx(model.predict(inputs[[row]])[0])


def test_operations_are_counted_on_the_input_and_deeper() -> None:
    built = lightread("cora-built")
    for arch, row in zip(built.archs(), _operations(built.hashes), strict=True):
        first = sum(link == 0 for link in arch.link)
        assert (row[:9].sum(), row[9:].sum()) == (first, 4 - first)
        assert row.sum() == 4


def test_estimates_know_more_than_a_constant_where_enough_is_timed() -> None:
    cora, built = lightread("cora"), lightread("cora-built")
    clock = estimate_times(cora)
    assert clock.error < 0.75 * clock.spread
    place = {int(number): row for row, number in enumerate(clock.hashes)}
    mine = clock.seconds[[place[number] for number in built]]
    assert np.corrcoef(np.log(mine), np.log(built.column("train_time")))[0, 1] > 0.6
    assert clock.seconds.min() >= built.column("train_time").min()


def test_a_search_by_estimated_time_says_so(tmp_path: Path) -> None:
    seconds = estimate_times(lightread("proteins"), lightread("cora-built")).seconds
    assert len(seconds) == 2_021
    trace = run("random", "cora", "~300s", seed=0)
    assert trace.budget == Budget(300.0, "estimated seconds")
    times = dict(zip(lightread("cora").hashes.tolist(), estimate_times(lightread("cora")).seconds,
                     strict=True))  # fmt: skip
    expected = [times[number] for number in trace.hashes.tolist()]
    assert trace.costs.tolist() == pytest.approx(expected)
    assert 270 < trace.report().spent <= 300
    save([trace], tmp_path / "t.parquet")
    (row,) = compare(load(tmp_path / "t.parquet"))
    assert row.contest.terms == "300 estimated seconds, 1 worker"


def test_what_can_not_be_estimated_is_said() -> None:
    with pytest.raises(QueryError, match="no training of 'arxiv' was timed"):
        run("random", "arxiv", "~60s")
    with pytest.raises(QueryError, match=r"'cora-built' knows its training times.*give 60s"):
        Oracle(lightread("cora-built"), "~60s")
    with pytest.raises(QueryError, match=r"or estimated time \(~60s\)"):
        Oracle(lightread("cora"), "60s")
    for text in ("~60", "~2%", "~s"):
        with pytest.raises(QueryError, match="can't read the budget"):
            Budget.parse(text, 100)
