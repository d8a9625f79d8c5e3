"""Training: the fast way against PyG's layers and the plain loop, and what becomes of a failure."""

from __future__ import annotations

import dataclasses
import multiprocessing
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import roc_auc_score

from benchbuild.compute.devices import resolve_device
from benchbuild.compute.dropout import Dropout
from benchbuild.compute.features import DenseFeatures, SparseFeatures, make_features
from benchbuild.compute.meters import MemoryMeter, Stopwatch
from benchbuild.compute.objective import rocauc
from benchbuild.compute.result import summarise
from benchbuild.datasets import Graph, hyperparameters_for, load
from benchbuild.errors import DeviceError
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.network import build_network
from benchbuild.kinds.train.network.cell import GRAPH_FREE_OPS, make_operation
from benchbuild.kinds.train.training import TrainResult, train
from benchbuild.kinds.train.training.blocks import Block, PreparedGraph
from benchbuild.kinds.train.training.fast import FastRunner
from benchbuild.kinds.train.training.operations import on_hidden, on_raw, own_rows, store_by_column
from benchbuild.kinds.train.training.plain import PlainRunner
from benchquery.kinds.architectures.arch import OPS, Arch
from benchquery.table import schema
from tests.benchbuild.real import real_root

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")
PARAMETRIC_OPS = [op for op in OPS if op != "skip"]
SMALL = HyperParameters(0, 1, 12, 0.0, "adam", 0.01, 5e-4, 10, heads=2)


def random_graph(nodes: int = 60, features: int = 9, density: float = 1.0) -> Graph:
    """A directed graph with self-loops and with nodes nobody points at; few labelled nodes."""
    random = np.random.RandomState(3)
    edges = random.randint(nodes - 5, size=(2, 4 * nodes))
    edges[:, :5] = edges[0, :5]
    x = random.standard_normal((nodes, features)) * (
        random.random_sample((nodes, features)) < density
    )
    order = torch.from_numpy(random.permutation(nodes))
    masks = [torch.zeros(nodes, dtype=torch.bool) for _ in range(3)]
    for mask, chosen in zip(masks, order[:18].split([6, 5, 7]), strict=True):
        mask[chosen] = True
    return Graph.build(
        "random",
        torch.from_numpy(x),
        torch.from_numpy(edges),
        torch.from_numpy(random.randint(3, size=nodes)),
        (masks[0], masks[1], masks[2]),
        num_classes=3,
        split="random",
    )


def with_tasks(graph: Graph) -> Graph:
    """The same graph with four binary tasks, like ogbn-proteins."""
    y = torch.stack([(graph.y + task) % 2 for task in range(4)], dim=1).float()
    for mask in (graph.train_mask, graph.valid_mask, graph.test_mask):
        y[mask.nonzero()[0]], y[mask.nonzero()[1]] = 0.0, 1.0
    return dataclasses.replace(graph, y=y, num_classes=4, metric="rocauc")


def blocks_of(graph: Graph) -> Iterator[tuple[Block, torch.Tensor]]:
    """The blocks of a graph, each with the rows it gives."""
    prepared = PreparedGraph(graph, CPU)
    masks = (graph.train_mask, graph.valid_mask, graph.test_mask)
    rows = [mask.nonzero().flatten() for mask in masks]
    yield prepared.whole, torch.arange(graph.num_nodes)
    yield prepared.train, rows[0]
    yield prepared.evaluate, torch.cat(rows)


def apply_layer(op: str, layer: torch.nn.Module, x: torch.Tensor, graph: Graph) -> torch.Tensor:
    return layer(x) if op in GRAPH_FREE_OPS else layer(x, graph.edge_index)


def gradients(out: torch.Tensor, of: list[torch.Tensor]) -> list[torch.Tensor | None]:
    weights = torch.linspace(-1, 1, out.numel()).view(out.shape)
    return list(torch.autograd.grad((out * weights).sum(), of, allow_unused=True))


