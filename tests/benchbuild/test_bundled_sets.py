"""The bundled tables of condensed sets of graphs: complete, and true when a set is judged again."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from benchbuild.datasets.registry import load_graphs
from benchbuild.kinds.condense.forms import payload_type
from benchbuild.kinds.condense.graphs.costs import method_seconds
from benchbuild.kinds.evaluate.graphs.evaluator import GraphSetEvaluator
from benchquery import CondenseConfig, EvalConfig, condread
from benchquery.kinds.condensed.domains.graphs import METHODS
from benchquery.kinds.condensed.published import whole_accuracy
from benchquery.table.store import find, verify
from tests.benchbuild.real import real_root

pytestmark = pytest.mark.usefixtures("one_thread")

DATASETS = ("nci1", "molbace", "molbbbp")
SIZES = (1, 10, 50)


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_method_is_there_with_its_controls(dataset: str) -> None:
    assert verify(find(dataset, kind="condensed")).origin == "measured"
    cond = condread(dataset)
    for method, spec in METHODS.items():
        for size in SIZES:
            config = CondenseConfig(dataset, method, per_class=size, seed=1)
            for row in cond.evaluations(config).records():
                assert (row["status"], row["eval_seeds"]) == ("ok", 3)
                assert np.isfinite(row["gain_over_random"])
                learns = spec.family in ("gradient", "kernel")
                assert np.isfinite(row["gain_over_init"]) == learns
                assert 0 < row["share_dense"] < 1
                # Learnt features are fractions, which take more room than small whole numbers do.
                assert row["share_compact"] > 0
    assert 0 not in cond.column("seed")


@pytest.mark.parametrize("dataset", DATASETS)
def test_predicted_times_are_near_those_that_the_methods_took(dataset: str) -> None:
    took: dict[str, list[float]] = {}
    for row in condread(dataset).where(protocol="corrected").records():
        config = CondenseConfig.from_text(row["config_text"])
        if (predicted := method_seconds(config)) > 0:
            took.setdefault(config.method, []).append(row["condense_time"] / predicted)
    ratios = {method: float(np.median(found)) for method, found in took.items()}
    assert set(ratios) == {*METHODS} - {"random"}
    assert all(1 / 3 < ratio < 3 for ratio in ratios.values()), ratios


CHOSEN = ("random", "herding", "k-center")
CHEAP = {
    "dd": {*product(CHOSEN, (1, 10)), *product(("mirage",), (1, 5, 10, 20, 50))},
    "molhiv": set(product((*CHOSEN, "mirage"), (1, 10))),
}


@pytest.mark.parametrize("dataset", CHEAP)
def test_large_sets_have_what_is_cheap(dataset: str) -> None:
    assert verify(find(dataset, kind="condensed")).origin == "measured"
    rows = condread(dataset).records()
    assert {(row["status"], row["eval_seeds"], row["seed"]) for row in rows} == {("ok", 1, 1)}
    assert all(np.isnan(row["full_perf"]) for row in rows)
    beside_random = [row for row in rows if row["per_class"] in (1, 10)]
    assert all(np.isfinite(row["gain_over_random"]) for row in beside_random)
    for model in ("gcn", "gin"):
        judged = {(row["method"], row["per_class"]) for row in rows if row["model"] == model}
        assert judged == CHEAP[dataset]


def test_the_number_of_atoms_alone_tells_molecules_of_molbace_apart() -> None:
    data = load_graphs("molbace", real_root("molbace"))
    test = data.graphs.select(data.test)
    assert roc_auc_score(test.y, test.sizes) == pytest.approx(0.768, abs=5e-4)


def test_the_whole_set_gives_what_the_paper_prints() -> None:
    usual = {"method": "random", "per_class": 1, "seed": 1, "protocol": "corrected"}
    for row in condread("nci1").where(**usual).records():
        printed = whole_accuracy("nci1", row["model"], row["task"])
        assert printed is not None
        assert 100 * row["full_perf"] == pytest.approx(printed.percent, abs=2)


@pytest.mark.parametrize("method", ["herding", "kidd-lr", "doscond", "mirage"])
def test_a_stored_set_gives_its_figure_again(method: str) -> None:
    data = load_graphs("nci1", real_root("nci1"))
    cond = condread("nci1")
    config = CondenseConfig("nci1", method, per_class=10, seed=1)
    number = config.valid_hash()
    stored = payload_type(cond.graphs.form(number)).from_arrays(cond.graph(number))
    judged = EvalConfig("graph-classification", "gcn", seed=1)
    found = GraphSetEvaluator(data, torch.device("cpu")).evaluate(stored.payload(), judged)
    # Other processors round otherwise, and 100 epochs add that up.
    assert found.perf == pytest.approx(cond[config]["perf_seed1"], abs=0.03)
    assert found.valid_perf == pytest.approx(cond[config]["valid_perf_seed1"], abs=0.03)
