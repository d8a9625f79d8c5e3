"""Differentiable search: the supernet is the space's own networks, and nothing leaks."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.cli import main, make_parser
from benchbuild.compute.dropout import Dropout
from benchbuild.datasets import Graph, hyperparameters_for, load
from benchbuild.errors import HyperParameterError
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.darts.kind import (
    DEFAULT_ARCH_LR,
    DEFAULT_ARCH_WEIGHT_DECAY,
    darts_run,
)
from benchbuild.kinds.darts.records import LINK_NAMES, NO_ARCH, derive
from benchbuild.kinds.darts.search import (
    SearchGraph,
    SearchResult,
    SearchSettings,
    SupernetRunner,
    Turns,
    prepare,
    search,
)
from benchbuild.kinds.darts.supernet import MixedNode, Supernet
from benchbuild.kinds.train.network.cell import GRAPH_FREE_OPS, CellNetwork, CellNode
from benchbuild.kinds.train.network.wiring import wire
from benchbuild.kinds.train.training.plain import PlainRunner
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.testing import synthetic_record, synthetic_run
from benchquery import Arch, lightread, read_weights
from benchquery.errors import QueryError, TableKindError
from benchquery.kinds.architectures.arch import LINKS, NODES, OPS
from tests.benchbuild.runs import benchbuild, finish, rows, start, wait_for_parts

CPU = torch.device("cpu")
SETTINGS = SearchSettings(OPS, 0.02, 1e-3)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Small matrices gain nothing from more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load("csbm:nodes=60,classes=3", None)


@pytest.fixture(scope="module")
def hp(graph: Graph) -> HyperParameters:
    return hyperparameters_for(graph.name).override(pre=1, hidden=8, dropout=0.0, epochs=3)


def supernet(graph: Graph, hp: HyperParameters, link: Sequence[int]) -> Supernet:
    """A supernet whose BatchNorms have seen something."""
    torch.manual_seed(7)
    network = Supernet(link, OPS, graph.num_features, graph.num_classes, hp)
    for node in network.nodes:
        assert isinstance(node, MixedNode)
        node.norm.running_mean.normal_()
        node.norm.running_var.uniform_(0.5, 2.0)
        torch.nn.init.normal_(node.norm.weight)
        torch.nn.init.normal_(node.norm.bias)
    return network


def runner_of(network: Supernet, graph: Graph) -> SupernetRunner:
    return SupernetRunner(network, prepare(graph, CPU), Dropout(0.0, 0, CPU))


def canonical_archs() -> list[Arch]:
    """Architectures of all nine link lists, every operation among them, as they stand."""
    found = []
    for number, link in enumerate(LINKS):
        ops = [OPS[(2 * number + 3 * k) % len(OPS)] for k in range(NODES)]
        raw = Arch(link, [op if op != "skip" else "fc" for op in ops])
        found.append(raw.canonical())
    return [*found, Arch.from_hash(88812), Arch.from_hash(88007), Arch.from_hash(61237)]


def cell_network(network: Supernet, arch: Arch, graph: Graph, hp: HyperParameters) -> CellNetwork:
    """The network of an architecture with the weights of a supernet."""
    cell = CellNetwork(wire(arch, graph.num_features, graph.num_classes, hp))
    pairs = [(cell.pre, network.pre), (cell.post, network.post), (cell.head, network.head)]
    for node, mixed, op in zip(cell.nodes, network.nodes, arch.ops, strict=True):
        assert isinstance(node, CellNode)
        assert isinstance(mixed, MixedNode)
        pairs += [(node.norm, mixed.norm), (node.op, mixed.ops[op])]
    for mine, theirs in pairs:
        assert mine is not None
        assert theirs is not None
        mine.load_state_dict(theirs.state_dict())
    return cell


@pytest.mark.parametrize("arch", canonical_archs(), ids=lambda arch: str(arch.valid_hash()))
def test_a_mixture_of_one_is_the_network_of_the_architecture(
    graph: Graph, hp: HyperParameters, arch: Arch
) -> None:
    network = supernet(graph, hp, arch.link)
    plain = PlainRunner(cell_network(network, arch, graph, hp), graph, CPU)
    runner, prepared = runner_of(network, graph), prepare(graph, CPU)
    mixture = torch.eye(len(OPS))[[OPS.index(op) for op in arch.ops]]
    train, valid = int(graph.train_mask.sum()), int(graph.valid_mask.sum())
    expected = plain.evaluation_logits()[train : train + valid]
    torch.testing.assert_close(runner.logits(prepared.valid, mixture), expected)
    loss = functional.cross_entropy(plain.training_logits(), graph.y[graph.train_mask])
    torch.testing.assert_close(runner.loss(prepared.train, mixture), loss)


def reference(network: Supernet, graph: Graph, mixture: Tensor) -> Tensor:
    """The formula of the supernet by PyG's layers, node by node and operation by operation."""
    outputs = [network.pre(graph.x.to_dense().to(network.pre.weight.dtype))]
    for k, parent in enumerate(network.link):
        node = network.nodes[k]
        assert isinstance(node, MixedNode)
        z = functional.relu(node.norm(outputs[parent]))
        outputs.append(torch.zeros_like(z))
        for weight, (op, layer) in zip(mixture[k], node.ops.items(), strict=True):
            out = layer(z) if op in GRAPH_FREE_OPS else layer(z, graph.edge_index)
            outputs[-1] = outputs[-1] + weight * out
    h = functional.relu(torch.cat([outputs[k] for k in network.leaves], dim=1))
    return cast(Tensor, network.head(h if network.post is None else network.post(h)))


