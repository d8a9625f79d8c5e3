"""Condensation through the pipeline: jobs, costs, choices, tables, and back as PyG's Data."""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import json
import math
import os
import signal
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import psutil
import pyarrow as pa
import pytest
import torch
from torch import Tensor

from benchbuild import load_condensed as load
from benchbuild.datasets import Graph
from benchbuild.datasets import load as load_dataset
from benchbuild.datasets.registry import dataset_spec
from benchbuild.engines.base import WorkerSettings, run_job
from benchbuild.kinds.condense import process
from benchbuild.kinds.condense.costs import method_seconds, predict
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.kind import CondenseRun, condense_run
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.payload import CondensedGraph, StoredGraph
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.process import Condensation, run_condensation
from benchbuild.kinds.condense.repeats import without_repeats
from benchbuild.kinds.evaluate.evaluator import GraphEvaluator
from benchbuild.pipeline.jobs import Place
from benchbuild.pipeline.parts import arrow_schema
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.records import finished_now
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.pipeline.runner import shard_keys
from benchquery import condread
from benchquery.errors import ConfigError, UnknownHashError
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig
from benchquery.kinds.condensed.domains.nodes import NODES
from benchquery.kinds.condensed.graphs import GRAPHS
from benchquery.table.manifest import SUMMARY
from tests.benchbuild.runs import benchbuild, figures, rows, start, wait_for_parts
from tests.resealing import edit_sealed

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")
DATASET = "csbm:nodes=120,classes=3,features=16"
CONFIG = CondenseConfig(DATASET, "random", 0.1)
JUDGE = EvalConfig(epochs=5, hidden=8)
MEGABYTE = 2**20


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_dataset(DATASET)


