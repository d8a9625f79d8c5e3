"""Several seeds of an architecture trained as one computation: the figures of each alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchbuild import api
from benchbuild.cli import main
from benchbuild.compute.loop import CHECK_EVERY
from benchbuild.datasets import Graph, load
from benchbuild.engines.base import Refusal, open_context, run_jobs
from benchbuild.errors import PlanError
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.kind import TrainContext, train_run
from benchbuild.kinds.train.network.cell import CellNetwork, build_network
from benchbuild.kinds.train.records import TrainKey, TrainRecord
from benchbuild.kinds.train.training import TrainResult, train, train_together, trainer
from benchbuild.pipeline.jobs import Place
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.testing.everything import HP
from benchbuild.testing.gpu import PretendGpu
from benchbuild.testing.methods import SMALL
from benchquery.kinds.architectures.arch import OPS, Arch
from tests.benchbuild.test_capture import sparse, tasks

pytestmark = pytest.mark.usefixtures("one_thread")

SEEDS = (0, 3, 5)
KIND = kind_of("train")
LINKS = ([0, 1, 1, 2], [0, 0, 1, 2])
"""Both begin with the raw features, where no layer is before the cell."""


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Return a small graph of dense features."""
    return load(SMALL["nodes"]["dataset"])


def assert_same(together: Sequence[TrainResult], alone: Sequence[TrainResult]) -> None:
    """Compare all that does not hang on the clock, bit by bit."""
    for one, other in zip(together, alone, strict=True):
        assert (one.seed, one.status, one.reason) == (other.seed, other.status, other.reason)
        np.testing.assert_array_equal(one.curves, other.curves)
        assert (one.best_epoch, one.params) == (other.best_epoch, other.params)
    assert len({one.curves.tobytes() for one in together}) == len(together)


def check(arch: Arch, graph: Graph, hp: HyperParameters) -> list[TrainResult]:
    """Compare trainings at once with the same ones alone."""
    together = train_together(arch, graph, hp, SEEDS)
    assert_same(together, [train(arch, graph, hp, seed) for seed in SEEDS])
    return together


@pytest.mark.parametrize("op", [op for op in OPS if op != "skip"])
def test_each_training_has_the_figures_that_it_has_alone(op: str, graph: Graph) -> None:
    for link, data in zip(LINKS, (graph, load("karate")), strict=True):
        found = check(Arch(link, [op, "skip", op, "fc"]), data, HP.override(epochs=3))
        assert all(one.ok for one in found)


@pytest.mark.parametrize(
    "changes",
    [{"pre": 1}, {"post": 0}, {"dropout": 0.0}, {"optimizer": "sgd"}, {"hidden": 48, "heads": 4}],
    ids=str,
)
def test_so_it_has_with_other_hyper_parameters(changes: dict[str, object], graph: Graph) -> None:
    hp = HP.override(epochs=3, **changes)
    for data in (graph, sparse(graph)):
        check(Arch([0, 1, 1, 2], ["gcn", "skip", "gat", "arma"]), data, hp)


def test_so_it_has_where_the_metric_is_the_area_under_the_curve(graph: Graph) -> None:
    check(Arch([0, 1, 1, 2], ["sage", "skip", "gin", "fc"]), tasks(graph), HP.override(epochs=2))


