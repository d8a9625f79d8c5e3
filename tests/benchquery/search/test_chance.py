"""Random search in closed form, against all draws there are, and against searching."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from benchquery import ArchTable, lightread
from benchquery.errors import QueryError
from benchquery.search import CHANCE, compare, random_search_exactly, run
from tests.benchquery.failing import fail


@pytest.mark.parametrize("protocol", ["validation", "leaky-test"])
def test_it_is_the_mean_over_all_draws(protocol: str) -> None:
    table = lightread("cora").where("depth == 1").top(14, by="latency")
    reward = table.column("valid_perf" if protocol == "validation" else "perf")
    perf = table.column("perf")
    for count in (1, 2, 3, 13, 14):
        finds = []
        for drawn in itertools.combinations(range(14), count):
            best = max(reward[i] for i in drawn)
            finds.append([perf[i] for i in drawn if reward[i] == best])
        exact = random_search_exactly(table, count, protocol)
        assert exact.perf[0] == pytest.approx(np.mean([np.mean(find) for find in finds]))
        square = np.mean([np.mean(np.square(find)) for find in finds])
        assert exact.deviation[0] == pytest.approx(
            np.sqrt(max(square - exact.perf[0] ** 2, 0)), abs=1e-7
        )


def test_its_standing_is_that_of_all_draws() -> None:
    table = lightread("cora").where("depth == 1").top(14, by="latency")
    (trace,) = [run("random", table, 3)]
    row = next(row for row in compare([trace]) if row.strategy == CHANCE)
    reward, perf, (ranks, regrets) = (
        table.column("valid_perf"), table.column("perf"), table.standing("perf"),
    )  # fmt: skip
    chances = np.zeros(14)
    draws = list(itertools.combinations(range(14), 3))
    for drawn in draws:
        best = [i for i in drawn if reward[i] == max(reward[j] for j in drawn)]
        chances[best] += 1 / len(best) / len(draws)
    for name, values in (("perf", perf), ("regret", regrets), ("rank", ranks)):
        assert getattr(row, name) == pytest.approx(chances @ values)
        middle = getattr(row, f"{name}_median")
        assert chances[values <= middle].sum() >= 0.5 > chances[values < middle].sum()
    assert (row.seeds, row.perf_error) == (0, 0.0)


def test_without_test_figures_it_has_no_standing() -> None:
    few = lightread("proteins").top(10)
    table = fail(few, np.ones(10, dtype=bool), ("perf",))
    (row,) = compare([run("random", table, 3)])
    assert (row.strategy, np.isnan(row.perf)) == ("random", True)


def test_searches_come_out_around_it() -> None:
    table = lightread("proteins")
    exact = random_search_exactly(table, 40)
    reports = [run("random", table, 40, seed=seed).report() for seed in range(200)]
    for name, expected in (("perf", exact.perf[0]), ("valid_perf", exact.reward[0])):
        found = [getattr(report, name) for report in reports]
        assert abs(np.mean(found) - expected) < 3.5 * np.std(found) / np.sqrt(200)
    found = [report.perf for report in reports]
    assert np.std(found) == pytest.approx(exact.deviation[0], rel=0.2)


@pytest.fixture(scope="module")
def cora() -> ArchTable:
    return lightread("cora")


def test_cora_by_validation_is_what_was_computed_elsewhere(cora: ArchTable) -> None:
    exact = random_search_exactly(cora, np.array([1, 524, len(cora)]))
    assert exact.perf[0] == pytest.approx(cora.column("perf").mean())
    assert 100 * exact.perf[1] == pytest.approx(80.42, abs=0.005)
    assert 100 * exact.deviation[1] / np.sqrt(5) == pytest.approx(0.56, abs=0.005)
    assert exact.reward[2] == cora.column("valid_perf").max()


def test_impossible_budgets_are_refused(cora: ArchTable) -> None:
    for count in (0, len(cora) + 1):
        with pytest.raises(QueryError, match="draws 1 to 26,206 of the table 'cora'"):
            random_search_exactly(cora, count)
    with pytest.raises(QueryError, match="validation, leaky-test, not for 'lucky'"):
        random_search_exactly(cora, 5, "lucky")