@pytest.mark.parametrize("link", LINKS, ids=str)
def test_a_mixture_is_the_weighted_sum_of_all_operations(
    graph: Graph, hp: HyperParameters, link: tuple[int, ...]
) -> None:
    network = supernet(graph, hp.override(post=link[-1] % 2), link)
    mixture = torch.randn(NODES, len(OPS)).softmax(dim=1)
    expected = reference(network.eval(), graph, mixture)[graph.valid_mask]
    logits = runner_of(network, graph).logits(prepare(graph, CPU).valid, mixture)
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-5)


def turns_of(graph: Graph, hp: HyperParameters) -> tuple[Supernet, Turns]:
    network = supernet(graph, hp, LINKS[3])
    prepared = SearchGraph(graph, CPU)
    runner = SupernetRunner(network, prepared, Dropout(hp.dropout, 0, CPU))
    return network, Turns(runner, prepared, torch.randn(NODES, len(OPS)), hp, SETTINGS)


def copies(network: Supernet) -> list[Tensor]:
    return [parameter.detach().clone() for parameter in network.parameters()]


def test_each_loss_moves_its_own_parameters_only(graph: Graph, hp: HyperParameters) -> None:
    network, turns = turns_of(graph, hp)
    weights, alphas = copies(network), turns.alphas.detach().clone()
    turns.step_architecture()
    moved = turns.alphas.detach().clone()
    assert (moved != alphas).all()
    assert all(parameter.grad is None for parameter in network.parameters())
    torch.testing.assert_close(copies(network), weights, rtol=0, atol=0)
    gradient = turns.alphas.grad
    assert gradient is not None
    gradient = gradient.clone()
    turns.step_weights()
    torch.testing.assert_close(turns.alphas.grad, gradient, rtol=0, atol=0)
    torch.testing.assert_close(turns.alphas.detach(), moved, rtol=0, atol=0)
    assert any((now != then).any() for now, then in zip(copies(network), weights, strict=True))


def test_the_architecture_gradient_is_that_of_the_validation_loss(
    graph: Graph, hp: HyperParameters
) -> None:
    network, turns = turns_of(graph, hp)
    alphas = turns.alphas.detach().clone()
    turns.step_architecture()
    assert turns.alphas.grad is not None
    network.double().train()
    valid = graph.valid_mask

    @torch.no_grad()
    def loss(values: Tensor) -> float:
        logits = reference(network, graph, values.softmax(dim=1))
        return float(functional.cross_entropy(logits[valid], graph.y[valid]))

    step = 1e-5
    for k, op in ((0, 0), (1, 5), (3, 8)):
        change = torch.zeros_like(alphas).double()
        change[k, op] = step
        slope = (loss(alphas + change) - loss(alphas - change)) / (2 * step)
        assert slope == pytest.approx(float(turns.alphas.grad[k, op]), rel=1e-3, abs=1e-7)


def run_search(graph: Graph, hp: HyperParameters, seed: int = 0) -> SearchResult:
    return search(LINKS[3], graph, hp.override(dropout=0.3), SETTINGS, seed=seed, device=CPU)


def test_a_search_is_determined_by_its_seed(graph: Graph, hp: HyperParameters) -> None:
    first = run_search(graph, hp)
    torch.manual_seed(99)
    again, other = run_search(graph, hp), run_search(graph, hp, seed=1)
    np.testing.assert_array_equal(first.weights, again.weights)
    np.testing.assert_array_equal(first.history, again.history)
    assert (first.weights != other.weights).all()
    assert first.weights.shape == (3, NODES, len(OPS))
    np.testing.assert_allclose(first.weights.sum(axis=2), 1, rtol=1e-6)


