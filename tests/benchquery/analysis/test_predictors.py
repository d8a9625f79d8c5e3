"""The benchmark of predictors: its splits, its judge, and gradients against differences."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from benchquery import ArchTable, lightread
from benchquery.analysis import benchmark_predictors
from benchquery.cli import main
from benchquery.errors import QueryError, UnknownNameError
from benchquery.kinds.architectures.analysis.graph_network import GraphNetwork, _graphs
from benchquery.kinds.architectures.analysis.predictors import PREDICTORS, split


@pytest.fixture(scope="module")
def proteins() -> ArchTable:
    return lightread("proteins")


def test_splits_are_fixed_and_apart(proteins: ArchTable) -> None:
    few, rest = split(proteins, 50, 0)
    assert len(set(few)) == 50
    assert sorted([*few, *rest]) == sorted(proteins)
    assert few[:5].tolist() == [47544, 65485, 78711, 41544, 84711]
    assert split(lightread("cora"), 50, 3)[0].tolist() == split(lightread("cs"), 50, 3)[0].tolist()
    for size in (1, len(proteins)):
        with pytest.raises(QueryError, match="learns 2 to 2,020 architectures"):
            split(proteins, size, 0)


def test_gradients_are_those_of_small_differences(proteins: ArchTable) -> None:
    network, rng = GraphNetwork(1), np.random.default_rng(0)
    kinds, edges = _graphs(proteins.hashes[:40])
    target = rng.standard_normal(40)

    def loss() -> float:
        pooled = network._forward(kinds, edges)[-1]
        return float(np.square((pooled @ network._weights[2])[:, 0] - target).mean() / 2)

    for weight, gradient in zip(
        network._weights, network._gradients(kinds, edges, target), strict=True
    ):
        for _ in range(5):
            place = tuple(rng.integers(0, weight.shape))
            ends = []
            for shift in (1e-6, -1e-6):
                weight[place] += shift
                ends.append(loss())
                weight[place] -= shift
            assert gradient[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("name", PREDICTORS)
def test_every_predictor_learns_and_is_judged_by_scipy(name: str, proteins: ArchTable) -> None:
    found = benchmark_predictors({"p": proteins}, predictors=[name], sizes=(100,), seeds=1)
    few, rest = split(proteins, 100, 0)
    rank = PREDICTORS[name](few, proteins.lookup(few, "valid_perf"), "adjacency", 0)
    truth = proteins.lookup(rest, "valid_perf").round(12)
    expected = stats.kendalltau(rank(rest), truth).statistic
    assert found.taus[name, "p", "p"][0, 0] == pytest.approx(expected)
    assert expected > 0.4


def test_nothing_is_learnt_from_noise(proteins: ArchTable) -> None:
    few, rest = split(proteins, 200, 0)
    noise = np.random.default_rng(0).standard_normal(200)
    for learn in PREDICTORS.values():
        ranked = learn(few, noise, "one-hot", 0)(rest)
        assert abs(stats.kendalltau(ranked, proteins.lookup(rest, "perf")).statistic) < 0.2


def test_transfer_judges_only_what_was_not_learnt(proteins: ArchTable) -> None:
    built = lightread("cora-built")
    found = benchmark_predictors(
        {"built": built, "p": proteins}, predictors=["ridge"], sizes=(50,), seeds=2
    )
    few, _ = split(built, 50, 1)
    rest = np.setdiff1d(proteins.hashes, few)
    rank = PREDICTORS["ridge"](few, built.lookup(few, "valid_perf"), "adjacency", 1)
    expected = stats.kendalltau(rank(rest), proteins.lookup(rest, "valid_perf").round(12)).statistic
    assert found.taus["ridge", "built", "p"][0, 1] == pytest.approx(expected)


def test_the_command_prints_a_row_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["predictors", "proteins", "--seeds", "1", "--predictors", "ridge"]
    assert main([*asked, "--encoding", "path", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert [name for name in row if name.isdigit()] == ["50", "100", "200", "400"]
    assert row["400"] > row["50"]
    assert main([*asked[:-1], "oracle"]) == 2
    assert "unknown predictor 'oracle'; allowed: ridge, trees, graph" in capsys.readouterr().err
    assert main([*asked, "--seeds", "0"]) == 2
    with pytest.raises(UnknownNameError, match="unknown encoding 'hex'"):
        benchmark_predictors({"p": lightread("proteins")}, encoding="hex", sizes=(50,))
