"""The matching methods: what they yield, and the traps of the published code."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch_geometric.utils import to_dense_adj

from benchbuild.compute.adam import Adam
from benchbuild.datasets import load
from benchbuild.kinds.condense.method import Snapshot
from benchbuild.kinds.condense.nodes.loop import MatchingState
from benchbuild.kinds.condense.nodes.matching import DistributionMatching
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.scaling import scaled
from benchbuild.kinds.condense.nodes.structure import PairwiseMlp
from benchbuild.kinds.condense.nodes.views import normalised
from benchbuild.kinds.condense.registry import condenser
from benchquery.errors import ConfigError
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.domains import DOMAINS
from tests.benchbuild.condensing import CPU, SMALL, condensed, problem, settings
from tests.benchbuild.real import real_root

pytestmark = pytest.mark.usefixtures("one_thread")

MATCHING = ("gcond", "doscond", "sgdd", "gcdm", "dm")
CORE_SETS = ("random", "herding", "k-center")
SIZES: dict[str, dict[str, Any]] = {"ratio": {"ratio": 0.1}, "per_class": {"per_class": 2}}


def same(first: list[Snapshot], second: list[Snapshot]) -> bool:
    return len(first) == len(second) and all(
        torch.equal(a.payload.x, b.payload.x)
        and torch.equal(a.payload.y, b.payload.y)
        and torch.equal(a.payload.adjacency, b.payload.adjacency)
        and a.losses == b.losses
        for a, b in zip(first, second, strict=True)
    )


def moved(snapshots: list[Snapshot]) -> float:
    """Return the mean |dX| from the first snapshot to the last."""
    return float((snapshots[-1].payload.x - snapshots[0].payload.x).abs().mean())


def rewired(snapshots: list[Snapshot]) -> float:
    """Return the mean |dA| from the first snapshot to the last."""
    first, last = snapshots[0].payload.adjacency, snapshots[-1].payload.adjacency
    assert first is not None
    assert last is not None
    return float((last - first).abs().mean())


def test_every_method_of_the_registry_has_a_module() -> None:
    for domain in DOMAINS.values():
        for method in domain.methods:
            config = CondenseConfig("any", method, domain=domain.name, **SIZES[domain.size])
            assert callable(condenser(config))
    unknown = CondenseConfig("cora", "gcond", 0.026).text.replace("gcond", "gcon")
    with pytest.raises(ConfigError, match="unknown method 'gcon'"):
        condenser(CondenseConfig.from_text(unknown))


@pytest.mark.parametrize("method", MATCHING)
def test_snapshots(method: str) -> None:
    config = settings(method, epochs=5, evaluate_every=2, adj_steps=2, feat_steps=2)
    given = problem()
    snapshots = condensed(config, given)
    assert [snapshot.epoch for snapshot in snapshots] == [0, 2, 4, 5]
    assert not snapshots[0].losses
    for snapshot in snapshots:
        graph = snapshot.payload
        assert graph.x.shape == (20, 12)
        assert torch.equal(graph.y, given.synthetic_labels(config))
        assert graph.adjacency is not None
        assert not graph.x.requires_grad
        assert torch.equal(graph.adjacency, graph.adjacency.T)
        assert graph.adjacency.diagonal().count_nonzero() == 0
        assert 0 <= float(graph.adjacency.min()) <= float(graph.adjacency.max()) <= 1
    for snapshot in snapshots[1:]:
        assert snapshot.losses["matching"] > 0
    assert ("structure" in snapshots[1].losses) == (method == "sgdd")


@pytest.mark.parametrize("method", MATCHING)
def test_losses_decrease(method: str) -> None:
    changes = {"lr_feat": 0.02, "lr_adj": 0.01, "epochs": 40, "evaluate_every": 10}
    config = settings(method, adj_steps=2, feat_steps=8, **changes)
    snapshots = condensed(config)
    assert snapshots[-1].losses["matching"] < 0.8 * snapshots[1].losses["matching"]


@pytest.mark.parametrize("method", MATCHING)
def test_the_same_configuration_gives_the_same_graph(method: str) -> None:
    config = settings(method, fanout="3,2", batch=6)
    first = condensed(config)
    torch.rand(3)
    assert same(first, condensed(config))
    assert not same(first, condensed(settings(method, fanout="3,2", batch=6, seed=1)))


@pytest.mark.parametrize("method", MATCHING)
def test_global_random_state_is_left_alone(method: str) -> None:
    before = torch.random.get_rng_state()
    condensed(settings(method))
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("backbone", ["sgc", "gcn", "transformer"])
@pytest.mark.parametrize("method", ["gcond", "gcdm"])
def test_every_backbone_reaches_features_and_structure(method: str, backbone: str) -> None:
    features = condensed(settings(method, backbone=backbone, adj_steps=0, feat_steps=1))
    assert moved(features) > 0
    structure = condensed(settings(method, backbone=backbone, adj_steps=1, feat_steps=0))
    assert moved(structure) == 0
    assert rewired(structure) > 0


@pytest.mark.parametrize("inductive", [False, True])
@pytest.mark.parametrize("method", MATCHING)
def test_trap_1_features_are_updated(method: str, inductive: bool) -> None:
    config = settings(method, adj_steps=1, feat_steps=1)
    assert moved(condensed(config, problem(inductive=inductive))) > 0


@pytest.mark.parametrize(
    ("method", "inductive", "frozen"),
    [("dm", False, True), ("gcdm", False, True), ("gcond", False, False), ("gcond", True, True)],
)
def test_trap_1_is_kept_as_released(method: str, inductive: bool, frozen: bool) -> None:
    config = settings(method, adj_steps=1, feat_steps=1, protocol="as-released")
    snapshots = condensed(config, problem(inductive=inductive))
    assert (moved(snapshots) == 0) == frozen
    assert rewired(snapshots) > 0


def test_as_released_gcdm_matches_on_edges_that_are_not_normalised() -> None:
    """Its loss is the mean square between class means of A'A'XW + b and of the real graph."""
    config = settings("gcdm", fanout="full", protocol="as-released")
    given = problem()
    state = MatchingState(given, config, DistributionMatching, PairwiseMlp)
    weights = state.drawn_weights()
    with torch.no_grad():
        adjacency = state.structure(state.x)
        ours = adjacency @ adjacency @ state.x @ weights[0].T + weights[1]
        looped = to_dense_adj(given.edge_index, max_num_nodes=given.num_nodes)[0].fill_diagonal_(1)
        theirs = normalised(looped) @ normalised(looped) @ given.x @ weights[0].T + weights[1]
        both = [
            torch.stack([out[labels == one].mean(dim=0) for one in range(given.num_classes)])
            for out, labels in (
                (ours, state.labels),
                (theirs[given.train_nodes], given.train_labels),
            )
        ]
    expected = float((both[0] - both[1]).square().mean())
    assert next(state.epoch(1, weights))["matching"] == pytest.approx(expected, rel=1e-4)


def test_as_released_gcdm_trains_its_model_to_match(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"as-released": 0, "corrected": 0}
    for protocol in calls:
        state = MatchingState(
            problem(),
            settings("gcdm", outer=2, inner=3, protocol=protocol),
            DistributionMatching,
            PairwiseMlp,
        )
        objective = state._objective

        def counted(*given: Any, name: str = protocol, loss: Any = objective) -> Any:
            calls[name] += 1
            return loss(*given)

        monkeypatch.setattr(state, "_objective", counted)
        list(state.epoch(1, state.drawn_weights()))
    assert calls == {"as-released": 2 + 3, "corrected": 2}


@pytest.mark.parametrize(
    ("protocol", "paid"), [("as-released", [True, True]), ("corrected", [True, False])]
)
def test_sgdd_pays_for_transport(protocol: str, paid: list[bool]) -> None:
    """While it learns edges; as released also while it learns features."""
    steps = {"epochs": 2, "evaluate_every": 1, "adj_steps": 1, "feat_steps": 1}
    snapshots = condensed(settings("sgdd", protocol=protocol, **steps))
    assert ["structure" in snapshot.losses for snapshot in snapshots[1:]] == paid


@pytest.mark.parametrize("method", MATCHING)
def test_trap_2_features_begin_in_their_class(method: str) -> None:
    given = problem()
    train = given.x[given.train_nodes]
    graph = condensed(settings(method, epochs=1), given)[0].payload
    for row, label in zip(graph.x, graph.y, strict=True):
        assert given.train_labels[(train == row).all(dim=1)].tolist() == [int(label)]


@pytest.mark.parametrize("method", [m for m in MATCHING if m != "sgdd"])
@pytest.mark.parametrize("dataset", [SMALL, "karate", "cora", "citeseer", "ogbn-arxiv", "reddit"])
def test_trap_7_loops_are_those_asked_for_on_every_dataset(
    method: str, dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a graph is called, it gets the loops that the configuration says."""
    steps: list[tuple[int, int]] = []
    update = Adam.__call__

    def counted(self: Adam, gradients: Sequence[torch.Tensor]) -> None:
        steps.append((len(gradients), len(gradients[0])))
        update(self, gradients)

    monkeypatch.setattr(Adam, "__call__", counted)
    graph = dataclasses.replace(load(SMALL), name=dataset)
    config = settings(method, epochs=2, outer=3, inner=4, adj_steps=1, feat_steps=1, layers=2)
    condensed(config, Problem.of(graph, CPU))
    of_features = [step for step in steps if step == (1, 20)]
    of_structure = [step for step in steps if step == (8, 128)]
    assert len(of_features) == len(of_structure) == 3
    assert len(steps) == 6 + 2 * (3 - 1) * 4