def test_one_that_diverges_leaves_the_others_alone(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(*arguments: Any) -> CellNetwork:
        network = build_network(*arguments)
        if arguments[-1] == SEEDS[1]:
            torch.nn.init.constant_(network.head.weight, torch.inf)
        return network

    monkeypatch.setattr(trainer, "build_network", build)
    hp = HP.override(epochs=CHECK_EVERY + 2)
    found = check(Arch([0, 1, 1, 2], ["gcn", "gat", "gin", "fc"]), graph, hp)
    assert [one.status for one in found] == ["ok", "diverged", "ok"]


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("op", [op for op in OPS if op != "skip"])
def test_on_a_gpu_each_training_has_the_figures_that_it_has_alone(
    op: str, optimizer: str, graph: Graph, gpu: PretendGpu
) -> None:
    hp = HP.override(epochs=6, optimizer=optimizer)
    for link, data in zip((*LINKS, LINKS[0]), (graph, sparse(graph), tasks(graph)), strict=True):
        arch = Arch(link, [op, "skip", op, "fc"])
        together = train_together(arch, data, hp, SEEDS, gpu.device)
        assert all(one.ok for one in together)
        assert_same(together, [train(arch, data, hp, seed, gpu.device) for seed in SEEDS])


@pytest.mark.parametrize("op", [op for op in OPS if op != "skip"])
def test_a_batch_takes_as_many_times_the_memory_of_one(
    op: str, graph: Graph, gpu: PretendGpu
) -> None:
    def peak(seeds: Sequence[int]) -> int:
        trainer.prepare.cache_clear()
        gpu.reset_counts()
        arch = Arch(LINKS[0], [op, "skip", op, "fc"])
        train_together(arch, graph, HP.override(epochs=2), seeds, gpu.device)
        return gpu.peak

    assert peak(range(8)) <= 1.05 * 8 * peak([0])


PRODUCTS = {"aten::mm", "aten::addmm", "aten::mv"}


@pytest.mark.parametrize("op", ["gcn", "sage", "gat", "fc"])
def test_trainings_share_their_launches(op: str, graph: Graph, gpu: PretendGpu) -> None:
    """All but products, draws and losses is done once for all of them."""

    def an_epoch(seeds: Sequence[int]) -> tuple[int, int]:
        counts = []
        for epochs in (1, 1, 2):
            gpu.reset_counts()
            hp = HP.override(epochs=epochs)
            train_together(Arch([0, 1, 2, 3], [op] * 4), graph, hp, seeds, gpu.device)
            products = sum(gpu.operations[product] for product in PRODUCTS)
            counts.append((products, gpu.operations.total()))
        return counts[2][0] - counts[1][0], counts[2][1] - counts[1][1]

    (products, one), (_, two), (all_products, eight) = map(an_epoch, ([0], [0, 1], range(8)))
    assert all_products == 8 * products
    assert (eight - two) / 6 - products <= MORE, "what one training more takes beside its products"
    assert eight < 8 * one * 0.5


MORE = 15
"""Operations of an epoch that each training of several has to itself beside products."""


def test_a_batch_can_be_captured(graph: Graph, gpu: PretendGpu) -> None:
    arch, hp = Arch([0, 1, 1, 2], ["gcn", "skip", "gat", "fc"]), HP.override(epochs=5)
    first, second = (
        train_together(arch, graph, hp, SEEDS, gpu.device, capture=capture)
        for capture in (False, True)
    )
    assert_same(second, first)


def keys(*jobs: tuple[int, int]) -> list[TrainKey]:
    """Return some jobs."""
    return [TrainKey(*job) for job in jobs]


def test_only_seeds_of_one_architecture_are_joined() -> None:
    jobs = keys((1, 0), (1, 1), (1, 2), (2, 1), (3, 0), (3, 2))
    groups = KIND.together(jobs, 2)
    assert [len(group) for group in groups] == [2, 1, 1, 2]
    assert [key for group in groups for key in group] == jobs
    assert all(len(group) == 1 for group in KIND.together(jobs, 1))


def worker(device: str) -> TrainContext:
    """Return a worker of a small run."""
    run = train_run(SMALL["nodes"]["dataset"], hp=HP)
    context = open_context(KIND, run.settings, Place(device))
    assert not isinstance(context, Refusal)
    assert isinstance(context, TrainContext)
    return context


def test_seeds_that_do_not_fit_together_are_trained_alone() -> None:
    number = Arch([0, 1, 2, 3], ["gcn"] * 4).valid_hash()
    jobs = keys(*((number, seed) for seed in range(6)))

    def run(capacity: int | None) -> tuple[list[TrainRecord], int]:
        with PretendGpu(capacity) as gpu:
            records = run_jobs(KIND, worker(str(gpu.device)), jobs)
            return records, gpu.peak

    together, peak = run(None)
    assert {json.loads(one.environment)["batch"] for one in together} == {"6"}
    apart, _ = run(peak // 2)
    assert [one.status for one in apart] == ["ok"] * 6
    assert not any("batch" in json.loads(one.environment) for one in apart)


def command(out: Path, *options: str) -> int:
    """Train a few architectures."""
    words = f"train --dataset karate --sample 2 --seeds 3 --epochs 2 --device cpu --out {out}"
    return main([*words.split(), "--workers", "1", *options])


def records(folder: Path) -> dict[tuple[int, int], TrainRecord]:
    """Return the records of a run by their jobs."""
    return {(one.hash, one.seed): one for one in RunFolder.open(folder).parts.records()}


def test_the_command_makes_the_records_of_a_run_without(tmp_path: Path) -> None:
    """Half of the run is there already; the table does not tell how the rest was made."""
    assert command(tmp_path / "alone") == 0
    alone = records(tmp_path / "alone")
    assert command(tmp_path / "run", "--shard", "1/2") == 0
    before = records(tmp_path / "run")
    assert command(tmp_path / "run", "--batch", "3") == 0
    found = records(tmp_path / "run")
    assert found.keys() == alone.keys()
    assert 0 < len(before) < len(found)
    for key, record in found.items():
        np.testing.assert_array_equal(record.curve, alone[key].curve)
        assert (record.perf, record.valid_perf) == (alone[key].perf, alone[key].valid_perf)
    joined = [key for key, one in found.items() if "batch" in json.loads(one.environment)]
    assert joined
    assert not set(joined) & set(before)
    merged = api.merge([tmp_path / "alone", tmp_path / "run"], tmp_path / "table")
    assert "2 architectures" in str(merged)


def test_a_batch_of_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="batch=0 is not allowed: must be a whole number from 1 up"):
        api.run(train_run("karate", sample=1), tmp_path / "run", batch=0)
