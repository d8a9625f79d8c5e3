"""Evaluation of condensed images: figures are those of a plain loop, and the command line's."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.compute.devices import reproducible
from benchbuild.datasets import load_images
from benchbuild.datasets.images.image_set import ImageSet
from benchbuild.errors import ArchitectureError, EvaluationError
from benchbuild.kinds.condense.images.networks import ConvNet
from benchbuild.kinds.condense.images.payload import CondensedImages
from benchbuild.kinds.condense.loading import load
from benchbuild.kinds.evaluate.images.evaluator import ImageEvaluator
from benchbuild.kinds.evaluate.images.networks import make_network
from benchquery import condread
from benchquery.analysis import search_agreement
from benchquery.cli import main as benchquery
from benchquery.kinds.cells.cell import sample_cells
from benchquery.kinds.condensed.analysis import by_named_models
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig
from benchquery.table.schema import curve_index
from benchquery.table.store import open_table
from benchquery.testing.tables import check_table
from tests.benchbuild.runs import benchbuild
from tests.benchquery.cell_tables import made_up_rows, write_csv

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")
DIGITS = "digits:train=200,valid=40,test=40"
TASK = "image-classification"


def data() -> ImageSet:
    return load_images(DIGITS)


def evaluation(model: str = "convnet", **changed: Any) -> EvalConfig:
    own = {"width": 4} if model in ("convnet", "mlp") else {}
    small = {"epochs": 5, "tried_every": 2, "full_epochs": 2, "batch": 16, **own}
    return EvalConfig(TASK, model, **{**small, **changed})


def some(count: int = 40) -> CondensedImages:
    images = data()
    chosen = images.train_index[:count]
    return CondensedImages(images.normalised(chosen), images.y[chosen], images.mean, images.std)


# ------------------------------------------------------------------------------------ a plain loop


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("soft", [False, True])
def test_figures_are_those_of_a_plain_loop(optimizer: str, soft: bool) -> None:
    images, payload, epochs = data(), some(), 5
    if soft:
        smooth = 0.9 * functional.one_hot(payload.y, 10) + 0.01
        payload = dataclasses.replace(payload, y=smooth)
    settings = evaluation(optimizer=optimizer, lr=0.05, decay="half", batch=20)
    found = ImageEvaluator(images, CPU).evaluate(payload, settings)
    expected: dict[int, tuple[float, float]] = {}
    with reproducible(CPU, 0, threads=1):
        network = ConvNet(images.shape, 10, width=4)
        ours: torch.optim.Optimizer = torch.optim.Adam(
            network.parameters(), lr=0.05, weight_decay=5e-4
        )
        if optimizer == "sgd":
            ours = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
        generator = torch.Generator().manual_seed(0)
        for epoch in range(epochs):
            if epoch == 2:
                ours.param_groups[0]["lr"] = 0.005
            order = torch.randperm(40, generator=generator)
            for chosen in (order[:20], order[20:]):
                ours.zero_grad()
                loss = functional.cross_entropy(network(payload.x[chosen]), payload.y[chosen])
                torch.autograd.backward(loss)
                ours.step()
            if epoch in (1, 3, 4):
                expected[epoch] = (
                    right(network, images, images.valid_index),
                    right(network, images, images.test_index),
                )
    assert np.flatnonzero(~np.isnan(found.curve).all(axis=1)).tolist() == [1, 3, 4]
    for epoch, pair in expected.items():
        measured = found.curve[epoch, [curve_index("valid_perf"), curve_index("test_perf")]]
        assert tuple(measured) == pytest.approx(pair, abs=1e-6)
    best = max(expected, key=lambda epoch: (expected[epoch][0], -epoch))
    assert (found.best_epoch, found.valid_perf, found.perf) == (best, *expected[best])
    assert found.status == "ok"


@torch.no_grad()
def right(network: ConvNet, images: ImageSet, index: Tensor) -> float:
    guessed = network(images.normalised(index)).argmax(dim=1)
    return float((guessed == images.y[index]).double().mean())


def test_the_judge_sees_no_test_image() -> None:
    images = data()
    pixels, y = images.pixels.clone(), images.y.clone()
    pixels[images.test_index] = 255 - pixels[images.test_index]
    y[images.test_index] = (y[images.test_index] + 1) % 10
    other = dataclasses.replace(images, pixels=pixels, y=y)
    first, second = (ImageEvaluator(one, CPU) for one in (images, other))
    settings = evaluation(lr=0.1)
    assert first.judge(some(), settings) == second.judge(some(), settings)
    tested = [
        one.evaluate(some(), settings).curve[-1, curve_index("test_loss")]
        for one in (first, second)
    ]
    assert tested[0] != tested[1]


@pytest.mark.parametrize("augmentation", ["imagenet", "dsa", "autoaugment", "randaugment"])
def test_augmentation_changes_what_is_learnt_and_draws_differ(augmentation: str) -> None:
    evaluator = ImageEvaluator(data(), CPU)
    losses = {
        name: evaluator.evaluate(some(), evaluation(**changed)).curve[-1, curve_index("train_loss")]
        for name, changed in {
            "none": {},
            "batch": {"augmentation": augmentation},
            "image": {"augmentation": augmentation, "draws": "per-image"},
            "again": {"augmentation": augmentation, "draws": "per-image"},
        }.items()
    }
    assert len({losses["none"], losses["batch"], losses["image"]}) == 3
    assert losses["image"] == losses["again"]


@pytest.mark.parametrize("model", ["mlp", "vit"])
def test_other_networks_learn(model: str) -> None:
    found = ImageEvaluator(data(), CPU).evaluate(some(), evaluation(model, epochs=2))
    assert found.status == "ok"
    assert 0 <= found.perf <= 1


def test_training_that_diverges_says_so() -> None:
    found = ImageEvaluator(data(), CPU).evaluate(some(), evaluation(lr=1e6, epochs=20))
    assert found.status == "diverged"
    assert "was not finite in epoch" in found.reason


def test_the_whole_set_is_trained_on_unless_it_is_too_large() -> None:
    evaluator = ImageEvaluator(data(), CPU)
    whole = evaluator.full(evaluation(lr=0.1, full_epochs=12, width=16, depth=2))
    assert whole.perf > 0.5
    assert len(whole.curve) == 12
    none = evaluator.full(evaluation(full_images=199))
    assert math.isnan(none.perf)
    assert none.status == "ok"


# --------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"x": torch.zeros(40, 3, 8, 8)}, r"images of the shape \(3, 8, 8\); those of digits"),
        ({"x": torch.zeros(0, 1, 8, 8)}, "no images to learn on"),
        ({"y": torch.full((40,), 10)}, "go from 0 to 9"),
        ({"y": torch.full((40, 3), 0.3)}, "probabilities of 3 classes"),
    ],
)
def test_other_images_are_refused(changed: dict[str, Tensor], told: str) -> None:
    with pytest.raises(EvaluationError, match=told):
        ImageEvaluator(data(), CPU).evaluate(dataclasses.replace(some(), **changed), evaluation())


def test_networks_that_there_are_not_are_refused() -> None:
    with pytest.raises(EvaluationError, match="can't take images of 8 x 8"):
        ImageEvaluator(data(), CPU).evaluate(some(), evaluation(depth=5))
    with pytest.raises(ArchitectureError, match=r"the depth of mlp can't be chosen; .*: width"):
        make_network("mlp", (1, 8, 8), 10, depth=2)
    with pytest.raises(EvaluationError, match="can't be tried on a set of images"):
        ImageEvaluator(data(), CPU).judge(some(), EvalConfig())
    with pytest.raises(EvaluationError, match="sets of images have none"):
        ImageEvaluator(data(), CPU).diagnose("gntk", some())


# -------------------------------------------------------------------------------- the command line

QUICK = ("epochs=4", "full_epochs=1", "width=4", "tried_every=2")


def condense(out: Path, *args: str) -> int:
    judged = [part for hp in QUICK for part in ("--eval-hp", hp)]
    return benchbuild(
        *("condense", "--dataset", DIGITS, "--per-class", "1", "--eval-seeds", "2"),
        *(*judged, "--out", out, *args),
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        assert condense(folder / "chosen", "--method", "random,k-center", "--seed", "0,1") == 0
        hp = [part for one in ("epochs=4", "width=4", "evaluate_every=2") for part in ("--hp", one)]
        assert condense(folder / "made", "--method", "dm", *hp) == 0
    target = folder / "tables" / "digits"
    assert benchbuild("merge", folder / "chosen", folder / "made", "--out", target) == 0
    return target


def test_a_run_on_images_becomes_a_table(table: Path) -> None:
    assert benchbuild("verify", table) == 0
    check_table(table)
    opened = condread(table)
    assert opened.domain.name == "images"
    assert len(opened) == 5
    dm = CondenseConfig(DIGITS, "dm", per_class=1, epochs=4, width=4, evaluate_every=2)
    record = opened[dm]
    assert record["items"] == 10
    assert "nodes" not in record
    random = opened.where(method="random").column("perf")
    assert record["gain_over_random"] == pytest.approx(record["perf"] - random.mean())
    assert opened.trace(dm)["epoch"].tolist() == [0, 2, 4]
    curves = opened.seed_curves(dm)[1]
    last = [curve[~np.isnan(curve).all(axis=1)][-1, curve_index("test_perf")] for curve in curves]
    assert record["last_perf"] == pytest.approx(np.mean(last))
    assert record["iteration_time"] == record["condense_time"] / 4
    assert np.isnan(opened.where(method="k-center").column("iteration_time")).all()
    images = load(dm, table.parent)
    assert len(images) == 10
    settings = EvalConfig.from_text(record["evaluation_text"]).replace(seed=1)
    arrays = opened.graph(dm)
    again = CondensedImages(*(torch.tensor(arrays[name]) for name in ("x", "y", "mean", "std")))
    again = dataclasses.replace(again, x=again.x.float())
    assert ImageEvaluator(data(), CPU).evaluate(again, settings).perf == record["perf_seed1"]


def test_a_table_of_images_is_compared_and_drawn(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--source", str(table.parent))
    assert not benchquery(["condensed", "compare", DIGITS, *where, "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert {row["method"] for row in rows} == {"whole", "random", "k-center", "dm"}
    for picture in ("images", "curve", "trace", "ratios"):
        out = tmp_path / f"{picture}.png"
        assert not benchquery(["plot", "digits", picture, *where, "-o", str(out)])
        assert out.stat().st_size > 5_000
    assert not benchquery(["report", "digits", *where, "-o", str(tmp_path / "report.html")])
    (section,) = re.findall(
        r"<h2>Images</h2>(.*?)<h2>", (tmp_path / "report.html").read_text(), re.S
    )
    assert section.count("data:image/png") == 10
    drawn = condread(table).plot.images(CondenseConfig(DIGITS, "random", per_class=1))
    shown = [axes.images[0].get_array() for axes in drawn.axes]
    pixels = condread(table).graph(CondenseConfig(DIGITS, "random", per_class=1))["x"] / 255
    assert np.allclose(np.stack(shown), pixels[:, 0], atol=1e-6)


def test_cell_networks_judge_a_table_and_are_held_against_theirs(
    table: Path, tmp_path: Path
) -> None:
    """A run that is killed after a job goes on; figures are those of the evaluator itself."""
    asked = ("evaluate", table, "--models", "nas-bench-201", "--sample", "3", "--sample-seed", "1")
    quick = ("epochs=2", "width=2", "full_images=1", "batch=16")
    options = [word for setting in quick for word in ("--eval-hp", setting)]
    run, out = tmp_path / "run", tmp_path / "judged"
    shared = (*asked, "--eval-preset", "dc-bench-nas", *options, "--seeds", "1", "--out", run)
    assert benchbuild(*shared) == 0
    assert benchbuild(*shared) == 0
    assert benchbuild("merge", run, "--out", out) == 0
    judged = condread(out)
    cells = [f"nas-bench-201:{cell}" for cell in sample_cells(3, seed=1)]
    assert set(judged.column("model")) == {"convnet", *cells}
    row = judged.where(model=cells[0]).records()[0]
    settings = EvalConfig(
        TASK, cells[0], epochs=2, width=2, depth=1, full_images=1, batch=16, seed=0
    )
    arrays = judged.graph(row["config"])
    kept = CondensedImages(*(torch.tensor(arrays[name]) for name in ("x", "y", "mean", "std")))
    kept = dataclasses.replace(kept, x=kept.x.float())
    assert ImageEvaluator(data(), CPU).evaluate(kept, settings).perf == row["perf_seed0"]
    named = by_named_models(judged)
    assert set(named.column("model")) == {"convnet"}
    rows = made_up_rows()
    file = write_csv(tmp_path / "cells.csv", rows)
    found = search_agreement(judged, open_table(file, kind="cells"), "cifar10")
    assert {one["architectures"] for one in found} == {3}
    assert math.isnan(row["full_perf"])
    assert row["reason_seed0"] == (
        "no network was trained on the whole set: its 200 training images are more than "
        "full_images=1"
    )
    assert {one["config"] for one in found} == set(judged)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--models", "nas-bench-201", "--sample", "0"), "--sample 0: there are 1 to 15,625"),
        (("--models", "nas-bench-201:|none~0|"), "it has 1 groups, not 3"),
        (("--models", "nas-bench-101"), "nas-bench-201:ARCHITECTURE"),
    ],
)
def test_networks_that_are_none_are_refused(
    table: Path, options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benchbuild("evaluate", table, *options, "--dry-run") == 2
    assert said in capsys.readouterr().err


def test_more_of_a_class_than_there_are_is_a_row_that_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("condense", "--dataset", DIGITS, "--method", "random", "--per-class", "300")
    assert benchbuild(*asked, "--eval-hp", "epochs=2", "--out", tmp_path / "run") != 0
    said = capsys.readouterr()
    assert "300 images of each class are asked for" in said.out + said.err
