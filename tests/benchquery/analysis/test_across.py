"""Analyses of several tables, and hills that survive noise, against definitions by brute force."""

from __future__ import annotations

import heapq
import itertools
import json

import numpy as np
import pandas as pd
import pytest

from benchquery import ArchTable, get_space, lightread
from benchquery.analysis import (
    common_fronts,
    dataset_map,
    generalists,
    indistinct,
    landscape,
    noise,
)
from benchquery.cli import main
from benchquery.errors import QueryError
from benchquery.kinds.architectures.analysis.datasets import _scaled
from benchquery.kinds.architectures.analysis.landscape import _kept, neighbour_pairs
from tests.benchquery.conftest import DATASETS

EIGHT = [name for name in DATASETS if name != "proteins"]


@pytest.fixture(scope="module")
def nine() -> dict[str, ArchTable]:
    return {name: lightread(name) for name in DATASETS}


@pytest.fixture(scope="module")
def frame(nine: dict[str, ArchTable]) -> pd.DataFrame:
    """The test figure of every architecture on every dataset; equal but for rounding is equal."""
    return pd.DataFrame({name: nine[name].frame()["perf"] for name in DATASETS}).round(10)


def depth(values: list[float], near: list[list[int]], top: int) -> float:
    """Go down as little as possible until it is higher than at the start."""
    lowest = {top: values[top]}
    queue = [(-values[top], top)]
    while queue:
        passed, place = heapq.heappop(queue)
        if values[place] > values[top]:
            return values[top] + passed
        for other in near[place]:
            reached = min(-passed, values[other])
            if reached > lowest.get(other, -1.0):
                lowest[other] = reached
                heapq.heappush(queue, (-reached, other))
    return np.inf


def test_the_depth_of_a_hill_is_the_least_way_down(nine: dict[str, ArchTable]) -> None:
    space, found = get_space("proteins"), landscape(nine["proteins"])
    values = nine["proteins"].lookup(space.hashes, "perf").tolist()
    near: list[list[int]] = [[] for _ in space]
    for first, second in zip(*neighbour_pairs("proteins"), strict=True):
        near[first].append(int(second))
    expected = [depth(values, near, int(top)) for top in found.local_optima]
    assert found.depths.tolist() == pytest.approx(expected)
    assert np.isinf(found.depths).sum() == 1
    with pytest.raises(QueryError, match="how large noise is in 'perf' is not known"):
        _ = found.surviving


def test_where_climbs_end_is_judged_by_rank_and_regret(nine: dict[str, ArchTable]) -> None:
    cora = nine["cora"]
    found, measured = landscape(cora), noise(cora)
    reached = get_space("full").hashes[found.ends].tolist()
    ranks, regrets = cora.standing("perf")
    rows = {int(number): row for row, number in enumerate(cora.hashes)}
    places = [rows[number] for number in reached]
    assert found.end_ranks.tolist() == ranks[places].tolist()
    np.testing.assert_allclose(found.end_regrets, regrets[places], atol=1e-12)
    assert found.margin == measured.margin
    assert set(found.surviving) < set(found.local_optima)
    assert found.depths[np.isin(found.local_optima, found.surviving)].min() > measured.margin
    assert 0 < found.kept < 1
    values = cora.lookup(get_space("full").hashes, "perf").round(12)
    first, second = neighbour_pairs("full")
    optima = (np.bincount(first, values[second] > values[first], len(values)) == 0).sum()
    assert optima == len(found.local_optima)
    assert _kept(np.arange(5.0), 1e-9, np.array([0, 1]), np.array([1, 0])) == 1.0


def test_the_set_that_can_not_be_told_from_the_best(nine: dict[str, ArchTable]) -> None:
    found = noise(nine["cora"])
    rows = indistinct(nine["cora"]).rows()
    assert [row["hash"] for row in rows] == found.indistinct.tolist()
    assert all(row["perf"] >= found.best - found.margin for row in rows)
    assert all(row["again_low"] <= row["again"] <= row["again_high"] for row in rows)
    assert rows[0]["again"] == found.again


