"""Every kind of job on a GPU, though a pretend one: see `benchbuild.testing.gpu`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from benchbuild.datasets import load
from benchbuild.kinds.train.training import train
from benchbuild.pipeline.registry import kind_of
from benchbuild.testing.everything import HP, evaluate_runs, set_runs
from benchbuild.testing.gpu import PretendGpu
from benchbuild.testing.methods import SMALL
from benchquery.kinds.architectures.arch import Arch
from tests.benchbuild.test_every_kind import RUNS, do

pytestmark = pytest.mark.usefixtures("one_thread")


OTHERS = set_runs()
TRAINED = ("gat", "gcn", "gin", "cheb", "sage", "arma", "graph", "fc", "tune")
"""The runs that train an architecture."""


@pytest.mark.parametrize("name", [name for name in RUNS if name not in TRAINED])
def test_every_kind_and_method_keeps_its_tensors_together(
    name: str, gpu: PretendGpu, tmp_path: Path
) -> None:
    do(RUNS[name], str(gpu.device), tmp_path)
    assert gpu.operations


@pytest.mark.parametrize("name", OTHERS)
def test_methods_of_other_domains_keep_their_tensors_together(
    name: str, gpu: PretendGpu, tmp_path: Path
) -> None:
    do(OTHERS[name], str(gpu.device), tmp_path)
    assert gpu.operations


def test_evaluations_of_every_task_keep_their_tensors_together(
    gpu: PretendGpu, tmp_path: Path
) -> None:
    for run in evaluate_runs(tmp_path).values():
        gpu.reset_counts()
        do(run, str(gpu.device), tmp_path)
        assert gpu.operations


@pytest.mark.parametrize("name", TRAINED)
def test_training_gives_the_figures_of_the_cpu_and_never_waits(
    name: str, gpu: PretendGpu, tmp_path: Path
) -> None:
    run = RUNS[name]
    there = do(run, str(gpu.device), tmp_path / "gpu")
    here = do(run, "cpu", tmp_path / "cpu")
    for field in kind_of(run.kind).record.columns():
        if field.role == "figure":
            figures = getattr(there, field.name), getattr(here, field.name)
            np.testing.assert_array_equal(*figures, field.name)
    waits = dict(gpu.synchronisations)
    waits.pop("synchronize")
    assert waits == {"aten::_to_copy": 1}, "the curves come back once, when all is done"
    assert gpu.live == 0
    assert there.peak_memory <= gpu.peak


def test_a_tensor_left_behind_is_found(gpu: PretendGpu) -> None:
    x = torch.ones(3, 3, device=gpu.device)
    left = torch.ones(3)
    with pytest.raises(RuntimeError, match=r"aten::add: .*\(3,\) were left behind"):
        x + left
    with pytest.raises(RuntimeError, match="aten::mm"):
        x @ torch.eye(3)
    with pytest.raises(RuntimeError, match="aten::stack"):
        torch.stack([x.sum(), left.sum()])
    assert float(x.sum() * left.sum()) == 27, "a single number may come from main memory"


def test_a_generator_of_another_device_is_found(gpu: PretendGpu) -> None:
    x = torch.empty(3, device=gpu.device)
    with pytest.raises(RuntimeError, match="its generator is one of another device"):
        x.normal_(generator=torch.Generator())
    with pytest.raises(RuntimeError, match="its generator is one of another device"):
        x.normal_(generator=torch.default_generator)
    drawn = [
        x.normal_(generator=torch.Generator(gpu.device).manual_seed(3)).tolist() for _ in range(2)
    ]
    assert drawn[0] == drawn[1]
    torch.manual_seed(5)
    state = torch.get_rng_state()
    torch.randn(3, device=gpu.device)
    assert torch.equal(torch.get_rng_state(), state), "the device has a generator of its own"


WAITS = {
    "item": lambda x: x.sum().item(),
    "bool": lambda x: bool((x > 0).all()),
    "tolist": lambda x: x.tolist(),
    "cpu": lambda x: x.cpu(),
    "nonzero": lambda x: x.nonzero(),
    "mask": lambda x: x[x > 0],
    "unique": lambda x: x.unique(),
    "repeat": lambda x: x.repeat_interleave(x.long()),
}


@pytest.mark.parametrize("name", WAITS)
def test_waiting_for_the_device_is_found(name: str, gpu: PretendGpu) -> None:
    x = torch.ones(4, device=gpu.device)
    x.repeat_interleave(x.long(), output_size=4)[1:].sum().add(1).clone()
    assert not gpu.synchronisations
    WAITS[name](x)
    assert gpu.synchronisations.total() == 1


def test_operations_are_counted_and_views_are_not(gpu: PretendGpu) -> None:
    x = torch.zeros(4, 3, device=gpu.device)
    y = torch.empty_like(x).copy_(x.t().reshape(3, 4).t()[:])
    (y.view(-1) + 1).detach()
    assert gpu.operations == {"aten::zeros": 1, "aten::copy_": 1, "aten::add": 1}
    x.copy_(torch.ones(4, 3))
    assert (gpu.uploads, float(x.sum())) == (1, 12)


def test_live_bytes_are_those_of_the_tensors_that_are_alive(gpu: PretendGpu) -> None:
    x = torch.zeros(1000, device=gpu.device, requires_grad=True)
    assert gpu.live == 4000
    y = x.exp()
    view = y[:10]
    assert gpu.live == 8000, "a view needs nothing"
    del y
    assert gpu.live == 8000, "but keeps all of it"
    (total,) = [view.sum()]
    del view
    assert gpu.live == 8004, "as the gradient does, which needs the exponential"
    total.backward()
    del total
    assert (gpu.live, gpu.peak) == (8000, 16008), "left are x and its gradient"


def test_a_full_device_says_so() -> None:
    with PretendGpu(capacity=5000) as gpu:
        kept = torch.zeros(1000, device=gpu.device)
        with pytest.raises(torch.OutOfMemoryError, match="4,000 of 5,000 are in use"):
            kept + 1
        assert gpu.live == 4000


def test_the_same_operations_give_the_same_values(gpu: PretendGpu) -> None:
    def compute(device: torch.device) -> Tensor:
        x = torch.arange(12.0, device=device).view(4, 3).requires_grad_()
        torch.nn.functional.softmax(x @ x.t(), dim=1).diagonal().sum().backward()
        assert x.grad is not None
        x.data = x.data.t().contiguous().t()
        return x.detach() + x.grad

    here, there = compute(torch.device("cpu")), compute(gpu.device)
    assert there.device == gpu.device
    assert torch.equal(there.cpu(), here)


@pytest.mark.parametrize("op", ["gat", "gcn", "arma", "fc"])
def test_sparse_features_stay_together_too(op: str, gpu: PretendGpu) -> None:
    """The optimisers of the two round otherwise where weights are stored by column."""
    dense = load(SMALL["nodes"]["dataset"])
    graph = dataclasses.replace(dense, x=dense.x * (dense.x > 1.5))
    arch, hp = Arch([0, 1, 1, 2], [op, "skip", op, "fc"]), HP.override(epochs=2)
    there, here = (train(arch, graph, hp, 0, device) for device in (gpu.device, "cpu"))
    assert (there.status, there.reason) == ("ok", "")
    np.testing.assert_allclose(there.curves, here.curves, rtol=1e-5)


BUDGET = {"gcn": 140, "sage": 165, "gat": 395, "fc": 125}
"""By operation: how many operations an epoch of four of them in a row may start on a GPU. Launches
are most of the time of a small graph there."""


@pytest.mark.parametrize("op", BUDGET)
def test_an_epoch_keeps_its_budget_of_operations(op: str, gpu: PretendGpu) -> None:
    dense = load(SMALL["nodes"]["dataset"])
    graph = dataclasses.replace(dense, x=dense.x * (dense.x > 1.5))
    counts = []
    for epochs in (1, 1, 2):
        gpu.reset_counts()
        train(Arch([0, 1, 2, 3], [op] * 4), graph, HP.override(epochs=epochs), 0, gpu.device)
        assert gpu.operations["aten::_fused_adam_"] == epochs, "one for all weights, however stored"
        counts.append(gpu.operations.total())
    assert counts[2] - counts[1] <= BUDGET[op], "the first one also makes the matrices"
