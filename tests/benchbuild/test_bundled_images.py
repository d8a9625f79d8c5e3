"""The bundled tables of condensed images: complete, and true when a set is judged again."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchbuild.datasets import load_images
from benchbuild.kinds.condense.images.payload import StoredImages
from benchbuild.kinds.evaluate.images.evaluator import ImageEvaluator
from benchquery import EvalConfig, condread
from benchquery.kinds.cells.analysis import FAMILY
from benchquery.kinds.cells.cell import sample_cells
from benchquery.kinds.condensed.analysis import is_beginning, usual_means
from benchquery.kinds.condensed.config import changed_values
from benchquery.table.store import find, verify

pytestmark = pytest.mark.usefixtures("one_thread")

SHOWN = {
    "digits": {"random", "k-center", "dc", "dsa", "dm", "kip", "tm"},
    "fashion-mnist": {"random", "k-center", "dc", "dsa", "dm", "kip", "tm"},
    "cifar10-jpeg": {"random", "k-center", "dc", "dsa", "dm"},
}

FIGURES = ("valid_perf", "perf", "last_perf", "full_perf", "gain_over_random")


@pytest.mark.parametrize("dataset", SHOWN)
def test_every_method_is_there_beside_random_images(dataset: str) -> None:
    assert verify(find(dataset, kind="condensed")).origin == "measured"
    cond = condread(dataset)
    assert cond.dataset.startswith(dataset)
    for size in (1, 10):
        rows = cond.where(per_class=size, model="convnet")
        assert SHOWN[dataset] <= set(rows.column("method").tolist())
        for row in rows.records():
            assert (row["status"], row["items"], row["eval_seeds"]) == ("ok", 10 * size, 2)
            assert np.isfinite([row["gain_over_random"], row["last_perf"]]).all()
    assert 0 not in cond.column("seed")


@pytest.mark.parametrize("dataset", SHOWN)
def test_what_a_method_begins_with_does_not_stand_for_it(dataset: str) -> None:
    means = usual_means(condread(dataset))
    assert SHOWN[dataset] == set(means)
    assert not any(is_beginning(mean) for sizes in means.values() for mean in sizes)


def test_the_same_architectures_judge_every_condensed_set() -> None:
    cells = condread("cifar10-jpeg-condensed-cells")
    sample = {f"{FAMILY}{cell.text}" for cell in sample_cells(30, 0)}
    for method in SHOWN["cifar10-jpeg"]:
        rows = cells.where(method=method, per_class=10, seed=1)
        assert sorted(rows.column("model").tolist()) == sorted(sample)
        assert np.isfinite([rows.column(name) for name in FIGURES]).all()


def test_longer_trainings_are_of_the_same_sets() -> None:
    longer = condread("digits-condensed-longer")
    assert set(longer.column("config").tolist()) <= set(condread("digits").column("config"))
    assert np.isfinite([longer.column(name) for name in FIGURES]).all()


@pytest.mark.parametrize("method", ["k-center", "dm", "kip"])
def test_a_stored_set_gives_its_figure_again(method: str) -> None:
    cond = condread("digits")
    row = cond.where(method=method, per_class=1, seed=1).records()[0]
    stored = StoredImages.from_arrays(cond.graph(row["config"]))
    judged = EvalConfig(row["task"], "convnet", seed=1, **changed_values(row["evaluation_text"]))
    evaluator = ImageEvaluator(load_images("digits"), torch.device("cpu"))
    found = evaluator.evaluate(stored.payload(), judged)
    # Other processors round otherwise, and 60 epochs add that up.
    assert found.perf == pytest.approx(row["perf_seed1"], abs=0.03)
    assert found.valid_perf == pytest.approx(row["valid_perf_seed1"], abs=0.03)