def test_a_search_never_sees_the_test_labels(graph: Graph, hp: HyperParameters) -> None:
    y = graph.y.clone()
    y[graph.test_mask] = (y[graph.test_mask] + 1) % graph.num_classes
    blind = run_search(dataclasses.replace(graph, y=y), hp)
    np.testing.assert_array_equal(run_search(graph, hp).weights, blind.weights)


def test_a_search_that_diverges_ends_there(graph: Graph, hp: HyperParameters) -> None:
    wild = hp.override(optimizer="sgd", lr=1e30, epochs=20)
    found = search(LINKS[8], graph, wild, SETTINGS, seed=0, device=CPU)
    assert found.epochs_done < 20
    assert len(found.weights) == len(found.history) == found.epochs_done


def test_a_supernet_needs_one_width(graph: Graph, hp: HyperParameters) -> None:
    with pytest.raises(HyperParameterError, match="pre=0"):
        supernet(graph, hp.override(pre=0), LINKS[0])


def test_what_is_derived_has_the_largest_weights() -> None:
    mixture = np.full((NODES, len(OPS)), 0.05)
    mixture[[0, 1, 2, 3], [OPS.index(op) for op in ("gcn", "gin", "fc", "cheb")]] = 0.6
    assert (
        derive("0112", OPS, mixture)
        == Arch([0, 1, 1, 2], ["gcn", "gin", "fc", "cheb"]).valid_hash()
    )
    assert derive("0123", OPS, np.eye(len(OPS))[[8, 8, 8, 8]]) == NO_ARCH


# ------------------------------------------------------------------------ as a run