CHANGES = {
    "outer": 3,
    "inner": 5,
    "lr_feat": 0.03,
    "lr_adj": 0.03,
    "lr_model": 0.5,
    "layers": 1,
    "edge_bias": -1.0,
    "batch": 3,
    "fanout": "2,2",
    "feat_steps": 2,
    "adj_steps": 2,
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("method", ["gcond", "gcdm"])
def test_trap_7_every_hyper_parameter_is_used(method: str, name: str) -> None:
    base = {"epochs": 4, "evaluate_every": 4, "adj_steps": 1, "feat_steps": 1}
    usual, other = (
        condensed(settings(method, **{**base, **c})) for c in ({}, {name: CHANGES[name]})
    )
    assert not torch.equal(usual[-1].payload.x, other[-1].payload.x)


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        ("gcond", {"distance": "mse"}),
        ("gcond", {"backbone": "gcn"}),
        ("doscond", {"hidden": 9}),
        ("sgdd", {"feature_share": 0.9}),
        ("sgdd", {"sample_nodes": 7}),
        ("sgdd", {"transport": 50.0}),
        ("sgdd", {"edge_bias": -1.0}),
        ("gcond", {"init": "noise"}),
    ],
)
def test_trap_7_what_only_some_methods_have_is_used(
    method: str, changes: dict[str, object]
) -> None:
    base: dict[str, object] = {"adj_steps": 1, "feat_steps": 1, "lr_adj": 1e-3}
    usual, other = (condensed(settings(method, **{**base, **c})) for c in ({}, changes))
    assert not torch.equal(usual[-1].payload.x, other[-1].payload.x)


