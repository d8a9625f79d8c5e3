"""SFGC and GEOM: experts on disk, the unrolled student, and what is learnt."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import random
import signal
import time
import tracemalloc
import weakref
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import log
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchbuild.datasets import load
from benchbuild.errors import WriteError
from benchbuild.kinds.condense.distances import matching_loss
from benchbuild.kinds.condense.expert_files import CHECKPOINTS
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.methods.nodes.geom import difficulty, easiest_first, first_labels
from benchbuild.kinds.condense.nodes import experts as experts_module
from benchbuild.kinds.condense.nodes.backbones import Convolutional, Weights, make_backbone
from benchbuild.kinds.condense.nodes.experts import Curriculum, Experts, real_view
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.trajectory import Matcher, lonely_view, student
from benchbuild.kinds.condense.registry import condenser
from benchbuild.kinds.evaluate.gntk import ValidationScore, ridge_regression, tangent_kernel
from benchquery.errors import ConfigError, CorruptTableError
from benchquery.kinds.condensed.config import CondenseConfig
from tests.benchbuild.condensing import SMALL, problem

METHODS = ("sfgc", "geom")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def quick(method: str = "sfgc", ratio: float = 0.1, **changes: object) -> CondenseConfig:
    """A configuration that takes a moment."""
    small = {
        "experts": 3,
        "expert_epochs": 12,
        "expert_interval": 2,
        "start_epochs": 4,
        "hidden": 8,
        "epochs": 5,
        "evaluate_every": 2,
        "steps": 6,
        "lr_feat": 0.01,
    }
    return CondenseConfig(SMALL, method, ratio, **{**small, **changes})  # type: ignore[arg-type]


def run(
    config: CondenseConfig, scratch: Path, given: Problem | None = None
) -> tuple[list[Snapshot], dict[str, float]]:
    workspace = Workspace(scratch, {})
    snapshots = list(condenser(config)(given or problem(), config, workspace))
    return snapshots, workspace.costs


def rows(file: Path) -> np.ndarray:
    with h5py.File(file, "r") as store:
        return np.asarray(store[CHECKPOINTS])


def dense_propagation(given: Problem) -> Tensor:
    """D^-1/2 (A + I) D^-1/2, node by node."""
    matrix = torch.eye(given.num_nodes, dtype=torch.float64)
    for source, target in given.edge_index.T.tolist():
        matrix[target, source] = 1.0
    root = matrix.sum(dim=1).rsqrt()
    return root[:, None] * matrix * root


# Experts


def test_checkpoints_differ_and_alias_nothing(tmp_path: Path) -> None:
    """On a CPU, ``.detach().cpu()`` is no copy: training goes on changing the tensor."""
    experts = Experts(problem(), quick(), 2, tmp_path)
    for file in experts.files:
        kept = rows(file)
        assert kept.dtype == np.float32
        assert kept.shape == (7, 12 * 8 + 8 + 8 * 4 + 4)
        distances = [np.linalg.norm(kept[row] - kept[0]) for row in range(7)]
        assert all(later > earlier for earlier, later in pairwise(distances))
    assert not np.array_equal(*[rows(file) for file in experts.files])
    first = experts.checkpoint(0, 0)
    first[0].zero_()
    assert experts.checkpoint(0, 0)[0].count_nonzero() > 0


def test_experts_that_were_damaged_are_made_anew(tmp_path: Path) -> None:
    experts = Experts(problem(), quick(), 1, tmp_path)
    (path,) = experts.files
    kept, content = rows(path), path.read_bytes()
    with h5py.File(path) as file:
        chunk = file[CHECKPOINTS].id.get_chunk_info(3)
    start, end = chunk.byte_offset, chunk.byte_offset + chunk.size
    dice = random.Random(0)
    for damage in ("flip", "flip", "flip", "zeros", "cut", "other"):
        path.unlink()
        harmed = bytearray(content)
        if damage == "flip":
            harmed[dice.randrange(start, end)] ^= 1 << dice.randrange(8)
        elif damage == "zeros":
            harmed[start:end] = bytes(end - start)
        path.write_bytes(harmed if damage in ("flip", "zeros") else content[: -len(content) // 2])
        if damage == "other":
            with h5py.File(path, "w") as file:
                file["other"] = kept
        elif damage != "cut":
            with pytest.raises(CorruptTableError, match=rf"{path} is damaged at checkpoint 3"):
                experts.checkpoint(0, 3)
        again = Experts(problem(), quick(), 1, tmp_path)
        assert again.files == [path]
        assert np.array_equal(rows(path), kept)
    stamp = path.stat().st_mtime_ns
    Experts(problem(), quick(), 1, tmp_path)
    assert path.stat().st_mtime_ns == stamp


def test_expert_is_plain_gradient_descent_on_a_dense_gcn(tmp_path: Path) -> None:
    given, config = problem(), quick(feature_scale=1.5)
    experts = Experts(given, config, 1, tmp_path)
    propagation, x = dense_propagation(given), given.x.double() * 1.5
    layers = nn.Linear(12, 8).double(), nn.Linear(8, 4).double()
    parameters = [part for layer in layers for part in (layer.weight, layer.bias)]
    for parameter, value in zip(parameters, experts.checkpoint(0, 0), strict=True):
        parameter.data.copy_(value)
    optimizer = torch.optim.SGD(parameters, lr=config.number("expert_lr"))
    for epoch in range(1, 13):
        hidden = layers[0](propagation @ x).relu()
        logits = layers[1](propagation @ hidden)[given.train_nodes]
        optimizer.zero_grad()
        functional.cross_entropy(logits, given.train_labels).backward()
        optimizer.step()
        if epoch % 2 == 0:
            for parameter, value in zip(parameters, experts.checkpoint(0, epoch // 2), strict=True):
                torch.testing.assert_close(parameter.detach().float(), value)


@pytest.mark.parametrize("backbone", ["sgc", "gcn", "transformer"])
def test_view_of_some_nodes_is_that_of_all(backbone: str) -> None:
    given, config = problem(), quick(backbone=backbone, feature_scale=2.0)
    model = make_backbone(config, 12, 4)
    weights = model.draw(torch.Generator().manual_seed(0), given.device)
    nodes = torch.tensor([7, 3, 150])
    everyone = torch.arange(given.num_nodes)
    _, whole = model.outputs(weights, real_view(given, config, model, everyone))
    _, some = model.outputs(weights, real_view(given, config, model, nodes))
    torch.testing.assert_close(some, whole[nodes])


def killer(number: int, epoch: int) -> Curriculum:
    """A curriculum on all nodes that kills the process in an epoch of an expert."""
    begun = Counter[int]()

    def chosen(now: int) -> Tensor:
        begun[now] += 1
        if now == epoch and begun[now] == number + 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.ones(40, dtype=torch.bool)

    return Curriculum(chosen, {"of": "everyone"})


def harmless() -> Curriculum:
    return Curriculum(lambda _: torch.ones(40, dtype=torch.bool), {"of": "everyone"})


def test_killed_run_keeps_finished_experts_and_ends_the_same(tmp_path: Path) -> None:
    given, config = problem(), quick()
    assert len(given.train_nodes) == 40
    whole = Experts(given, config, 4, tmp_path / "whole", harmless())
    folder = tmp_path / "killed"
    child = multiprocessing.get_context("fork").Process(
        target=Experts, args=(given, config, 4, folder, killer(2, 5))
    )
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    finished = sorted(folder.glob("*.h5"))
    assert [file.name for file in finished] == [file.name for file in whole.files[:2]]
    stamps = [file.stat().st_mtime_ns for file in finished]
    resumed = Experts(given, config, 4, folder, harmless())
    assert [file.stat().st_mtime_ns for file in finished] == stamps
    for file, expected in zip(resumed.files, whole.files, strict=True):
        assert np.array_equal(rows(file), rows(expected))


def test_processes_that_start_together_share_the_training(tmp_path: Path) -> None:
    given, config, log = problem(), quick(), tmp_path / "log"

    def chosen(epoch: int) -> Tensor:
        if epoch == 0:
            with log.open("a") as file:
                file.write(f"{os.getpid()}\n")
            time.sleep(0.2)
        return torch.ones(40, dtype=torch.bool)

    folder = tmp_path / "experts"
    arguments = (given, config, 4, folder, Curriculum(chosen, {}))
    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=Experts, args=arguments) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0]
    assert len(list(folder.glob("*.h5"))) == 4
    trainers = log.read_text().split()
    assert len(trainers) == 4
    assert set(trainers) == {str(child.pid) for child in children}


def test_error_leaves_nothing_half_written(tmp_path: Path) -> None:
    def chosen(epoch: int) -> Tensor:
        if epoch == 3:
            raise KeyboardInterrupt
        return torch.ones(40, dtype=torch.bool)

    with pytest.raises(KeyboardInterrupt):
        Experts(problem(), quick(), 1, tmp_path, Curriculum(chosen, {}))
    assert {file.suffix for file in tmp_path.iterdir()} == {".lock"}
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="can't write"):
        Experts(problem(), quick(), 1, tmp_path / "file")


def test_checkpoints_are_written_one_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive: list[int] = []
    copies: list[weakref.ref[Tensor]] = []
    original = experts_module.flat_copy

    def watched(weights: Weights) -> Tensor:
        copy = original(weights)
        copies.append(weakref.ref(copy))
        alive.append(sum(reference() is not None for reference in copies))
        return copy

    monkeypatch.setattr(experts_module, "flat_copy", watched)
    Experts(problem(), quick(expert_epochs=40, start_epochs=4), 3, tmp_path)
    assert len(copies) == 3 * 21
    assert max(alive) <= 2


def test_checkpoints_are_read_one_at_a_time(tmp_path: Path) -> None:
    config = quick(hidden=512, expert_epochs=60, expert_interval=1)
    experts = Experts(problem(), config, 1, tmp_path)
    row = rows(experts.files[0]).shape[1] * 4
    experts.checkpoint(0, 1)
    tracemalloc.start()
    experts.checkpoint(0, 30)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert row < peak < 4 * row
    assert experts.files[0].stat().st_size > 60 * row


def test_experts_are_shared_by_what_they_depend_on(tmp_path: Path) -> None:
    graph = load(SMALL)
    other = torch.where(graph.train_mask, graph.y, (graph.y + 1) % 4)
    names = [
        Experts(problem(data), config, 1, tmp_path).files[0].name
        for data, config in (
            (graph, quick()),
            (graph, quick(ratio=0.2, epochs=9, steps=3, experts=7)),
            (dataclasses.replace(graph, y=other), quick()),
            (graph, quick(seed=1)),
            (graph, quick(expert_lr=0.1)),
            (graph, quick(backbone="sgc")),
            (dataclasses.replace(graph, x=graph.x * 2), quick()),
        )
    ]
    assert names[0] == names[1] == names[2]
    assert len(set(names)) == 5


def test_costs_are_those_of_the_training_however_long_ago(tmp_path: Path) -> None:
    _, costs = run(quick(), tmp_path)
    assert costs["expert_seconds"] > 0
    assert costs["expert_bytes"] == sum(file.stat().st_size for file in tmp_path.glob("*.h5"))
    written = {file: file.stat().st_mtime_ns for file in tmp_path.glob("*.h5")}
    _, again = run(quick(ratio=0.2), tmp_path)
    assert {file: file.stat().st_mtime_ns for file in tmp_path.glob("*.h5")} == written
    assert costs.pop("expert_seconds_here") >= costs["expert_seconds"]
    assert again.pop("expert_seconds_here") > 0
    assert again == costs


# The student


def random_weights(shapes: list[tuple[int, ...]], seed: int) -> Weights:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) / 2 for shape in shapes]


def lesson(nodes: int, features: int, classes: int) -> tuple[Tensor, Tensor, Tensor]:
    """Features, logits of labels and a learning rate."""
    x, y = random_weights([(nodes, features), (nodes, classes)], seed=5)
    rate = torch.tensor(0.3, dtype=torch.float64)
    return x.requires_grad_(), y.requires_grad_(), rate.requires_grad_()


SHAPES: list[tuple[int, ...]] = [(7, 11), (7,), (3, 7), (3,)]


@pytest.mark.parametrize("nodes", [5, 30])
def test_student_is_torchs_sgd_on_a_perceptron(nodes: int) -> None:
    start = random_weights(SHAPES, seed=0)
    x, y, rate = lesson(nodes, 11, 3)
    model = nn.Sequential(nn.Linear(11, 7), nn.ReLU(), nn.Linear(7, 3)).double()
    for parameter, value in zip(model.parameters(), start, strict=True):
        parameter.data.copy_(value)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for _ in range(20):
        optimizer.zero_grad()
        functional.cross_entropy(model(x.detach()), y.detach().softmax(dim=1)).backward()
        optimizer.step()
    reached = student(
        Convolutional((11, 7, 3), 2), x, y.softmax(dim=1), rate, start=start, steps=20
    )
    for found, parameter in zip(reached, model.parameters(), strict=True):
        torch.testing.assert_close(found, parameter.detach())


def differentiated_twice(
    x: Tensor, targets: Tensor, rate: Tensor, start: Weights, steps: int
) -> Weights:
    """The student as it is usually written."""
    weights = [weight.clone().requires_grad_() for weight in start]
    for _ in range(steps):
        hidden = (x @ weights[0].T + weights[1]).relu()
        loss = functional.cross_entropy(hidden @ weights[2].T + weights[3], targets)
        steps_ = torch.autograd.grad(loss, weights, create_graph=True)
        weights = [weight - rate * step for weight, step in zip(weights, steps_, strict=True)]
    return weights


@pytest.mark.parametrize("nodes", [5, 30])
def test_gradient_through_the_student_is_autograds(nodes: int) -> None:
    start, target = random_weights(SHAPES, seed=0), random_weights(SHAPES, seed=1)
    backbone = Convolutional((11, 7, 3), 2)
    x, y, rate = lesson(nodes, 11, 3)
    fast = student(backbone, x, y.softmax(dim=1), rate, start=start, steps=12)
    plain = differentiated_twice(x, y.softmax(dim=1), rate, start, 12)
    losses = [matching_loss(reached, start, target) for reached in (fast, plain)]
    torch.testing.assert_close(*losses)
    for found, expected in zip(
        torch.autograd.grad(losses[0], (x, y, rate)),
        torch.autograd.grad(losses[1], (x, y, rate)),
        strict=True,
    ):
        assert expected.norm() > 1e-4
        torch.testing.assert_close(found, expected)


def test_student_of_one_layer() -> None:
    start = random_weights([(3, 11), (3,)], seed=0)
    x, y, rate = lesson(6, 11, 3)
    reached = student(Convolutional((11, 3), 2), x, y.softmax(1), rate, start=start, steps=1)
    error = ((x @ start[0].T + start[1]).softmax(dim=1) - y.softmax(dim=1)) / 6
    torch.testing.assert_close(reached[0], start[0] - 0.3 * error.T @ x)
    torch.testing.assert_close(reached[1], start[1] - 0.3 * error.sum(dim=0))
    assert torch.autograd.grad(reached[0].sum(), x)[0].count_nonzero() > 0


def test_matching_loss() -> None:
    reached, start, target = (random_weights(SHAPES, seed=seed) for seed in range(3))
    one, zero, end = (np.concatenate([part.numpy().ravel() for part in parts])
                      for parts in (reached, start, target))  # fmt: skip
    expected = ((one - end) ** 2).sum() / ((zero - end) ** 2).sum()
    assert matching_loss(reached, start, target).item() == pytest.approx(expected)
    assert matching_loss(start, start, target).item() == 1.0
    assert matching_loss(target, start, target).item() == 0.0


# The methods


@pytest.mark.parametrize("method", METHODS)
def test_snapshots(method: str, tmp_path: Path) -> None:
    config, given = quick(method), problem()
    snapshots, _ = run(config, tmp_path, given)
    labels = given.synthetic_labels(config)
    assert [snapshot.epoch for snapshot in snapshots] == [0, 2, 4, 5]
    for snapshot in snapshots:
        graph = snapshot.payload
        assert isinstance(graph, CondensedGraph)
        assert graph.adjacency is None
        assert graph.x.shape == (20, 12)
        assert not graph.x.requires_grad
        if method == "sfgc" or snapshot.epoch == 0:
            assert torch.equal(graph.labels, labels)
        if method == "geom":
            assert graph.y.shape == (20, 4)
            torch.testing.assert_close(graph.y.sum(dim=1), torch.ones(20))
    expected = {"matching"} if method == "sfgc" else {"matching", "knowledge"}
    assert all(set(snapshot.losses) == expected for snapshot in snapshots[1:])
    drift = [float((one.payload.x - snapshots[0].payload.x).abs().mean()) for one in snapshots]
    assert all(later > earlier for earlier, later in pairwise(drift))


def test_soft_labels_are_learnt(tmp_path: Path) -> None:
    snapshots, _ = run(quick("geom"), tmp_path)
    before, after = snapshots[0].payload.y, snapshots[-1].payload.y
    assert (before - after).abs().max() > 1e-4
    frozen, _ = run(quick("geom", lr_label=0.0), tmp_path)
    assert torch.equal(frozen[0].payload.y, frozen[-1].payload.y)


@pytest.mark.parametrize("method", METHODS)
def test_losses_decrease(method: str, tmp_path: Path) -> None:
    config = quick(method, epochs=40, evaluate_every=10, lr_feat=0.03)
    snapshots, _ = run(config, tmp_path)
    losses = [snapshot.losses["matching"] for snapshot in snapshots[1:]]
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("method", METHODS)
def test_the_same_again(method: str, tmp_path: Path) -> None:
    """From scratch, and with experts that are there already; another seed is something else."""
    first, _ = run(quick(method), tmp_path / "one")
    for folder in ("two", "two"):
        second, _ = run(quick(method), tmp_path / folder)
        for a, b in zip(first, second, strict=True):
            assert torch.equal(a.payload.x, b.payload.x)
            assert torch.equal(a.payload.y, b.payload.y)
            assert a.losses == b.losses
    other, _ = run(quick(method, seed=1), tmp_path / "one")
    assert not torch.equal(first[-1].payload.x, other[-1].payload.x)


SETTINGS = {
    "experts": 2,
    "expert_epochs": 10,
    "expert_interval": 4,
    "expert_lr": 0.2,
    "start_epochs": 2,
    "feature_scale": 2.0,
    "hidden": 6,
    "layers": 3,
    "epochs": 4,
    "steps": 3,
    "lr_feat": 0.1,
    "lr_student": 0.2,
    "lr_rate": 0.5,
    "start_first": 4,
    "curriculum_share": 0.3,
    "curriculum_epochs": 3,
    "lr_label": 0.1,
    "beta": 0.5,
}


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tensor, Path]:
    """What GEOM makes of the quick settings, and where its experts are."""
    scratch = tmp_path_factory.mktemp("experts")
    return run(quick("geom"), scratch)[0][-1].payload.x, scratch


@pytest.mark.parametrize("name", [*SETTINGS, "init", "backbone"])
def test_every_setting_changes_the_result(name: str, usual: tuple[Tensor, Path]) -> None:
    """No setting is silently ignored."""
    value = {"init": "sample", "backbone": "sgc"}.get(name, SETTINGS.get(name))
    changed, _ = run(quick("geom", **{name: value}), usual[1])
    assert not torch.equal(usual[0], changed[-1].payload.x)


def test_settings_are_all_tried() -> None:
    assert {*SETTINGS, "evaluate_every"} == set(quick("geom").hyperparameters)


def test_starts_are_drawn_from_the_window_and_experts_in_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experts = Experts(problem(), quick(), 3, tmp_path)
    read: list[tuple[int, int]] = []
    original = Experts.checkpoint

    def watched(self: Experts, expert: int, row: int) -> Weights:
        read.append((expert, row))
        return original(self, expert, row)

    monkeypatch.setattr(Experts, "checkpoint", watched)
    matcher = Matcher(experts, quick(), torch.Generator().manual_seed(0), torch.device("cpu"))
    x, targets = torch.rand(4, 12), torch.eye(4)
    drawn = [matcher.loss(x, targets, latest)[1] for latest in [0] * 3 + [3] * 12 + [4] * 30]
    for start in range(0, 45, 3):
        assert sorted(drawn[start : start + 3]) == [0, 1, 2]
    starts, ends = read[::2], read[1::2]
    assert [expert for expert, _ in starts] == [expert for expert, _ in ends] == drawn
    assert [end - start for (_, start), (_, end) in zip(starts, ends, strict=True)] == [4] * 45
    rows_ = [row for _, row in starts]
    assert set(rows_[:3]) == {0}
    assert set(rows_[3:15]) == {0, 1}
    assert set(rows_[15:]) == {0, 1, 2}


def test_window_expands_by_an_epoch_every_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows: list[int] = []
    original = Matcher.loss

    def watched(self: Matcher, x: Tensor, targets: Tensor, latest: int) -> tuple[Tensor, int]:
        windows.append(latest)
        return original(self, x, targets, latest)

    monkeypatch.setattr(Matcher, "loss", watched)
    run(quick("geom", start_first=1, start_epochs=4, epochs=6), tmp_path)
    assert windows == [1, 2, 3, 4, 4, 4]
    windows.clear()
    run(quick("sfgc", start_epochs=4), tmp_path)
    assert windows == [4] * 5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("backbone", ["sgc", "transformer"])
def test_other_backbones(method: str, backbone: str, tmp_path: Path) -> None:
    config = quick(method, backbone=backbone, epochs=20, evaluate_every=10, expert_lr=0.1)
    snapshots, _ = run(config, tmp_path)
    losses = [snapshot.losses["matching"] for snapshot in snapshots[1:]]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("method", METHODS)
def test_other_graphs(method: str, tmp_path: Path) -> None:
    inductive, _ = run(quick(method), tmp_path, problem(inductive=True))
    assert inductive[-1].payload.x.shape == (4, 12)
    karate = CondenseConfig("karate", method, 0.2, hidden=8, epochs=3, steps=5, experts=2)
    snapshots, _ = run(karate, tmp_path, problem("karate"))
    assert snapshots[-1].payload.x.shape == (7, 34)


@pytest.mark.parametrize("method", METHODS)
def test_labels_of_validation_and_test_nodes_are_not_learnt_from(
    method: str, tmp_path: Path
) -> None:
    graph = load(SMALL)
    other = torch.where(graph.train_mask, graph.y, (graph.y + 1) % 4)
    first, _ = run(quick(method), tmp_path / "one", problem(graph))
    second, _ = run(quick(method), tmp_path / "two", problem(dataclasses.replace(graph, y=other)))
    for a, b in zip(first, second, strict=True):
        assert torch.equal(a.payload.x, b.payload.x)
        assert torch.equal(a.payload.y, b.payload.y)


def test_late_starts_leave_something_to_match() -> None:
    with pytest.raises(ConfigError, match="start_epochs is 12; it must leave"):
        quick(start_epochs=12)


# GEOM's curriculum and labels


def test_difficulty_is_the_entropy_of_the_classes_around_a_node() -> None:
    given = problem("karate")
    labels = load("karate").y
    expected = []
    for node in given.train_nodes.tolist():
        around = [node] + [s for s, t in given.edge_index.T.tolist() if t == node and s != node]
        counts = Counter(labels[around].tolist())
        shares = [count / len(around) for count in counts.values()]
        expected.append(-sum(share * log(share) for share in shares))
    assert difficulty(given, labels).tolist() == pytest.approx(expected, abs=1e-6)


def test_curriculum_grows_from_the_easiest_nodes_to_all() -> None:
    hardness = torch.tensor([0.3, 0.0, 0.9, 0.0, 0.5, 0.1, 0.2, 0.8])
    sizes = []
    for epoch in range(12):
        chosen = easiest_first(hardness, 0.5, 10, epoch)
        rest = hardness[~chosen]
        assert not len(rest) or hardness[chosen].max() <= rest.min()
        sizes.append(int(chosen.sum()))
    assert sizes == [int(min(1.0, 0.5 ** (1 - epoch / 10)) * 8) for epoch in range(12)]
    assert sizes[0] == 4
    assert sizes[10:] == [8, 8]


def test_first_labels_keep_the_own_class() -> None:
    opinion = torch.tensor([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]]).log()
    found = first_labels(opinion, torch.tensor([0, 2])).exp()
    torch.testing.assert_close(found, torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]))


def test_lonely_nodes_see_themselves_only() -> None:
    backbone = Convolutional((11, 7, 3), 2)
    w1, b1, w2, b2 = weights = random_weights(SHAPES, seed=0)
    x = random_weights([(5, 11)], seed=2)[0]
    _, logits = backbone.outputs(weights, lonely_view(backbone, x))
    torch.testing.assert_close(logits, (x @ w1.T + b1).relu() @ w2.T + b2)


# The tangent kernel


def test_tangent_kernel_is_that_of_a_wide_network() -> None:
    """Gradients of a GCN of 40,000 hidden units, in the scaling that has a limit."""
    given = problem("karate")
    propagation = dense_propagation(given)
    x = torch.randn(34, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    z = propagation @ x
    expected = propagation @ tangent_kernel(z, z) @ propagation.T
    generator = torch.Generator().manual_seed(1)
    width = 40_000
    w1 = torch.randn(6, width, dtype=torch.float64, generator=generator)
    w2 = torch.randn(width, dtype=torch.float64, generator=generator)
    hidden = (z @ w1).relu() * (2 / width) ** 0.5
    active = (z @ w1 > 0) * w2 * (2 / width) ** 0.5
    found = propagation @ (hidden @ hidden.T + (z @ z.T) * (active @ active.T)) @ propagation.T
    torch.testing.assert_close(found, expected, rtol=0.05, atol=0.02)


def test_tangent_kernel_is_positive_and_fits_what_it_is_shown() -> None:
    x = torch.randn(12, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    kernel = tangent_kernel(x, x)
    torch.testing.assert_close(kernel, kernel.T)
    assert torch.linalg.eigvalsh(kernel).min() > 0
    torch.testing.assert_close(kernel.diagonal(), 2 * x.square().sum(dim=1))
    targets = torch.eye(12, 3, dtype=torch.float64)
    torch.testing.assert_close(ridge_regression(kernel, kernel, targets, 1e-12), targets)
    shrunk = ridge_regression(kernel, kernel, targets, 100.0)
    assert shrunk.abs().max() < 0.05
    assert tangent_kernel(torch.zeros(1, 5), torch.zeros(1, 5)).item() == 0.0


@pytest.mark.parametrize("inductive", [False, True])
def test_validation_score(inductive: bool) -> None:
    """Good synthetic nodes score lower than the same with permuted classes; as computed plainly."""
    graph = dataclasses.replace(load(SMALL), inductive=inductive)
    given = problem(graph, inductive=inductive)
    x = torch.stack([given.x[given.train_nodes[given.train_labels == c]].mean(0) for c in range(4)])
    score = ValidationScore(graph, given.device)
    good = score(CondensedGraph(x, torch.arange(4), None))
    assert good < score(CondensedGraph(x, torch.tensor([1, 2, 3, 0]), None))
    assert good == pytest.approx(score(CondensedGraph(x, torch.eye(4), None)))
    seen = graph.induced(graph.valid_mask) if inductive else graph
    rows_ = slice(None) if inductive else graph.valid_mask
    whole = dataclasses.replace(graph, inductive=False)
    if inductive:
        mask = torch.ones(len(seen.x), dtype=torch.bool)
        whole = dataclasses.replace(
            whole, x=seen.x, edge_index=seen.edge_index, y=seen.y,
            train_mask=mask, valid_mask=mask, test_mask=mask,
        )  # fmt: skip
    propagation = dense_propagation(problem(whole))
    cross = propagation[rows_] @ tangent_kernel(propagation @ whole.x.double(), x.double())
    fitted = tangent_kernel(x.double(), x.double())
    centred = torch.eye(4, dtype=torch.float64) - 0.25
    predicted = ridge_regression(fitted, cross, centred, 1.0)
    error = predicted - centred[graph.y[graph.valid_mask]]
    assert good == pytest.approx(error.square().mean().item() / 2, rel=1e-4)
