"""Tests between strategies, against scipy and a definition by brute force."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchquery import lightread
from benchquery.analysis import noise
from benchquery.analysis.statistics import holm
from benchquery.cli import main
from benchquery.errors import QueryError
from benchquery.search import (
    CHANCE,
    Budget,
    Trace,
    compare,
    differences,
    mean_ranks,
    run,
    save,
)
from tests.benchquery.search.conftest import Raced

NAMES = ("random", "local", "evolution")


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [
        run(name, table, 30, seed=seed)
        for table in ("proteins", "cora-built")
        for name in NAMES
        for seed in range(8)
    ]


def found_by(traces: list[Trace], strategy: str, dataset: str) -> list[float]:
    return [
        trace.report().perf
        for trace in traces
        if (trace.strategy, trace.dataset) == (strategy, dataset)
    ]


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_rejects_what_stepping_down_rejects(values: list[float]) -> None:
    corrected = holm(values)
    for level in (0.01, 0.05, 0.3):
        rejected, left = set(), sorted(range(len(values)), key=values.__getitem__)
        while left and min(1.0, values[left[0]] * len(left)) <= level:
            rejected.add(left.pop(0))
        assert {i for i, p in enumerate(corrected) if p <= level} == rejected


def test_pairs_are_scipys_paired_tests(traces: list[Trace]) -> None:
    rows = differences(traces, level=0.1)
    assert len(rows) == 2 * (3 + 3)
    exact = {row.dataset: row.perf for row in compare(traces) if not row.seeds}
    for row in rows:
        if row.second == CHANCE:
            test = stats.ttest_1samp(found_by(traces, row.first, row.dataset), exact[row.dataset])
            assert row.p == pytest.approx(test.pvalue)
            ends = np.array(test.confidence_interval(0.9)) - exact[row.dataset]
            assert (row.low, row.high) == pytest.approx(tuple(ends))
            continue
        one, other = (found_by(traces, name, row.dataset) for name in (row.first, row.second))
        gaps = np.subtract(one, other).round(12)
        assert row.mean == pytest.approx(gaps.mean())
        low, high = stats.ttest_rel(one, other).confidence_interval(0.9)
        assert (row.low, row.high) == (pytest.approx(low), pytest.approx(high))
        assert row.p == pytest.approx(stats.wilcoxon(gaps).pvalue if gaps.any() else 1.0)
    assert [row.corrected for row in rows] == holm([row.p for row in rows])
    assert all(row.differs == (row.corrected <= 0.1) for row in rows)


def test_mean_ranks_and_the_critical_difference_are_nemenyis(traces: list[Trace]) -> None:
    (found,) = mean_ranks(traces)
    assert found.contests == 2
    by_dataset = [
        stats.rankdata([-np.mean(found_by(traces, name, dataset)) for name in NAMES])
        for dataset in ("proteins", "cora-built")
    ]
    assert found.ranks == pytest.approx(dict(zip(NAMES, np.mean(by_dataset, axis=0), strict=True)))
    # Demsar's table of Nemenyi's test has q = 2.343 for three classifiers at 0.05.
    assert found.critical == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 2)), rel=1e-3)


def test_random_search_stands_behind_those_that_are_better(traces: list[Trace]) -> None:
    (found,) = mean_ranks(traces)
    exact = {row.dataset: row.perf for row in compare(traces) if row.strategy == CHANCE}
    better = [
        np.mean(found_by(traces, name, dataset)) > perf
        for dataset, perf in exact.items()
        for name in NAMES
    ]
    assert found.chance == pytest.approx(sum(better) / len(exact) + 0.5)


def test_regret_beyond_noise_is_against_the_set_that_can_not_be_told_from_the_best() -> None:
    cora, traces = lightread("cora"), [run("random", "cora", 5, seed=seed) for seed in range(3)]
    expected = np.mean([noise(cora).regret(trace.report().perf) for trace in traces])
    rows = {row.strategy: row for row in compare(traces)}
    assert rows["random"].beyond_noise == pytest.approx(expected)
    assert rows["random"].beyond_noise < rows["random"].regret
    assert rows[CHANCE].beyond_noise < rows[CHANCE].regret
    (unknown,) = compare([run("random", "proteins", 5)], chance=False)
    assert np.isnan(unknown.beyond_noise)


def test_one_seed_tells_nothing(raced: Raced) -> None:
    (row,) = differences([run("random", raced.table, 5)])
    assert (row.second, row.seeds, row.p, row.differs) == (CHANCE, 1, 1.0, False)
    assert differences([run("random", raced.table, Budget(40, "seconds"))]) == []


def test_medians_and_errors_stand_beside_means(traces: list[Trace]) -> None:
    for row in compare(traces, chance=False):
        reports = [
            trace.report()
            for trace in traces
            if (trace.strategy, trace.dataset) == (row.strategy, row.dataset)
        ]
        for name in ("perf", "regret", "rank"):
            values = [getattr(report, name) for report in reports]
            assert getattr(row, f"{name}_median") == pytest.approx(np.median(values))
            assert getattr(row, f"{name}_error") == pytest.approx(stats.sem(values))


def test_ranks_of_random_search_are_what_was_computed_elsewhere() -> None:
    cora = lightread("cora")
    traces = [run("random", cora, "2%", seed=seed) for seed in range(100)]
    (row,) = compare(traces, chance=False)
    better = [(cora.column("perf") > trace.report().perf).sum() for trace in traces]
    assert round(np.mean(better) + 1) == 3_292
    # With figures that differ by rounding alone as ties, ranks are a little better.
    assert row.rank == pytest.approx(3_282, abs=0.5)
    assert row.rank_median == np.median(better) + 1 == 1_002


def test_what_can_not_be_compared_is_said(traces: list[Trace], tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="'random' and 'local' have no seed in common"):
        differences([run("random", "proteins", 5), run("local", "proteins", 5, seed=1)])
    with pytest.raises(QueryError, match="between 0 and 1, not 5"):
        differences(traces, level=5)
    with pytest.raises(QueryError, match=r"no contest .* has searches of all of local, random"):
        mean_ranks([run("random", "proteins", 5), run("local", "proteins", 6)])
    assert mean_ranks(traces[:8]) == []


def test_the_command_prints_and_draws_them(
    traces: list[Trace], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, picture = tmp_path / "t.parquet", tmp_path / "ranks.svg"
    save(traces, path)
    assert main(["standings", str(path), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    expected = compare(traces)
    assert [row["rank_median"] for row in shown] == [row.rank_median for row in expected]
    assert [row["strategy"] for row in shown].count(CHANCE) == 2
    assert main(["standings", str(path), "--pairs", "--plot", str(picture)]) == 0
    assert capsys.readouterr().out.count("\n") == 2 + 12
    drawn = picture.read_text()
    assert all(name in drawn for name in (*NAMES, CHANCE))
    assert "2 contests, critical difference" in drawn
    assert main(["standings", str(path), "--plot", str(tmp_path / "a.gif")]) == 2
    capsys.readouterr()
    assert main(["standings", str(path)]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last.startswith("cora-built: the best perf, ")
    best = noise(lightread("cora-built"))
    assert f"{best.again:.4f} if it is run again, so {best.curse:.4f} of every regret" in last


def test_strategies_that_are_near_are_joined() -> None:
    from benchquery.search.plot import _indistinct

    places = [1.0, 1.4, 2.0, 3.5, 3.6]
    runs = _indistinct(places, 1.0)
    joined = {
        pair for start, end in runs for pair in itertools.combinations(range(start, end + 1), 2)
    }
    near = {(i, j) for i, j in itertools.combinations(range(5), 2) if places[j] - places[i] <= 1.0}
    assert joined == near
