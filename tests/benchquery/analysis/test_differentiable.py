"""Weights of a differentiable search beside the choices of the best architectures."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchquery import lightread, read_weights
from benchquery.analysis import op_frequencies
from benchquery.errors import QueryError, TableKindError, TableNotFoundError
from benchquery.kinds.architectures.arch import NODES, OPS
from benchquery.kinds.weights.analysis import (
    average_weights,
    compare_weights,
    weight_errors,
    weight_rows,
)
from benchquery.kinds.weights.figures import weights as draw
from benchquery.kinds.weights.mixtures import OperationWeights

SEARCHES = (("0000", 0), ("0012", 0), ("0012", 3))


@pytest.fixture(scope="module")
def weights() -> OperationWeights:
    raw = np.random.default_rng(0).random((len(SEARCHES), NODES, len(OPS)))
    return OperationWeights("cora", OPS, SEARCHES, raw / raw.sum(axis=2, keepdims=True))


def test_averages_go_over_all_searches_and_nodes(weights: OperationWeights) -> None:
    means, errors = average_weights(weights), weight_errors(weights)
    assert math.isclose(sum(means.values()), 1)
    for index, op in enumerate(OPS):
        of_searches = [weights.values[s, :, index].mean() for s in range(len(SEARCHES))]
        assert means[op] == pytest.approx(weights.values[:, :, index].mean())
        assert errors[op] == pytest.approx(stats.sem(of_searches))


def test_one_search_has_no_error(weights: OperationWeights) -> None:
    alone = OperationWeights("cora", OPS, SEARCHES[:1], weights.values[:1])
    assert all(math.isnan(error) for error in weight_errors(alone).values())
    assert all(row["error"] is None for row in weight_rows(alone))


def test_a_comparison_has_the_frequencies_and_their_correlations(
    weights: OperationWeights,
) -> None:
    cora = lightread("cora")
    found = compare_weights(weights, cora)
    assert found.top == op_frequencies(cora, 0.05, form="raw")
    assert found.everywhere == pytest.approx(dict.fromkeys(OPS, 1 / 9), abs=2e-4)
    a, b = list(average_weights(weights).values()), list(found.top.values())
    assert found.pearson == pytest.approx(stats.pearsonr(a, b).statistic)
    assert found.spearman == pytest.approx(stats.spearmanr(a, b).statistic)
    expected = stats.pearsonr(a, b).confidence_interval(0.95)
    assert found.pearson_interval == pytest.approx(tuple(expected))
    assert found.spearman_interval[0] < found.spearman < found.spearman_interval[1]
    rows = found.rows()
    assert [row["operation"] for row in rows] == list(OPS)
    assert [row["top 5%"] for row in rows] == b


def test_nodes_on_the_input_and_deeper_ones_can_be_told_apart(weights: OperationWeights) -> None:
    on_input = np.concatenate([weights.values[0], weights.values[1, :2], weights.values[2, :2]])
    deeper = np.concatenate([weights.values[1, 2:], weights.values[2, 2:]])
    for first, nodes in ((True, on_input), (False, deeper)):
        means = average_weights(weights, first=first)
        np.testing.assert_allclose(list(means.values()), nodes.mean(axis=0))
        found = compare_weights(weights, lightread("cora"), first=first)
        assert found.weights == means
        assert found.top == op_frequencies(lightread("cora"), first=first, form="raw")
    alone = OperationWeights("cora", OPS, SEARCHES[:1], weights.values[:1])
    assert all(math.isnan(mean) for mean in average_weights(alone, first=False).values())


def test_weights_that_follow_the_frequencies_agree_wholly() -> None:
    cora = lightread("cora")
    values = np.array(list(op_frequencies(cora, 0.1, form="raw").values()))
    same = OperationWeights("cora", OPS, SEARCHES, np.tile(values, (len(SEARCHES), NODES, 1)))
    found = compare_weights(same, cora, share=0.1)
    assert found.pearson == pytest.approx(1)
    assert found.spearman == pytest.approx(1)


def test_a_space_of_fewer_operations_is_compared_on_those() -> None:
    proteins = lightread("proteins")
    ops = ("gcn", "sage", "arma", "fc", "skip")
    values = np.full((1, NODES, len(ops)), 1 / len(ops))
    values[0, :, 0] += 0.1
    values[0, :, 1] -= 0.1
    found = compare_weights(OperationWeights("proteins", ops, SEARCHES[:1], values), proteins)
    assert tuple(found.top) == ops
    assert sum(found.top.values()) == pytest.approx(1)


def test_the_picture_shows_both(weights: OperationWeights) -> None:
    found = compare_weights(weights, lightread("cora"))
    (axes,) = draw(found).axes
    heights = [bar.get_height() for bar in axes.patches]
    np.testing.assert_allclose(heights, [*found.weights.values(), *found.top.values()])


def test_what_does_not_belong_together_is_refused(weights: OperationWeights) -> None:
    with pytest.raises(QueryError, match=r"'cora'.*'citeseer'"):
        compare_weights(weights, lightread("citeseer"))
    with pytest.raises(QueryError, match="2 searches"):
        OperationWeights("cora", OPS, SEARCHES[:2], weights.values)
    with pytest.raises(QueryError, match="ended well"):
        OperationWeights("cora", OPS, (), weights.values[:0])


def test_other_folders_are_refused(tmp_path: Path, built: Path) -> None:
    with pytest.raises(TableNotFoundError, match="nothing"):
        read_weights(tmp_path / "nothing")
    with pytest.raises(
        TableKindError, match=r"of architectures, not of operation weights.*lightread"
    ):
        read_weights(built)
