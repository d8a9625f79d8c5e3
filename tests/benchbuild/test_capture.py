"""An epoch captured as a CUDA graph, on the pretend GPU: see `benchbuild.testing.cuda_graph`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from benchbuild.cli import main
from benchbuild.compute.capture import WARM_UPS
from benchbuild.datasets import Graph, load
from benchbuild.errors import DeviceError
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.training import fast, train
from benchbuild.testing.cuda_graph import REPLAY
from benchbuild.testing.everything import HP
from benchbuild.testing.gpu import PretendGpu
from benchbuild.testing.methods import SMALL
from benchquery.kinds.architectures.arch import OPS, Arch

pytestmark = pytest.mark.usefixtures("one_thread")
SHORT = HP.override(epochs=WARM_UPS + 2)


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Return a small graph of dense features."""
    return load(SMALL["nodes"]["dataset"])


def sparse(graph: Graph) -> Graph:
    """Return the same graph with few features left."""
    return dataclasses.replace(graph, x=graph.x * (graph.x > 1.5))


def tasks(graph: Graph) -> Graph:
    """Return the same graph with two tasks of two classes for labels, judged by ROC-AUC."""
    y = torch.stack([graph.y % 2, (torch.arange(len(graph.y)) % 3 == 0).long()], dim=1)
    return dataclasses.replace(graph, y=y.float(), num_classes=2, metric="rocauc")


def curves(
    arch: Arch, graph: Graph, gpu: PretendGpu, *, capture: bool, hp: HyperParameters = SHORT
) -> np.ndarray:
    """Train and return the curves."""
    found = train(arch, graph, hp, 0, gpu.device, capture=capture)
    assert (found.status, found.reason) == ("ok", "")
    return found.curves


@pytest.mark.parametrize("op", [op for op in OPS if op != "skip"])
def test_a_captured_epoch_gives_the_same_figures(op: str, graph: Graph, gpu: PretendGpu) -> None:
    arch = Arch([0, 1, 1, 2], [op, "skip", op, "fc"])
    expected = curves(arch, graph, gpu, capture=False)
    np.testing.assert_array_equal(curves(arch, graph, gpu, capture=True), expected)
    assert len(np.unique(expected[:, 0])) > 1, "else it would show nothing"
    assert gpu.operations[REPLAY] == SHORT.epochs - WARM_UPS, "warm-ups are epochs too"


@pytest.mark.parametrize(("change", "optimizer"), [(sparse, "adam"), (tasks, "sgd")])
def test_so_it_does_on_other_data(
    change: Callable[[Graph], Graph], optimizer: str, graph: Graph, gpu: PretendGpu
) -> None:
    arch, hp = Arch([0, 1, 1, 2], ["gcn", "skip", "gat", "fc"]), SHORT.override(optimizer=optimizer)
    first, second = (
        curves(arch, change(graph), gpu, capture=capture, hp=hp) for capture in (False, True)
    )
    np.testing.assert_array_equal(first, second)


def test_an_epoch_is_one_launch_and_one_copy(graph: Graph, gpu: PretendGpu) -> None:
    counts = []
    for more in (1, 1, 3):
        gpu.reset_counts()
        hp = HP.override(epochs=WARM_UPS + more)
        curves(Arch([0, 1, 2, 3], ["gcn"] * 4), graph, gpu, capture=True, hp=hp)
        counts.append(gpu.operations.total())
    assert counts[2] - counts[1] == 2 * 2, "the first one also makes the matrices"


FAULTS = {
    "waits for the device": lambda self: float(self.scale * torch.ones((), device=self._device)),
    "copies from main memory": lambda self: torch.tensor([1.0]).to(self._device),
    "not registered": lambda self: torch.rand(1, device=self._device),
}


@pytest.mark.parametrize("said", FAULTS)
def test_what_can_not_be_captured_is_found(
    said: str, graph: Graph, gpu: PretendGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Faulty(fast.Dropout):
        def mask(self, shape: torch.Size) -> torch.Tensor:
            FAULTS[said](self)
            return super().mask(shape)

    monkeypatch.setattr(fast, "Dropout", Faulty)
    found = train(Arch([0, 1, 2, 3], ["gcn"] * 4), graph, SHORT, 0, gpu.device, capture=True)
    assert (found.status, found.epochs_done) == ("failed", WARM_UPS)
    assert said in found.reason


def test_a_number_that_the_host_changes_is_found_by_its_figures(
    graph: Graph, gpu: PretendGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the host counts is recorded once; a captured epoch would go on with it."""

    class Counting(fast.Dropout):
        calls = 0

        def mask(self, shape: torch.Size) -> torch.Tensor:
            self.calls += 1
            return (
                super().mask(shape)
                & (torch.arange(shape[0], device=self._device) >= self.calls)[:, None]
            )

    monkeypatch.setattr(fast, "Dropout", Counting)
    arch = Arch([0, 1, 2, 3], ["fc"] * 4)
    first, second = (curves(arch, graph, gpu, capture=capture) for capture in (False, True))
    assert np.array_equal(first[: WARM_UPS + 1], second[: WARM_UPS + 1])
    assert not np.array_equal(first, second)


def test_a_cpu_captures_nothing(graph: Graph) -> None:
    with pytest.raises(DeviceError, match="CUDA devices only, not on 'cpu'; leave --capture out"):
        train(Arch([0, 1, 2, 3], ["gcn"] * 4), graph, SHORT, 0, "cpu", capture=True)


def test_the_command_refuses_a_cpu_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        f"train --dataset karate --sample 1 --epochs 1 --capture --device cpu --out {tmp_path}/r"
    )
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert "CUDA devices only, not on 'cpu'; leave --capture out there" in said
    assert "Traceback" not in said