def test_places_in_a_plane_are_found_again() -> None:
    points = np.random.default_rng(0).standard_normal((7, 2))
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    places, shown = _scaled(squares)
    assert ((places[:, None] - places) ** 2).sum(axis=2) == pytest.approx(squares)
    assert shown == pytest.approx(1)


def test_the_map_is_of_pandas_correlations(nine: dict[str, ArchTable], frame: pd.DataFrame) -> None:
    found = dataset_map(nine)
    assert found.correlation == pytest.approx(frame.corr("spearman").to_numpy())
    members = {
        frozenset(name for name, group in zip(found.names, found.groups, strict=True) if group == n)
        for n in set(found.groups.tolist())
    }
    assert members == {
        frozenset(("cora", "citeseer", "pubmed")), frozenset(("cs", "physics")),
        frozenset(("photo", "computers", "arxiv")), frozenset(("proteins",)),
    }  # fmt: skip
    for one, other in itertools.combinations(members, 2):
        assert frame.corr("spearman").loc[list(one), list(other)].to_numpy().mean() < found.least
    assert dataset_map({name: nine[name] for name in EIGHT[:2]}).explained == pytest.approx(1)
    with pytest.raises(QueryError, match="at least 2 tables, not 1"):
        dataset_map({"cora": nine["cora"]})
    with pytest.raises(QueryError, match="between -1 and 1, not 3"):
        dataset_map(nine, least=3)


def test_generalists_are_pandas_least_ranks(
    nine: dict[str, ArchTable], frame: pd.DataFrame
) -> None:
    found = generalists({name: nine[name] for name in EIGHT})
    beaten = (frame[EIGHT].rank() - 1) / (len(frame) - 1)
    np.testing.assert_allclose(found.beaten, beaten.loc[found.hashes].to_numpy(), atol=1e-12)
    worst = found.beaten.min(axis=1)
    assert (np.diff(worst) <= 0).all()
    # An independent computation: one architecture is above the 90th percentile on all eight.
    assert found.hashes[worst > 0.9].tolist() == [30341]
    assert len(generalists(nine).hashes) == len(nine["proteins"])
    with pytest.raises(QueryError, match="at least 2 tables, not 1"):
        generalists({"cora": nine["cora"]})


def test_chance_is_that_of_rankings_without_a_relation(nine: dict[str, ArchTable]) -> None:
    found = generalists({name: nine[name] for name in ("cora", "cs", "arxiv", "photo")})
    rng = np.random.default_rng(0)
    best = [rng.random((len(found.hashes), 4)).min(axis=1).max() for _ in range(50)]
    assert np.mean(best) == pytest.approx(found.by_chance, abs=0.01)


def test_common_fronts_are_the_fronts(nine: dict[str, ArchTable]) -> None:
    found = common_fronts(nine)
    for column, table in zip(found.on.T, nine.values(), strict=True):
        front = set(table.pareto("perf", "latency").hashes.tolist())
        assert {number for number, on in zip(found.hashes, column, strict=True) if on} == front
    # An independent computation: 13 of 119 are on two or more.
    assert (len(found.hashes), len(found.rows())) == (119, 13)


def test_the_commands_print_them(capsys: pytest.CaptureFixture[str]) -> None:
    asked = {
        ("analyse", "landscape", "proteins"): 10,
        ("across", "map", "cora", "citeseer", "pubmed"): 3,
        ("across", "generalists", "cora", "citeseer", "--by", "valid"): 10,
        ("across", "fronts", "cora", "citeseer"): 4,
    }
    for (command, analysis, *rest), rows in asked.items():
        words = [*rest, analysis] if command == "analyse" else [analysis, *rest]
        assert main([command, *words, "--json"]) == 0
        assert len(json.loads(capsys.readouterr().out)) == rows
    assert main(["across", "map", "cora", "cora"]) == 2
    assert "the table cora is given twice" in capsys.readouterr().err
    assert main(["across", "mop", "cora", "cs"]) == 2
    assert "did you mean 'map'? allowed: map, generalists, fronts" in capsys.readouterr().err
