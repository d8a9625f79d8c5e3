"""The memory of a GPU: what jobs share there, and what becomes of those that need too much."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from scipy.sparse import random as random_matrix

from benchbuild.compute.sparse import PRODUCT_VARIABLE, PRODUCTS, PatternStore, sparse_matrix
from benchbuild.datasets import load
from benchbuild.engines.base import Refusal, open_context, run_job
from benchbuild.kinds.train.kind import train_run
from benchbuild.kinds.train.training import trainer
from benchbuild.kinds.train.training.blocks import PreparedGraph
from benchbuild.pipeline.jobs import Context, Place
from benchbuild.pipeline.records import JobRecord
from benchbuild.pipeline.registry import kind_of
from benchbuild.testing.everything import HP
from benchbuild.testing.gpu import PretendGpu
from benchquery.kinds.architectures.arch import Arch

CPU = torch.device("cpu")
DATASET = "csbm:nodes=300,features=8,degree=60"
OPS = ("gcn", "sage", "gat")
ARCHS = [Arch([0, 0, 0, 0], [op] * 4).valid_hash() for op in OPS]
KIND = kind_of("train")

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    """Let no test see what another one prepared."""
    trainer.prepare.cache_clear()
    yield
    trainer.prepare.cache_clear()


def worker(gpu: PretendGpu) -> Context:
    run = train_run(DATASET, archs=ARCHS, seeds=[0], hp=HP.override(epochs=1, hidden=8))
    context = open_context(KIND, run.settings, Place(str(gpu.device)))
    assert not isinstance(context, Refusal), context.reason
    return context


def peak_of(number: int) -> int:
    """The memory of a job that runs alone."""
    with PretendGpu() as gpu:
        assert run_job(KIND, worker(gpu), (number, 0)).status == "ok"
        trainer.prepare.cache_clear()
    return gpu.peak


def in_a_row(capacity: int) -> list[JobRecord]:
    """Run all jobs one after another where there is so much memory."""
    with PretendGpu(capacity) as gpu:
        context = worker(gpu)
        records = [run_job(KIND, context, (number, 0)) for number in ARCHS]
        trainer.prepare.cache_clear()
    assert gpu.peak <= capacity
    return records


def test_what_ran_before_never_makes_a_job_run_out_of_memory() -> None:
    peaks = [peak_of(number) for number in ARCHS]
    assert [record.status for record in in_a_row(max(peaks))] == ["ok"] * 3


def test_a_job_that_needs_too_much_says_how_much_there_was() -> None:
    capacity = peak_of(ARCHS[-1]) - 1
    *others, record = in_a_row(capacity)
    assert [one.status for one in others] == ["ok", "ok"]
    assert record.status == "oom"
    assert record.reason.endswith(f"(the device has {capacity / 1e6:,.1f} MB)")


def test_operations_share_the_pattern_of_their_entries() -> None:
    prepared = PreparedGraph(load(DATASET), CPU)
    for block in (prepared.whole, prepared.train):
        assert block.matrix("sage").pattern is block.matrix("arma").pattern
        assert block.matrix("gcn").pattern is block.matrix("gin").pattern
        assert block.matrix("sage").pattern is not block.matrix("gcn").pattern
    pattern = prepared.whole.matrix("gcn").pattern
    assert pattern.forward.indices is pattern.backward.indices, "an undirected graph"
    assert pattern.forward.order is None


def test_a_shared_pattern_leaves_the_values_of_an_operation(gpu: PretendGpu) -> None:
    """Alone, each would hold places and order of its entries here and in the transpose."""
    graph = load("csbm:nodes=300,features=8,degree=160")
    prepared, sizes = PreparedGraph(graph, gpu.device), []
    alone = 0
    for op in ("sage", "arma", "graph"):
        before = gpu.live
        for block in (prepared.whole, prepared.train):
            block.matrix(op)
        sizes.append(gpu.live - before)
    for block in (prepared.whole, prepared.train):
        matrix = block.matrix("sage")
        for pattern in (matrix.pattern.forward, matrix.pattern.backward):
            alone += pattern.indices.nbytes + pattern.indptr.nbytes
        alone += 2 * matrix.values.nbytes
    assert sizes[1] == sizes[2] < 0.3 * alone
    assert sizes[0] < 0.8 * alone


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_shared_pattern_gives_the_same_products(
    product: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PRODUCT_VARIABLE, product)
    matrix = random_matrix(7, 5, 0.4, format="csr", dtype=np.float32, random_state=1)
    dense = torch.randn(5, 3, requires_grad=True)
    store = PatternStore(CPU)
    for factor in (1.0, 2.0):
        for made in (store.matrix(factor * matrix), sparse_matrix(factor * matrix, CPU)):
            dense.grad = None
            out = made @ dense
            out.square().sum().backward()
            expected = torch.from_numpy(factor * matrix.toarray()) @ dense.detach()
            torch.testing.assert_close(out.detach(), expected)
            torch.testing.assert_close(
                dense.grad, torch.from_numpy(factor * matrix.toarray()).t() @ (2 * expected)
            )


def test_the_matrices_that_were_not_used_for_longest_go_first() -> None:
    prepared = PreparedGraph(load(DATASET), CPU)
    sizes = []
    for op in ("gcn", "sage", "cheb"):
        prepared.make_room([op], float("inf"))
        kept = prepared.whole.matrix(op)
        sizes.append(prepared.matrix_bytes)
    prepared.make_room(["gcn"], sizes[-1] - 1)
    assert prepared.matrix_bytes < sizes[-1]
    assert prepared.whole.matrix("cheb") is kept, "the sum over neighbours was older"
    prepared.make_room(["gcn"], 0)
    assert prepared.whole.matrix("cheb") is not kept