def words(out: Path, *more: str) -> list[str | Path]:
    fixed = ["darts", "--dataset", "karate", "--epochs", "3", "--links", "0000,0012,0123"]
    return [*fixed, "--seeds", "2", "--device", "cpu", "--workers", "1", "--out", out, *more]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing happened to."""
    out = tmp_path_factory.mktemp("whole") / "run"
    assert benchbuild(*words(out)) == 0
    return out


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_table(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = start(*words(out))
    wait_for_parts(out, process)
    process.kill()
    finish(process)
    kept = {(row["link"], row["seed"]): row["finished"] for row in rows(out)}
    assert kept
    assert benchbuild(*words(out)) == 0
    after = {(row["link"], row["seed"]): row["finished"] for row in rows(out)}
    assert kept.items() <= after.items(), "a finished search ran again"
    merge([out], tmp_path / "killed")
    merge([whole], tmp_path / "unharmed")
    killed, unharmed = (
        read_weights(tmp_path / name).operation_weights() for name in ("killed", "unharmed")
    )
    assert killed.searches == unharmed.searches
    np.testing.assert_array_equal(killed.values, unharmed.values)
    histories = [
        (tmp_path / name / "history.parquet").read_bytes() for name in ("killed", "unharmed")
    ]
    assert histories[0] == histories[1]


def test_the_table_has_every_edge_and_says_what_it_is(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benchbuild("verify", whole) == 0
    assert benchbuild("merge", whole, "--out", tmp_path / "table") == 0
    assert "216 operation weights on 'karate'" in capsys.readouterr().out
    assert benchbuild("verify", tmp_path / "table") == 0
    with pytest.raises(TableKindError, match="read_weights"):
        lightread("karate", source=tmp_path / "table")
    summary = pq.read_table(tmp_path / "table" / "summary.parquet").to_pylist()
    edges = {(row["link"], row["seed"], row["position"], row["operation"]) for row in summary}
    assert len(edges) == len(summary) == 3 * 2 * NODES * len(OPS)
    by_record = {(row["link"], row["seed"]): row for row in rows(whole)}
    last = {
        key: np.reshape(row["weights"], (3, NODES, len(OPS)))[-1] for key, row in by_record.items()
    }
    for row in summary:
        key = row["link"], row["seed"]
        assert row["weight"] == last[key][row["position"] - 1, OPS.index(row["operation"])]
        assert row["derived"] == by_record[key]["derived"]
    manifest = json.loads((tmp_path / "table" / "manifest.json").read_text())
    assert manifest["origin"] == "measured"
    assert manifest["kind"] == "weights"
    assert manifest["provenance"]["jobs"] == {"ok": 6}
    history = pq.read_table(tmp_path / "table" / "history.parquet")
    assert history.num_rows == 3 * 2 * 3


def test_a_search_that_diverged_is_in_the_table_without_weights(tmp_path: Path) -> None:
    wild = ["--hp", "optimizer=sgd", "--hp", "lr=1e30", "--links", "0123", "--epochs", "20"]
    out = tmp_path / "run"
    options = ["--device", "cpu", "--workers", "1", "--out", out]
    assert benchbuild("darts", "--dataset", "karate", *wild, *options) == 2
    (record,) = rows(out)
    assert record["status"] == "diverged"
    assert record["derived"] == NO_ARCH
    merge([out], tmp_path / "table")
    summary = pq.read_table(tmp_path / "table" / "summary.parquet")
    assert summary.num_rows == NODES * len(OPS)
    assert np.isnan(summary.column("weight").to_numpy()).all()
    with pytest.raises(QueryError, match="ended well"):
        read_weights(tmp_path / "table").operation_weights()


def test_the_outcome_is_compared_with_the_table_of_the_dataset(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert benchbuild(*words(whole)) == 0
    assert "there is no table of 'karate'" in capsys.readouterr().out
    described = synthetic_run(sample=40)
    folder = RunFolder.begin(tmp_path / "synthetic", described)
    keys = kind_of("train").keys(described)
    folder.parts.add(Shard(), [synthetic_record(described, key) for key in keys])
    merge([folder.path], tmp_path / "tables" / "karate")
    monkeypatch.setenv("GRAPHTAB_TABLES", str(tmp_path / "tables"))
    picture = tmp_path / "weights.png"
    assert benchbuild(*words(whole, "--json", "--plot", str(picture))) == 0
    found = json.loads(capsys.readouterr().out)
    assert picture.exists()
    assert -1 <= found["spearman"] <= 1
    assert [row["operation"] for row in found["operations"]] == list(OPS)
    assert sum(row["weight"] for row in found["operations"]) == pytest.approx(1)
    assert len(found["searches"]) == 6


def test_a_record_that_contradicts_itself_is_found(whole: Path) -> None:
    kind = kind_of("darts")
    run = RunFolder.open(whole).run
    record = next(RunFolder.open(whole).parts.records())
    assert not list(kind.problems(run, record))
    assert list(kind.problems(run, dataclasses.replace(record, derived=1)))
    assert list(kind.problems(run, dataclasses.replace(record, weights=record.weights[1:])))
    assert list(kind.problems(run, dataclasses.replace(record, weights=2 * record.weights)))


def test_jobs_are_planned_by_link_and_seed() -> None:
    run = darts_run("cora", seeds=[0, 1, 2])
    kind = kind_of("darts")
    keys = kind.keys(run)
    assert len(keys) == len(set(keys)) == 27
    assert {key[0] for key in keys} == set(LINK_NAMES)
    assert all(cost.seconds > 0 and math.isfinite(cost.memory) for cost in kind.costs(run, keys))
    assert kind.expected([run]) == set(keys)


def test_the_help_tells_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        make_parser().parse_args(["darts", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert f"default {DEFAULT_ARCH_LR}" in shown
    assert f"default {DEFAULT_ARCH_WEIGHT_DECAY}" in shown


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ("--dataset nosuch", "nosuch"),
        ("--dataset cora --links 0210", "'0210'"),
        ("--dataset cora --links 0012,0012", "0012"),
        ("--dataset cora --seeds x", "'x'"),
        ("--dataset cora --hp pre=0", "pre=0"),
        ("--dataset cora --hp speed=3", "speed"),
        ("--dataset cora --arch-lr -1", "arch_lr=-1"),
        ("--dataset cora --arch-lr fast", "'fast'"),
        ("--dataset cora --arch-weight-decay nan", "arch_weight_decay=nan"),
        ("--dataset cora --plot weights.txt", "weights.txt"),
        ("--dataset karate --plot weights.png", "'karate'"),
    ],
)
def test_bad_input_is_named(more: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["darts", *more.split()])
    except SystemExit as stop:
        code = int(stop.code or 0)
    assert code == 2
    assert named in capsys.readouterr().err


def test_a_dry_run_says_what_it_would_take(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        benchbuild("darts", "--dataset", "cora", "--seeds", "3", "--shard", "1/3", "--dry-run") == 0
    )
    assert "27 jobs in all, 9 in shard 1/3" in capsys.readouterr().out


def test_other_settings_are_refused_in_the_same_folder(
    whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benchbuild(*words(whole, "--arch-lr", "0.5")) == 2
    assert "arch_lr" in capsys.readouterr().err


def test_a_run_keeps_what_decides_its_figures() -> None:
    base = darts_run("karate")
    assert base.digest == darts_run("karate", seeds=[4]).digest
    assert base.digest != darts_run("karate", arch_weight_decay=0.0).digest
