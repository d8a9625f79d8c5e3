"""Clustering and anomaly detection on condensed graphs, and controls with something shuffled."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score
from torch import nn
from torch_geometric.utils import erdos_renyi_graph, to_dense_adj

from benchbuild.datasets import Graph, load
from benchbuild.errors import EvaluationError
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.evaluate.anomalies import (
    Dominant,
    Plain,
    inject_contextual,
    inject_structural,
)
from benchbuild.kinds.evaluate.clustering import agreement, sharpened, soft_assignment
from benchbuild.kinds.evaluate.controls import controlled
from benchbuild.kinds.evaluate.evaluator import TASKS, GraphEvaluator
from benchbuild.kinds.evaluate.operands import Operands
from benchquery.kinds.condensed.config import EvalConfig
from benchquery.kinds.condensed.domains.nodes import NODES

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")
CLUSTERING = ("node-clustering", "node-clustering-pretrained")
ANOMALIES = ("structural-anomaly-detection", "contextual-anomaly-detection")
SMALL = {"hidden": 8, "epochs": 10}
SHORT = {"node-clustering-pretrained": {"pretraining": 10}}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load("csbm:nodes=120,features=16,classes=3")


@pytest.fixture(scope="module")
def evaluator(graph: Graph) -> GraphEvaluator:
    return GraphEvaluator(graph, CPU)


@pytest.fixture(scope="module")
def condensed(graph: Graph) -> CondensedGraph:
    own = graph.induced(graph.train_mask)
    adjacency = to_dense_adj(own.edge_index, max_num_nodes=len(own.x))[0]
    return CondensedGraph(own.x, own.y, adjacency)


def test_both_packages_name_the_same_tasks() -> None:
    assert list(TASKS) == list(NODES.tasks)


# ------------------------------------------------------------------- agreement


def test_agreement_of_a_small_case_by_hand() -> None:
    found = agreement(np.array([5, 5, 5, 9, 9, 2]), np.array([0, 0, 1, 1, 1, 2]))
    assert found.accuracy == pytest.approx(5 / 6)
    assert found.f1 == pytest.approx((0.8 + 0.8 + 1.0) / 3)
    assert agreement(np.zeros(6, int), np.array([0, 0, 0, 1, 1, 2])).accuracy == pytest.approx(0.5)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40),
       st.permutations(range(4)))  # fmt: skip
def test_names_of_clusters_do_not_matter(pairs: list[tuple[int, int]], names: list[int]) -> None:
    clusters, classes = (np.array(column) for column in zip(*pairs, strict=True))
    found = agreement(clusters, classes)
    again = agreement(np.array(names)[clusters], classes)
    for name in ("accuracy", "nmi", "ari"):
        assert getattr(again, name) == pytest.approx(getattr(found, name))
    assert found.accuracy >= accuracy_score(classes, clusters) - 1e-12
    assert agreement(np.array(names)[classes], classes).accuracy == 1.0
    best = f1_score(classes, classes, average="macro")
    assert agreement(np.array(names)[classes], classes).f1 == pytest.approx(best)


def test_soft_assignments_are_those_of_the_paper() -> None:
    z, centres = torch.randn(7, 3, generator=torch.manual_seed(0)), torch.eye(3)
    q = soft_assignment(z, centres)
    near = [[1 / (1 + float(((one - c) ** 2).sum())) for c in centres] for one in z]
    wanted = torch.tensor([[value / sum(row) for value in row] for row in near])
    torch.testing.assert_close(q, wanted)
    p = sharpened(q)
    torch.testing.assert_close(p.sum(dim=1), torch.ones(7))
    weight = q**2 / q.sum(dim=0)
    torch.testing.assert_close(p, weight / weight.sum(dim=1, keepdim=True))


# ------------------------------------------------------------------- clustering


def test_clusters_that_are_far_apart_are_found(graph: Graph) -> None:
    means = 10 * torch.eye(3, 16)
    alone = torch.empty((2, 0), dtype=torch.int64)
    x = means[graph.y] + 0.01 * graph.x
    easy = GraphEvaluator(dataclasses.replace(graph, x=x, edge_index=alone), CPU)
    payload = CondensedGraph(means.repeat(4, 1), torch.arange(12) % 3, None)
    for model in ("k-means", "daegc"):
        found = easy.evaluate(payload, EvalConfig("node-clustering", model, **SMALL))
        assert (found.perf, found.valid_perf) == pytest.approx((1.0, 1.0)), model
        assert found.more == pytest.approx((1.0, 1.0, 1.0))


@pytest.mark.parametrize("task", [*CLUSTERING, *ANOMALIES])
def test_figures_are_those_of_the_last_epoch_and_repeat(
    task: str, evaluator: GraphEvaluator, condensed: CondensedGraph
) -> None:
    small = {**SMALL, **SHORT.get(task, {})}
    config = EvalConfig(task, **small)
    found, again = (evaluator.evaluate(condensed, config) for _ in range(2))
    other = evaluator.evaluate(condensed, config.replace(seed=1))
    assert (found.perf, found.valid_perf) == (again.perf, again.valid_perf)
    np.testing.assert_array_equal(found.curve, again.curve)
    assert not np.array_equal(found.curve, other.curve)
    assert len(found.more) == len(config.measures)
    assert found.best_epoch == len(found.curve) - 1
    evaluations = Evaluations.of(None, (0,), small, task)
    record = evaluations.run(evaluator, condensed.stored())
    assert record.status == "ok"
    ((_, results),) = evaluations.results(record)  # type: ignore[arg-type]
    assert not list(results[0].problems(config))
    assert results[0].more == pytest.approx(evaluator.evaluate(
        condensed.stored().payload(), config).more)  # fmt: skip
    assert len(results[0].full_more) == len(config.measures)


def test_pretraining_uses_the_labels(evaluator: GraphEvaluator, condensed: CondensedGraph) -> None:
    told = EvalConfig("node-clustering-pretrained", hidden=16, epochs=5, pretraining=60, warmup=5)
    shuffled = told.replace(control="labels")
    means = {
        config: np.mean([evaluator.evaluate(condensed, config.replace(seed=seed)).perf
                         for seed in range(2)])
        for config in (told, shuffled)
    }  # fmt: skip
    assert means[told] > means[shuffled]


def test_too_few_nodes_for_the_clusters(evaluator: GraphEvaluator) -> None:
    tiny = CondensedGraph(torch.zeros(2, 16), torch.tensor([0, 1]), None)
    with pytest.raises(EvaluationError, match="2 nodes: too few for 3 clusters"):
        evaluator.evaluate(tiny, EvalConfig("node-clustering"))


# ------------------------------------------------------------------- anomalies


def plain(nodes: int = 60) -> Plain:
    edges = erdos_renyi_graph(nodes, 0.05).numpy()
    x = np.random.default_rng(0).random((nodes, 5))
    return Plain(x, edges, np.full(edges.shape[1], 0.5))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 100), st.integers(2, 6), st.floats(0.05, 0.5))
def test_structural_anomalies_are_cliques(seed: int, size: int, share: float) -> None:
    torch.manual_seed(seed)
    before, among = plain(), np.arange(10, 50)
    config = EvalConfig(ANOMALIES[0], anomalies=share, clique=size)
    after, chosen = inject_structural(before, among, config, np.random.default_rng(seed))
    assert set(chosen) <= set(among)
    assert len(chosen) == max(round(share * 40), 2)
    joined = {(a, b): w for a, b, w in zip(*after.edges.tolist(), after.weights, strict=True)}
    assert len(joined) == after.edges.shape[1]
    degree = {node: sum(one == node and joined[one, other] == 1.0 for one, other in joined)
              for node in chosen.tolist()}  # fmt: skip
    assert all(min(size, len(chosen)) - 1 <= degree[node] <= size for node in list(degree)[:size])
    old = set(zip(*before.edges.tolist(), strict=True))
    assert old <= set(joined)
    assert all(a in chosen and b in chosen for a, b in set(joined) - old)
    np.testing.assert_array_equal(after.x, before.x)


def test_contextual_anomalies_take_the_farthest_features() -> None:
    before = plain()
    config = EvalConfig(ANOMALIES[1], candidates=1000, anomalies=0.1)
    after, chosen = inject_contextual(before, np.arange(60), config, np.random.default_rng(0))
    assert len(chosen) == 6
    for node in range(60):
        distance = np.linalg.norm(before.x - before.x[node], axis=1)
        wanted = before.x[distance.argmax() if node in chosen else node]
        np.testing.assert_array_equal(after.x[node], wanted)
    np.testing.assert_array_equal(before.x, plain().x)
    one = inject_contextual(plain(6), np.arange(6), config, np.random.default_rng(0))[1]
    assert len(one) == 1


def test_dominant_rebuilds_what_pyg_gives() -> None:
    x = torch.rand(9, 4, generator=torch.manual_seed(0))
    edges = erdos_renyi_graph(9, 0.4)
    model = Dominant(4, 3)
    found, joined = model(Operands(x, edges, None, CPU))
    first, second = model.encoder.layers
    h = first(x, edges).relu()
    h = second(h, edges).relu()
    decoder = model.of_features.layers
    torch.testing.assert_close(found, decoder[1](decoder[0](h, edges).relu(), edges))
    z = model.of_edges.layers[0](h, edges)
    torch.testing.assert_close(joined, torch.sigmoid(z @ z.T))
    assert isinstance(model, nn.Module)


def test_odd_features_are_noticed(evaluator: GraphEvaluator, graph: Graph) -> None:
    # All nodes alike but those whose features are swapped for far ones.
    alike = graph.x.clone()
    alike[:] = 1.0
    alike[graph.train_mask] = torch.linspace(-5, 5, int(graph.train_mask.sum()))[:, None]
    easy = GraphEvaluator(dataclasses.replace(graph, x=alike), CPU)
    payload = CondensedGraph(torch.ones(20, 16), torch.arange(20) % 3, None)
    config = EvalConfig(ANOMALIES[1], hidden=16, epochs=60, candidates=1000)
    assert easy.evaluate(payload, config).perf > 0.9


# ------------------------------------------------------------------- controls


def test_controls_shuffle_one_thing(condensed: CondensedGraph) -> None:
    assert condensed.adjacency is not None
    config = EvalConfig()
    assert controlled(condensed, config) is condensed
    labels = controlled(condensed, config.replace(control="labels"))
    assert labels.x is condensed.x
    assert labels.adjacency is condensed.adjacency
    assert not torch.equal(labels.y, condensed.y)
    assert torch.equal(labels.y.bincount(), condensed.y.bincount())
    structure = controlled(condensed, config.replace(control="structure"))
    assert structure.y is condensed.y
    assert structure.adjacency is not None
    assert not torch.equal(structure.adjacency, condensed.adjacency)
    assert torch.equal(
        structure.adjacency.sum(dim=0).sort().values, condensed.adjacency.sum(dim=0).sort().values
    )
    free = dataclasses.replace(condensed, adjacency=None)
    with pytest.raises(EvaluationError, match="no edges"):
        controlled(free, config.replace(control="structure"))


def test_shuffled_labels_are_not_learnt(
    evaluator: GraphEvaluator, condensed: CondensedGraph
) -> None:
    config = EvalConfig(hidden=16, epochs=40)
    told, shuffled = (
        evaluator.evaluate(condensed, config.replace(control=control)).perf
        for control in ("none", "labels")
    )
    assert told > shuffled + 0.2
    full = evaluator.full(config.replace(control="labels"))
    assert full is evaluator.full(config)


def test_old_hashes_stay() -> None:
    assert EvalConfig().text == (
        '{"model":"gcn","recipe":"1","seed":0,"task":"node-classification"}'
    )