@pytest.mark.parametrize("method", ["herding", "k-center"])
def test_trap_7_the_embedding_is_trained_as_asked(method: str) -> None:
    from benchbuild.kinds.condense.nodes.coreset import embedding

    usual = embedding(problem(), settings(method))
    for name, value in {
        "epochs": 25,
        "hidden": 9,
        "lr": 0.1,
        "weight_decay": 0.1,
        "dropout": 0.1,
    }.items():
        assert not torch.equal(usual, embedding(problem(), settings(method, **{name: value})))


@pytest.mark.parametrize("method", [*CORE_SETS, *MATCHING])
def test_inductive_methods_never_see_other_nodes(method: str) -> None:
    graph = dataclasses.replace(load(SMALL), inductive=True)
    config = settings(method, 0.5)
    x, y = graph.x.clone(), graph.y.clone()
    x[~graph.train_mask] = torch.nan
    y[~graph.train_mask] = 3 - y[~graph.train_mask]
    unseen = (~graph.train_mask).nonzero().view(-1)
    extra = torch.stack([unseen[:-1], unseen[1:]])
    edges = torch.cat([graph.edge_index, extra], dim=1)
    other = dataclasses.replace(graph, x=x, y=y, edge_index=edges)
    first, second = (condensed(config, Problem.of(each, CPU)) for each in (graph, other))
    assert same(first, second)


@pytest.mark.parametrize("method", [*CORE_SETS, *MATCHING])
def test_transductive_methods_never_see_other_labels(method: str) -> None:
    graph = load(SMALL)
    y = graph.y.clone()
    y[~graph.train_mask] = 3 - y[~graph.train_mask]
    other = dataclasses.replace(graph, y=y)
    first, second = (condensed(settings(method), Problem.of(each, CPU)) for each in (graph, other))
    assert same(first, second)


@pytest.mark.parametrize("method", [*CORE_SETS, *MATCHING])
def test_sparse_features(method: str) -> None:
    graph = load(SMALL)
    words = torch.where(graph.x > 1.0, graph.x, 0.0)
    both = [dataclasses.replace(graph, x=x) for x in (words, words.to_sparse_csr())]
    first, second = (
        condensed(settings(method), Problem.of(each, CPU))[-1].payload for each in both
    )
    assert not second.x.is_sparse_csr
    torch.testing.assert_close(first.x, second.x)
    assert first.adjacency is not None
    torch.testing.assert_close(first.adjacency, second.adjacency)


def test_a_class_without_training_nodes_is_left_out() -> None:
    graph = load(SMALL)
    train = graph.train_mask & (graph.y != 1)
    given = Problem.of(dataclasses.replace(graph, train_mask=train), CPU)
    for method in (*CORE_SETS, *MATCHING):
        graph_of_three = condensed(settings(method), given)[-1].payload
        assert set(graph_of_three.y.tolist()) == {0, 2, 3}


@pytest.mark.slow
def test_gcond_beats_the_sample_it_begins_with_on_cora() -> None:
    given = Problem.of(scaled(load("cora", real_root("cora"))), CPU)
    config = CondenseConfig("cora", "gcond", 0.026, epochs=15, evaluate_every=5)
    snapshots = condensed(config, given)
    assert len(snapshots[0].payload.y) == 70
    assert snapshots[-1].losses["matching"] < 0.6 * snapshots[1].losses["matching"]
