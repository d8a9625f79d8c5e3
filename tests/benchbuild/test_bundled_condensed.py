"""The bundled tables of condensed graphs: complete, like the paper's, and true when run again."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from benchbuild.datasets import load
from benchbuild.kinds.condense.nodes.payload import StoredGraph
from benchbuild.kinds.condense.nodes.scaling import scaled
from benchbuild.kinds.evaluate.evaluator import GraphEvaluator
from benchquery import CondenseConfig, EvalConfig, condread
from benchquery.kinds.condensed.analysis import is_beginning
from benchquery.kinds.condensed.config import changed_values
from benchquery.kinds.condensed.domains.nodes import METHODS
from benchquery.kinds.condensed.published import mean_accuracy
from benchquery.table.record import Record
from benchquery.table.store import find, verify
from tests.benchbuild.real import real_root
from tests.benchquery.condensing import is_usual, usual

pytestmark = pytest.mark.usefixtures("one_thread")

RATIOS = {"cora": (0.013, 0.026, 0.052), "citeseer": (0.009, 0.018, 0.036)}
LONG = {("gcdm", 0.052), ("gcdm", 0.018), ("gcdm", 0.036)}
"""What takes over two minutes, and so has three seeds instead of five."""


def is_own(row: Record) -> bool:
    """Tell whether a method began with, matched and had what it does by default."""
    text = row["config_text"]
    return not changed_values(text) and is_usual(CondenseConfig.from_text(text))


@pytest.mark.parametrize("dataset", RATIOS)
def test_every_method_is_there_at_every_ratio(dataset: str) -> None:
    assert verify(find(dataset, kind="condensed")).origin == "measured"
    cond = condread(dataset)
    for method in METHODS:
        for ratio in RATIOS[dataset]:
            rows = cond.where(method=method, ratio=ratio, protocol="corrected").records()
            found = [row for row in rows if is_own(row)]
            assert {row["seed"] for row in found} == set(
                range(1, 4 if (method, ratio) in LONG else 6)
            )
            for record in found:
                assert record["status"] == "ok"
                assert record["valid_perf"] > 0.5
                assert record["eval_seeds"] == 3


@pytest.mark.parametrize("method", ["dm", "gcdm"])
def test_frozen_features_explain_the_published_figures(method: str) -> None:
    rows = usual(condread("cora")).where(method=method, ratio=0.026)
    (corrected,) = rows.where(protocol="corrected").mean(over="seed")
    released = next(
        mean
        for mean in condread("cora").where(method=method).mean(over="seed")
        if mean["protocol"] == "as-released"
    )
    figure = mean_accuracy(released)
    assert figure is not None
    # The figure is that of one random sample of nodes; such samples differ by more than a point.
    assert figure.percent == pytest.approx(100 * released["perf"], abs=3)
    assert corrected["perf"] > released["perf"] + 0.03


@pytest.mark.parametrize("dataset", RATIOS)
def test_methods_and_ratios_are_ranked_as_in_the_paper(dataset: str) -> None:
    means = condread(dataset).where(protocol="corrected").mean(over="seed")
    usual = [mean for mean in means if not is_beginning(mean)]
    pairs = [(mean["perf"], figure.mean) for mean in usual if (figure := mean_accuracy(mean))]
    # DM and GCDM do better here: the published code never updates their features.
    assert len(pairs) >= 27
    ours, theirs = np.array(pairs, dtype=float).T
    assert spearmanr(ours, theirs).statistic > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("dataset", RATIOS)
@pytest.mark.parametrize("method", ["k-center", "gcond", "geom"])
def test_a_stored_graph_gives_its_figure_again(dataset: str, method: str) -> None:
    graph = scaled(load(dataset, real_root(dataset)))
    cond = condread(dataset)
    rows = cond.where(method=method, ratio=RATIOS[dataset][1], protocol="corrected").records()
    config = CondenseConfig.from_text(next(row["config_text"] for row in rows if is_own(row)))
    arrays = cond.graph(config)
    stored = StoredGraph.from_arrays(arrays).payload()
    found = GraphEvaluator(graph, torch.device("cpu")).evaluate(stored, EvalConfig(seed=1))
    # Other processors round otherwise, and 600 epochs add that up.
    assert found.perf == pytest.approx(cond[config]["perf_seed1"], abs=0.02)
    assert found.valid_perf == pytest.approx(cond[config]["valid_perf_seed1"], abs=0.02)