def several(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Iterator[Snapshot]:
    """A method with five snapshots of random training nodes."""
    random = torch.Generator().manual_seed(config.seed)
    for epoch in range(5):
        chosen = torch.randperm(len(problem.train_nodes), generator=random)[:6]
        x = problem.x[problem.train_nodes[chosen]] + torch.randn(6, 16, generator=random)
        adjacency = torch.rand(6, 6, generator=random)
        adjacency = torch.triu(adjacency, 1) + torch.triu(adjacency, 1).T
        made = CondensedGraph(x, problem.train_labels[chosen], adjacency)
        yield Snapshot(epoch * 10, made, {"loss": 1.0 / (epoch + 1)} if epoch else {})


def condense(
    graph: Graph, method: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Condensation:
    monkeypatch.setattr(process, "condenser", lambda name: method)
    problem = Problem.of(graph, CPU)
    return run_condensation(problem, CONFIG, GraphEvaluator(graph, CPU), JUDGE, tmp_path)


# -------------------------------------------------------------------- one condensation


def test_the_best_snapshot_by_validation_is_kept(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = condense(graph, several, tmp_path, monkeypatch)
    assert done.best is not None
    valid = done.trace["valid_perf"]
    assert len(valid) == 5
    assert done.best.epoch == done.trace["epoch"][valid.argmax()]
    assert math.isnan(done.trace["loss"][0])
    assert done.trace["loss"][1:] == pytest.approx([1 / 2, 1 / 3, 1 / 4, 1 / 5])
    judged = GraphEvaluator(graph, CPU).judge(done.best.payload.payload(), JUDGE)
    assert judged == done.best.valid_perf
    assert done.costs.seconds_best == pytest.approx(done.trace["seconds"][valid.argmax()])
    assert done.costs.seconds_best <= done.costs.seconds


def test_the_choice_never_sees_test_labels(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A figure whose snapshot was chosen by the test labels is no test figure."""
    y = graph.y.clone()
    y[graph.test_mask] = (y[graph.test_mask] + 1) % 3
    other = dataclasses.replace(graph, y=y)
    here, there = (condense(one, several, tmp_path, monkeypatch) for one in (graph, other))
    assert here.best is not None
    assert there.best is not None
    assert here.best.epoch == there.best.epoch
    assert np.array_equal(here.best.payload.x, there.best.payload.x)
    assert np.array_equal(here.trace["valid_perf"], there.trace["valid_perf"])


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def hold(size: int) -> None:
    """Use memory for a moment."""
    np.ones(size, dtype=np.uint8)


def give_back() -> None:
    """Give memory back that tests before this one have freed: it would be given back meanwhile."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


def test_judging_is_neither_time_nor_memory(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is judged between two steps of a method is no cost of the method."""

    def method(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Any:
        for snapshot in several(problem, config, workspace):
            burn(0.02)
            hold(80 * MEGABYTE)
            yield snapshot

    class Slow(GraphEvaluator):
        def judge(self, condensed: CondensedGraph, config: EvalConfig) -> float:
            burn(0.2)
            hold(400 * MEGABYTE)
            return 0.5

    monkeypatch.setattr(process, "condenser", lambda name: method)
    problem = Problem.of(graph, CPU)
    give_back()
    before = psutil.Process().memory_info().rss
    done = run_condensation(problem, CONFIG, Slow(graph, CPU), JUDGE, tmp_path)
    assert 0.1 <= done.costs.seconds < 5 * 0.2
    assert 0.02 <= done.costs.seconds_best < done.costs.seconds
    assert before + 70 * MEGABYTE < done.costs.peak_memory < before + 300 * MEGABYTE
    assert math.isnan(done.costs.peak_gpu_memory)


def test_experts_are_costs_of_their_own(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether experts were trained by this job or by an earlier one, the method took the same."""

    def method(training: float) -> Any:
        def run(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Any:
            assert workspace.scratch == tmp_path
            burn(0.1)
            start = time.process_time()
            burn(training)
            workspace.costs.update(
                expert_seconds=0.3,
                expert_bytes=77.0,
                expert_seconds_here=time.process_time() - start,
            )
            for snapshot in several(problem, config, workspace):
                yield snapshot
                burn(0.02)

        return run

    for training in (0.3, 0.0):
        costs = condense(graph, method(training), tmp_path, monkeypatch).costs
        assert (costs.expert_seconds, costs.expert_bytes) == (0.3, 77)
        assert costs.seconds == pytest.approx(0.2, abs=0.08)


@pytest.mark.parametrize("fault", ["loss", "features", "overflow"])
def test_a_method_that_diverges_keeps_what_came_before(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    def method(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Any:
        for snapshot in several(problem, config, workspace):
            if snapshot.epoch == 20:
                x = snapshot.payload.x * {"loss": 1.0, "features": math.nan, "overflow": 1e6}[fault]
                broken = dataclasses.replace(snapshot.payload, x=x)
                losses = {"loss": math.inf} if fault == "loss" else {}
                snapshot = Snapshot(20, broken, losses)  # noqa: PLW2901
            yield snapshot

    done = condense(graph, method, tmp_path, monkeypatch)
    assert done.status == "diverged"
    assert "epoch 20" in done.reason
    assert done.best is not None
    assert done.trace["epoch"].tolist() == [0, 10]


def test_what_is_kept_is_what_is_judged(tmp_path: Path) -> None:
    random = torch.Generator().manual_seed(0)
    soft = torch.rand(5, 3, generator=random)
    for y in (torch.tensor([0, 1, 2, 0, 1]), soft):
        for adjacency in (None, torch.rand(5, 5, generator=random)):
            made = CondensedGraph(torch.randn(5, 7, generator=random), y, adjacency)
            stored = made.stored()
            back = StoredGraph.from_record({"nodes": 5, **stored.to_record()})
            assert back is not None
            for name in ("x", "y", "adjacency"):
                first, second = getattr(stored, name), getattr(back, name)
                assert (first is None) == (second is None)
                if first is not None:
                    assert first.dtype == second.dtype
                    assert np.array_equal(first, second)
            again = back.payload().stored()
            assert np.array_equal(again.x, stored.x)
            assert back.payload().x.dtype == torch.float32


def test_a_method_that_fails_is_a_row(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    def method(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Any:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to")

    monkeypatch.setattr(process, "condenser", lambda name: method)
    kind = kind_of("condense")
    run = condense_run(DATASET, [CONFIG], Evaluations.of(seeds=[0]))
    context = kind.open(run.settings, Place("cpu"))
    record = run_job(kind, context, kind.keys(run)[0])
    assert record.status == "oom"
    assert record.key == (CONFIG.text,)
    assert not list(kind.problems(run, record))
    assert list(record.to_row()) == arrow_schema(kind.record).names


# -------------------------------------------------------------------- plans


def described(count: int = 12) -> CondenseRun:
    configs = [
        CondenseConfig("cora", method, 0.026, seed=seed)
        for method in ("random", "gcond", "sfgc")
        for seed in range(count // 3)
    ]
    return condense_run("cora", configs, Evaluations.of(["gcn", "mlp"], [0, 1]))


def test_shards_are_disjoint_and_complete() -> None:
    run = described()
    shards = [shard_keys(run, Shard(index, 5)) for index in range(1, 6)]
    together = [key for shard in shards for key in shard]
    assert sorted(together) == sorted(kind_of("condense").keys(run))
    assert len(set(together)) == len(together) == 12


def test_costs_are_predicted_in_proportion() -> None:
    evaluations = Evaluations.of()
    small = predict(CondenseConfig("cora", "gcond", 0.013), evaluations)
    large = predict(CondenseConfig("cora", "gcond", 0.052), evaluations)
    short = predict(CondenseConfig("cora", "gcond", 0.013, epochs=60), evaluations)
    random = predict(CondenseConfig("cora", "random", 0.013), evaluations)
    assert random.seconds < short.seconds < small.seconds < large.seconds
    assert 1e8 < random.memory <= large.memory
    labelled = CondenseConfig("cora", "gcond", 0.5, ratio_of="labelled")
    assert predict(labelled, evaluations).seconds > 0


def test_snapshots_are_judged_briefly() -> None:
    judge = Evaluations.of(["mlp"], [0], {"threshold": 0.01}).judge
    assert (judge.model, judge["threshold"]) == ("gcn", 0.01)
    assert judge.count("epochs") == NODES.judge_epochs
    assert Evaluations.of(hyperparameters={"epochs": 7}).judge.count("epochs") == 7


def test_workers_share_a_scratch_folder(tmp_path: Path) -> None:
    place = WorkerSettings("cpu", scratch=str(tmp_path / "scratch")).place(3)
    assert (place.slot, place.scratch) == (3, str(tmp_path / "scratch"))


# -------------------------------------------------------------------- end to end

JOBS = ("--dataset", DATASET, "--method", "random", "--ratio", "0.05,0.1", "--seed", "0,1")
QUICK = ("--eval-hp", "epochs=25", "--eval-hp", "hidden=16", "--eval-seeds", "2")
LOCAL = ("--device", "cpu", "--workers", "2")


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("condense") / "run"
    assert benchbuild("condense", *JOBS, *QUICK, *LOCAL, "--out", out) == 0
    return out


@pytest.fixture(scope="module")
def table(run_folder: Path) -> Path:
    out = run_folder.parent / "table"
    assert benchbuild("merge", run_folder, "--out", out) == 0
    return out


def test_a_run_becomes_a_table(run_folder: Path, table: Path) -> None:
    assert benchbuild("verify", run_folder) == 0
    assert benchbuild("verify", table) == 0
    cond = condread(DATASET, source=table)
    assert len(cond) == 4
    config = CondenseConfig(DATASET, "random", 0.1, seed=1)
    record = cond[config.valid_hash()]
    assert record["nodes"] == 12
    assert record["status"] == "ok"
    assert record["eval_seeds"] == 2
    assert record["perf"] == pytest.approx((record["perf_seed0"] + record["perf_seed1"]) / 2)
    assert record["retained"] == record["perf"] / record["full_perf"]
    assert record["condense_time"] >= record["condense_time_best"] >= 0
    assert record["peak_memory"] > 50 * MEGABYTE
    assert cond.curve(config).shape == (25, 7)
    assert cond.manifest.provenance["judge"] == EvalConfig(epochs=25, hidden=16).text


def test_figures_are_those_of_the_graph_in_the_table(graph: Graph, table: Path) -> None:
    cond = condread(DATASET, source=table)
    config = CondenseConfig(DATASET, "random", 0.1)
    arrays = cond.graph(config)
    assert arrays["x"].dtype == np.float16
    stored = StoredGraph.from_arrays(arrays)
    evaluator = GraphEvaluator(graph, CPU)
    again = evaluator.evaluate(stored.payload(), EvalConfig(epochs=25, hidden=16, seed=1))
    assert again.perf == cond[config]["perf_seed1"]
    assert again.valid_perf == cond[config]["valid_perf_seed1"]
    assert np.array_equal(cond.curve(config, seed=1), again.curve.astype(np.float32))


def test_a_graph_comes_back_as_data(table: Path) -> None:
    config = CondenseConfig(DATASET, "random", 0.1)
    data = load(config.valid_hash(), table)
    arrays = condread(DATASET, source=table).graph(config)
    assert torch.equal(data.x, torch.tensor(arrays["x"]).float())
    assert torch.equal(data.y, torch.tensor(arrays["y"]))
    dense = torch.zeros(12, 12)
    dense[data.edge_index[0], data.edge_index[1]] = data.edge_weight
    assert torch.equal(dense, torch.tensor(arrays["adjacency"]).float())
    assert load(config, table.parent).num_nodes == 12
    with pytest.raises(UnknownHashError, match="abc"):
        load("abc", table)


def test_two_runs_give_the_same_figures(run_folder: Path, tmp_path: Path) -> None:
    for shard in ("1/2", "2/2"):
        words = [*JOBS, *QUICK, "--device", "cpu", "--workers", "1", "--shard", shard]
        assert benchbuild("condense", *words, "--out", tmp_path / "run") == 0
    assert figures(tmp_path / "run") == figures(run_folder)
    assert benchbuild("merge", tmp_path / "run", run_folder, "--out", tmp_path / "table") == 0
    assert len(condread(DATASET, source=tmp_path / "table")) == 4


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_figures(run_folder: Path, tmp_path: Path) -> None:
    words = ["condense", *JOBS, *QUICK, "--device", "cpu", "--workers", "1"]
    process_ = start(*words, "--out", tmp_path / "run")
    wait_for_parts(tmp_path / "run", process_)
    os.kill(process_.pid, signal.SIGKILL)
    process_.wait()
    finished = len(rows(tmp_path / "run"))
    assert 1 <= finished <= 4
    assert benchbuild(*words, "--out", tmp_path / "run") == 0
    assert figures(tmp_path / "run") == figures(run_folder)


def test_damage_is_noticed(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in table.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    with h5py.File(copy / GRAPHS, "r+") as file:
        name = next(iter(file))
        x = file[name]["x"][()]
        x[0, 0] += 1
        file[name]["x"][...] = x
    assert benchbuild("verify", copy) == 2
    assert GRAPHS in capsys.readouterr().err
    (copy / SUMMARY).unlink()
    assert benchbuild("verify", copy) == 2


def test_more_models_and_seeds_are_added(run_folder: Path, table: Path, tmp_path: Path) -> None:
    words = ["--models", "gcn,mlp", "--seeds", "1,2", *QUICK[:4], *LOCAL]
    out = tmp_path / "evaluated"
    assert benchbuild("evaluate", table, *words, "--out", out) == 0
    assert benchbuild("verify", out) == 0
    assert benchbuild("merge", out, "--out", tmp_path / "more") == 0
    assert benchbuild("verify", tmp_path / "more") == 0
    before, after = (condread(DATASET, source=place) for place in (table, tmp_path / "more"))
    config = CondenseConfig(DATASET, "random", 0.1)
    assert len(after) == len(before)
    assert after.manifest.rows == 2 * before.manifest.rows
    gcn = after[config]
    assert gcn["eval_seeds"] == 3
    for seed in (0, 1):
        assert gcn[f"perf_seed{seed}"] == before[config][f"perf_seed{seed}"]
    mlp = after.evaluations(config).where(model="mlp").records()[0]
    assert mlp["eval_seeds"] == 2
    assert math.isnan(mlp["perf_seed0"])
    assert mlp["condense_time"] == gcn["condense_time"]
    assert np.array_equal(after.graph(config)["x"], before.graph(config)["x"])
    assert np.array_equal(after.curve(config, seed=0), before.curve(config, seed=0))


def test_a_run_can_be_evaluated_without_merging_it_first(run_folder: Path, tmp_path: Path) -> None:
    words = ["--models", "sgc", "--seeds", "1", *QUICK[:4], "--device", "cpu", "--workers", "1"]
    assert benchbuild("evaluate", run_folder, *words, "--out", tmp_path / "out") == 0
    assert benchbuild("merge", tmp_path / "out", "--out", tmp_path / "table") == 0
    assert condread(DATASET, source=tmp_path / "table").manifest.rows == 8


def test_a_failed_condensation_is_a_row_of_the_table(tmp_path: Path) -> None:
    kind, out = kind_of("condense"), tmp_path / "run"
    run = condense_run("karate", [CondenseConfig("karate", "herding", 0.2)], Evaluations.of())
    found = kind.open(run.settings, Place("cpu")).found
    begun = RunFolder.begin(out, dataclasses.replace(run, facts=found.facts, about=found.about))
    failed = kind.record.without_result(begun.job_keys()[0], "out of luck")
    begun.parts.add(Shard(), [finished_now(failed)])
    assert benchbuild("merge", out, "--out", tmp_path / "table") == 0
    assert benchbuild("verify", tmp_path / "table") == 0
    (record,) = condread("karate", source=tmp_path / "table").records()
    assert record["status"] == "failed"
    assert record["reason"] == "out of luck"
    assert record["nodes"] == 0
    assert math.isnan(record["perf"])
    assert math.isnan(record["peak_memory"])


# -------------------------------------------------------------------- commands


def test_settings_reach_the_run(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No option is read and then ignored."""
    run = RunFolder.open(run_folder).run
    configs = [CondenseConfig.from_text(text) for text in run.jobs.configs]
    assert [(c.ratio, c.seed) for c in configs] == [(0.05, 0), (0.05, 1), (0.1, 0), (0.1, 1)]
    (evaluation,) = run.settings.evaluations.configs
    assert (evaluation["epochs"], evaluation["hidden"]) == (25, 16)
    assert all(len(row["curves"]) == 2 * 25 * 7 for row in rows(run_folder))
    words = "--method gcond --ratio 0.5 --init noise --backbone gcn --protocol as-released"
    more = "--ratio-of labelled --hp epochs=3 --models mlp --eval-hp lr=0.5"
    args = ["condense", "--dataset", "karate", *words.split(), *more.split(), "--dry-run"]
    assert benchbuild(*args) == 0
    assert "karate: 1 jobs" in capsys.readouterr().out


def test_a_grid_is_one_dataset_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--grid", "gc-bench-node", "--dataset", "cora", "--seed", "0,1", "--dry-run"]
    assert benchbuild("condense", *words, "--shard", "2/9") == 0
    assert "cora: 254 jobs in all" in capsys.readouterr().out
    assert benchbuild("plan", "--grid", "gc-bench-node", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert sum(row["configurations"] for row in plan) == 487 - 40
    assert {row["dataset"] for row in plan} >= {"cora", "acm", "dblp", "flickr", "reddit"}
    assert all(row["seconds"] > 0 for row in plan)
    assert benchbuild("plan", "--grid", "gc-bench-node", "--dataset", "Cora") == 0
    assert "127 configurations" in capsys.readouterr().out


def test_sizes_that_give_the_same_nodes_are_planned_once() -> None:
    problem = Problem.of(load_dataset("karate"), CPU)
    ratios = [0.01, 0.05, 0.1, 0.12, 0.13, 0.16, 0.3, 0.31]
    configs = [CondenseConfig("karate", "random", ratio) for ratio in ratios]
    nodes = [len(problem.synthetic_labels(config)) for config in configs]
    kept = without_repeats([*configs, configs[0].replace(seed=1)])
    assert 1 < len(set(nodes)) < len(nodes)
    first = [config for place, config in enumerate(configs) if nodes[place] not in nodes[:place]]
    assert list(kept) == [*first, configs[0].replace(seed=1)]


def can_run(config: CondenseConfig) -> bool:
    """Tell whether a configuration follows a recipe of this version."""
    try:
        config.check_runnable()
    except ConfigError:
        return False
    return True


@pytest.mark.parametrize("dataset", ["cora", "citeseer"])
def test_predicted_times_are_near_those_of_the_bundled_tables(dataset: str) -> None:
    ratios: dict[tuple[str, bool], list[float]] = {}
    for record in condread(dataset).where(protocol="corrected").records():
        config = CondenseConfig.from_text(record["config_text"])
        if config.hyperparameters.get("epochs") == 0 or not can_run(config):
            continue
        predicted = method_seconds(config, dataset_spec(dataset).size, record["nodes"])
        usual = config.backbone == config.spec.backbone
        ratios.setdefault((config.method, usual), []).append(record["condense_time"] / predicted)
    del ratios["random", True]  # it takes milliseconds
    found = {way: round(statistics.median(each), 2) for way, each in ratios.items()}
    assert all(1 / 1.3 < ratio < 1.3 for ratio in found.values()), found


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("condense --dataset nosuch --method random --ratio 0.1 --out x", "nosuch"),
        ("condense --dataset karate --ratio 0.1 --out x", "--method"),
        ("condense --dataset karate --method nosuch --ratio 0.1 --out x", "nosuch"),
        ("condense --dataset karate --method random --ratio 2 --out x", "ratio"),
        ("condense --dataset karate --method random --ratio many --out x", "many"),
        ("condense --dataset karate --method random --ratio 0.1,0.1 --out x", "once"),
        ("condense --dataset karate --method random --ratio 0.1 --init noise --out x", "noise"),
        ("condense --dataset karate --method gcond --ratio 0.1 --init nosuch --out x", "nosuch"),
        ("condense --dataset karate --method gcond --ratio 0.1 --backbone gat --out x", "gat"),
        ("condense --dataset karate --method gcond --ratio 0.1 --protocol my --out x", "my"),
        ("condense --dataset karate --method gcond --ratio 0.1 --hp foo=1 --out x", "foo"),
        ("condense --dataset karate --method gcond --ratio 0.1 --hp epochs --out x", "epochs"),
        ("condense --dataset karate --method gcond --ratio 0.1 --hp epochs=x --out x", "epochs"),
        ("condense --dataset karate --method random --ratio 0.1 --seed -1 --out x", "-1"),
        ("condense --dataset karate --method random --ratio 0.1 --models gat --out x", "gat"),
        ("condense --dataset karate --method random --ratio 0.1 --models gcn,gcn --out x", "once"),
        ("condense --dataset karate --method random --ratio 0.1 --models gcn,GCN --out x", "once"),
        ("condense --dataset karate --method gcond --ratio 0.1 --hp epochs=-5 --out x", "least 0"),
        ("condense --dataset karate --method random --ratio 0.1 --eval-seeds 0 --out x", "seeds"),
        ("condense --dataset karate --method random --ratio 0.1 --eval-hp lr=0 --out x", "lr"),
        ("condense --dataset karate --method random --ratio 0.1 --eval-hp dropout=1 --out x",
         "dropout"),
        ("condense --dataset karate --method random --ratio 0.1 --shard 3/2 --out x", "3/2"),
        ("condense --dataset cora --grid nosuch --out x", "nosuch"),
        ("condense --dataset karate --grid gc-bench-node --out x", "karate"),
        ("condense --dataset cora --grid gc-bench-node --method random --out x", "--method"),
        ("evaluate nosuch --out x", "nosuch"),
        ("plan --grid nosuch", "nosuch"),
        ("plan --grid gc-bench-node --dataset karate", "karate"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_exit_code_2(
    words: str,
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = benchbuild(*words.split())
    except SystemExit as exit_:
        code = int(exit_.code or 0)
    assert code == 2
    assert named in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_other_data_is_not_evaluated(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table says what data it is of; graphs are not judged on other data of the same name."""
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in table.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    provenance = json.loads((copy / "manifest.json").read_text())["provenance"]
    provenance["dataset"]["checksum"] = "0" * 64
    edit_sealed(copy / "manifest.json", provenance=provenance)
    words = ["--models", "mlp", "--seeds", "1", *QUICK[:4], *LOCAL]
    assert benchbuild("evaluate", copy, *words, "--out", tmp_path / "out") == 2
    assert "checksum" in capsys.readouterr().err


def test_a_dataset_without_classes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchbuild.datasets import parsed
    from benchbuild.errors import DatasetError

    def tasks(name: str, root: str | None = None) -> Graph:
        made = load_dataset("karate")
        y: Tensor = torch.zeros(made.num_nodes, made.num_classes)
        return dataclasses.replace(made, y=y, metric="rocauc")

    monkeypatch.setattr(parsed, "load_data", tasks)
    run = condense_run("karate", [CondenseConfig("karate", "random", 0.2)], Evaluations.of())
    with pytest.raises(DatasetError, match="no classes"):
        kind_of("condense").open(run.settings, Place("cpu"))