def assert_same(ours: list[torch.Tensor | None], theirs: list[torch.Tensor | None]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("op", OPS)
def test_operation_on_hidden_features_is_pyg_s_layer(op: str) -> None:
    graph = random_graph(features=12)
    torch.manual_seed(1)
    layer = make_operation(op, 12, SMALL)
    x = graph.x.clone().requires_grad_()
    for block, rows in blocks_of(graph):
        ours = on_hidden(op, layer, own_rows(op, block).of(x), block)
        theirs = apply_layer(op, layer, x, graph)[rows]
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
        leaves = [x, *layer.parameters()]
        assert_same(gradients(ours, leaves), gradients(theirs, leaves))


@pytest.mark.parametrize("op", PARAMETRIC_OPS)
@pytest.mark.parametrize("density", [0.1, 1.0])
def test_operation_on_raw_features_is_pyg_s_layer(op: str, density: float) -> None:
    graph = random_graph(density=density)
    torch.manual_seed(2)
    layer = make_operation(op, 9, SMALL)
    if density < 1:
        store_by_column(layer)
    features = make_features(graph.x, CPU)
    assert isinstance(features, SparseFeatures if density < 1 else DenseFeatures)
    for block, rows in blocks_of(graph):
        ours = on_raw(op, layer, features, block)
        theirs = apply_layer(op, layer, graph.x, graph)[rows]
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
        leaves = list(layer.parameters())
        assert_same(gradients(ours, leaves), gradients(theirs, leaves))


def test_leaves_are_cut_to_the_rows_that_matter() -> None:
    graph = random_graph(nodes=200)
    (whole, _), (train_block, rows), _ = blocks_of(graph)
    assert whole.sources.index is None
    assert train_block.targets.index is not None
    assert train_block.sources.index is not None
    assert train_block.targets.index.tolist() == rows.tolist()
    incoming = {s for s, t in graph.edge_index.t().tolist() if t in set(rows.tolist())}
    assert set(train_block.sources.index.tolist()) == incoming | set(rows.tolist())


ARCHS = [
    Arch([0, 1, 2, 3], ["gat", "gcn", "gin", "cheb"]),
    Arch([0, 1, 2, 3], ["sage", "arma", "graph", "fc"]),
    Arch([0, 0, 1, 1], ["cheb", "gat", "skip", "sage"]),
    Arch([0, 0, 0, 0], ["gin", "fc", "graph", "arma"]),
    Arch([0, 1, 2, 2], ["skip", "gat", "skip", "gcn"]),
    Arch([0, 1, 1, 1], ["skip", "gcn", "cheb", "arma"]),
    Arch([0, 0, 1, 2], ["graph", "gin", "gat", "skip"]),
]


def assert_curves_agree(arch: Arch, graph: Graph, hp: HyperParameters) -> None:
    fast, plain = train(arch, graph, hp, seed=1), train(arch, graph, hp, seed=1, plain=True)
    assert fast.status == plain.status == "ok"
    losses = slice(3, 6)
    np.testing.assert_allclose(
        fast.curves[:, losses], plain.curves[:, losses], rtol=2e-3, atol=2e-3
    )
    accuracy_gap = np.abs(fast.curves[:, :3] - plain.curves[:, :3]).max()
    assert accuracy_gap <= 0.021


@pytest.mark.parametrize("arch", ARCHS, ids=str)
@pytest.mark.parametrize(("pre", "post"), [(0, 1), (1, 0)])
def test_records_equal_the_plain_loop_s(arch: Arch, pre: int, post: int) -> None:
    hp = hyperparameters_for("csbm").override(dropout=0.0, epochs=10, pre=pre, post=post, lr=0.003)
    assert_curves_agree(arch, load("csbm"), hp)


def test_records_equal_the_plain_loop_s_for_sgd_and_many_tasks() -> None:
    hp = SMALL.override(optimizer="sgd", lr=0.05, pre=1)
    assert_curves_agree(ARCHS[1], with_tasks(random_graph()), hp)


def test_records_equal_the_plain_loop_s_on_cora() -> None:
    hp = hyperparameters_for("cora").override(dropout=0.0, epochs=3)
    assert_curves_agree(
        Arch([0, 0, 1, 2], ["gcn", "gat", "sage", "arma"]), load("cora", real_root("cora")), hp
    )


@pytest.mark.parametrize("arch", [ARCHS[0], ARCHS[2]], ids=str)
def test_dropout_has_the_plain_loop_s_distribution(arch: Arch) -> None:
    """Mean and spread of the training logits over many masks, with fixed weights."""
    graph = random_graph(density=0.15)
    hp = SMALL.override(dropout=0.6)
    draws = 500
    network = build_network(arch, graph.num_features, graph.num_classes, hp, seed=0)
    random = torch.Generator().manual_seed(0)
    for node in network.nodes:
        torch.nn.init.normal_(node.norm.weight, generator=random)
        torch.nn.init.normal_(node.norm.bias, generator=random)
    fast = FastRunner(network, PreparedGraph(graph, CPU), seed=1)
    plain = PlainRunner(network, graph, CPU)
    torch.manual_seed(1)
    with torch.no_grad():
        ours = torch.stack([fast.training_logits() for _ in range(draws)]).double()
        theirs = torch.stack([plain.training_logits() for _ in range(draws)]).double()
    error = ((ours.var(dim=0) + theirs.var(dim=0)) / draws).sqrt()
    assert float(((ours.mean(dim=0) - theirs.mean(dim=0)).abs() / error).max()) < 5
    spread = (ours.std(dim=0) / theirs.std(dim=0)).log().abs()
    assert float(spread.max()) < 0.3


@settings(max_examples=20, deadline=None)
@given(p=st.floats(0.05, 0.95), seed=st.integers(0, 2**31))
def test_dropout_keeps_the_share_it_should(p: float, seed: int) -> None:
    count = 40_001
    mask = Dropout(p, seed, CPU).mask(torch.Size((count,)))
    assert mask.shape == (count,)
    assert abs(float(mask.double().mean()) - (1 - p)) < 6 * (p * (1 - p) / count) ** 0.5


def test_dropout_masks_are_independent_and_seeded() -> None:
    dropout, again = Dropout(0.5, 7, CPU), Dropout(0.5, 7, CPU)
    shape = torch.Size((200, 300))
    one, two = dropout.mask(shape).double(), dropout.mask(shape).double()
    assert torch.equal(again.mask(shape).double(), one)
    limit = 6 / (200 * 300) ** 0.5
    assert abs(float(torch.corrcoef(torch.stack([one.flatten(), two.flatten()]))[0, 1])) < limit
    for lag in (1, 2, 3, 4, 300):
        shifted = torch.stack([one.flatten()[lag:], one.flatten()[:-lag]])
        assert abs(float(torch.corrcoef(shifted)[0, 1])) < limit


def test_relu_and_dropout_in_one_pass() -> None:
    y = torch.randn(50, 8, generator=torch.Generator().manual_seed(0)).requires_grad_()
    mask = Dropout(0.4, 3, CPU).mask(y.shape)
    ours = Dropout(0.4, 3, CPU).after_relu(y * 2.0)
    theirs = torch.relu(y * 2.0) * mask
    assert torch.equal(ours, theirs)
    assert_same(gradients(ours, [y]), gradients(theirs, [y]))


def test_the_module_holds_the_trained_weights() -> None:
    graph = load("csbm")
    hp = hyperparameters_for("csbm")
    network = build_network(ARCHS[0], graph.num_features, graph.num_classes, hp, seed=0)
    fast = FastRunner(network, PreparedGraph(graph, CPU), seed=0)
    optimizer = torch.optim.Adam(network.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        fast.training_logits().sum().backward()
        optimizer.step()
    network.eval()
    with torch.no_grad():
        everything = network(graph.x, graph.edge_index)
    torch.testing.assert_close(fast.all_logits(), everything, rtol=1e-3, atol=1e-4)
    masks = (graph.train_mask, graph.valid_mask, graph.test_mask)
    wanted = torch.cat([everything[mask] for mask in masks])
    torch.testing.assert_close(fast.evaluation_logits(), wanted, rtol=1e-3, atol=1e-4)


def short_job(seed: int) -> TrainResult:
    hp = hyperparameters_for("karate").override(epochs=15)
    return train(Arch([0, 0, 1, 2], ["gat", "cheb", "gin", "arma"]), load("karate"), hp, seed)


@pytest.mark.slow
def test_same_job_same_record_alone_or_in_a_pool() -> None:
    torch.manual_seed(99)
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    alone = [short_job(seed) for seed in (0, 1, 0)]
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert np.array_equal(alone[0].curves, alone[2].curves)
    assert not np.array_equal(alone[0].curves, alone[1].curves)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pooled = pool.map(short_job, [1, 0])
    assert np.array_equal(pooled[1].curves, alone[0].curves)
    assert np.array_equal(pooled[0].curves, alone[1].curves)


def test_result_says_what_was_measured() -> None:
    result = short_job(0)
    assert result.ok
    assert result.status == "ok"
    assert result.reason == ""
    assert result.curves.shape == (15, len(schema.CURVE_COLUMNS))
    assert result.epochs_done == 15
    assert not result.curves.flags.writeable
    assert np.isfinite(result.curves).all()
    assert result.curves[-1, -1] == result.perf == result.curves[result.best_epoch, 2]
    assert 0 < result.latency < result.train_seconds
    assert result.peak_memory > 2**20
    assert result.environment["device"] == "cpu"
    assert result.environment["torch"]
    assert result.hash == Arch([0, 0, 1, 2], ["gat", "cheb", "gin", "arma"]).valid_hash()


def test_divergence_is_a_result() -> None:
    hp = hyperparameters_for("csbm").override(optimizer="sgd", lr=1e20, epochs=25)
    result = train(Arch([0, 1, 2, 3], ["gin", "gin", "gin", "gin"]), load("csbm"), hp, seed=0)
    assert result.status == "diverged"
    assert result.reason == f"the loss was not finite in epoch {result.epochs_done}"
    assert np.isnan(result.curves[result.epochs_done :]).all()
    assert np.isfinite(result.curves[: result.epochs_done]).all()


def test_failure_is_a_result() -> None:
    karate = load("karate")
    graph = dataclasses.replace(karate, y=karate.y.int())
    result = train(ARCHS[0], graph, hyperparameters_for("karate"), seed=0)
    assert result.status == "failed"
    assert "Long" in result.reason
    assert "\n" not in result.reason
    assert result.epochs_done == 0
    assert result.best_epoch == -1
    assert np.isnan(result.perf)
    assert train(ARCHS[0], load("karate"), SMALL, seed=0).status == "ok"


OUT_OF_MEMORY = """
import resource, torch
from benchbuild.datasets import load
from benchbuild.datasets import hyperparameters_for
from benchbuild.kinds.train.training import train
from benchquery.kinds.architectures.arch import Arch
graph, arch = load("karate"), Arch([0, 1, 2, 3], ["gcn", "gcn", "gcn", "gcn"])
hp = hyperparameters_for("karate").override(epochs=2)
assert train(arch, graph, hp, 0).status == "ok"
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 2**28
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
result = train(arch, graph, hp.override(hidden=2**14), 0)
print(result.status, result.reason)
assert train(arch, graph, hp, 0).status == "ok"
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits its own memory the Linux way")
def test_running_out_of_memory_is_a_result() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OUT_OF_MEMORY], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("oom RuntimeError")


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_interrupt_is_not_swallowed() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            train(ARCHS[0], load("csbm"), hyperparameters_for("csbm").override(epochs=10**6), 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@settings(max_examples=100, deadline=None)
@given(
    measured=arrays(
        float,
        st.tuples(st.integers(1, 12), st.just(6)),
        elements=st.sampled_from([0.0, 0.25, 0.5, 0.5004, 1.0, np.nan, np.inf]),
    )
)
def test_summary_follows_the_rules(measured: np.ndarray) -> None:
    done = 0
    while done < len(measured) and np.isfinite(measured[done, 3:]).all():
        done += 1
    measured[:done, :3] = np.nan_to_num(measured[:done, :3], posinf=1.0)
    summary = summarise(measured)
    assert summary.epochs_done == done
    assert np.isnan(summary.curves[done:]).all()
    best = -1
    for epoch in range(done):
        if best < 0 or measured[epoch, 4] < measured[best, 4]:
            best = epoch
        assert summary.curves[epoch, -1] == measured[best, 2]
        assert np.array_equal(summary.curves[epoch, :-1], measured[epoch])
    assert summary.best_epoch == best
    if done:
        assert summary.perf == measured[best, 2]
        assert summary.valid_perf == max(measured[:done, 1])
    else:
        assert np.isnan(summary.perf)
        assert np.isnan(summary.valid_perf)


def test_rocauc_is_the_mean_over_the_tasks() -> None:
    random = np.random.RandomState(0)
    y, score = random.randint(0, 2, (40, 5)), random.standard_normal((40, 5)).astype(np.float32)
    expected = np.mean([roc_auc_score(y[:, k], score[:, k]) for k in range(5)])
    ours = rocauc(torch.from_numpy(score), torch.from_numpy(y).float())
    assert float(ours) == pytest.approx(expected)
    score[0, 0] = np.nan
    assert torch.isnan(rocauc(torch.from_numpy(score), torch.from_numpy(y).float()))


def test_devices() -> None:
    assert resolve_device("cpu") == CPU
    assert resolve_device("auto").type in ("cpu", "cuda")
    with pytest.raises(DeviceError, match=r"cuda:99.*use cpu"):
        resolve_device("cuda:99")
    with pytest.raises(DeviceError, match="unknown device 'abacus'"):
        resolve_device("abacus")


def test_a_stopwatch_on_one_thread_does_not_count_waiting() -> None:
    watch = Stopwatch(CPU)
    time.sleep(0.2)
    waited = watch.seconds()
    _ = sum(range(3_000_000))
    assert waited < 0.1 < time.process_time()
    assert watch.seconds() > waited


def test_a_paused_stopwatch_does_not_count() -> None:
    watch = Stopwatch(CPU)
    watch.pause()
    paused = watch.seconds()
    _ = sum(range(1_000_000))
    assert watch.seconds() == paused
    watch.resume()
    _ = sum(range(1_000_000))
    assert watch.seconds() > paused


def test_a_paused_memory_meter_does_not_look() -> None:
    meter = MemoryMeter(CPU)
    meter.pause()
    paused = meter.peak()
    size = 200 * 2**20
    np.ones(size, dtype=np.uint8)
    assert meter.peak() == paused
    meter.resume()
    assert paused <= meter.peak() < paused + size // 2
    np.ones(size, dtype=np.uint8)
    assert meter.peak() > paused + size // 2


def test_a_stopwatch_on_several_threads_counts_the_time_on_the_wall() -> None:
    torch.set_num_threads(2)
    watch = Stopwatch(CPU)
    time.sleep(0.05)
    assert watch.seconds() >= 0.05
