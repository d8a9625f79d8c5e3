"""Evaluation of condensed graphs: models are PyG's, figures those of a plain loop."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric import nn as pyg
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import add_self_loops, to_dense_adj

from benchbuild.compute import products
from benchbuild.datasets import Graph, load
from benchbuild.errors import DatasetError
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.nodes.payload import CondensedGraph, StoredGraph
from benchbuild.kinds.evaluate import gcn_training, node_classification
from benchbuild.kinds.evaluate import models as models_module
from benchbuild.kinds.evaluate.evaluator import GraphEvaluator
from benchbuild.kinds.evaluate.models import APPNP_RESTART, APPNP_STEPS, build_model
from benchbuild.kinds.evaluate.node_classification import NodeClassification
from benchbuild.kinds.evaluate.operands import Operands
from benchbuild.kinds.evaluate.trial import Evaluation
from benchquery.kinds.condensed.config import EvalConfig
from benchquery.kinds.condensed.domains.nodes import NODES
from benchquery.table.schema import CURVE_COLUMNS

MODELS = NODES.tasks["node-classification"].models

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")
DATASET = "csbm:nodes=120,features=16,classes=3"
SMALL = {"hidden": 8, "epochs": 12, "dropout": 0.0}
COLUMN = {column.name: place for place, column in enumerate(CURVE_COLUMNS)}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load(DATASET)


@pytest.fixture(scope="module")
def evaluator(graph: Graph) -> GraphEvaluator:
    return GraphEvaluator(graph, CPU)


@pytest.fixture
def condensed(graph: Graph) -> CondensedGraph:
    """The subgraph of the training nodes: what a core-set method gives."""
    own = graph.induced(graph.train_mask)
    adjacency = to_dense_adj(own.edge_index, max_num_nodes=len(own.x))[0]
    return CondensedGraph(own.x, own.y, adjacency)


def weighted(condensed: CondensedGraph) -> CondensedGraph:
    """The same with all pairs joined by random weights."""
    random = torch.rand(len(condensed.x), len(condensed.x), generator=torch.manual_seed(0))
    return dataclasses.replace(condensed, adjacency=torch.triu(random, 1) + torch.triu(random, 1).T)


def plain(
    name: str, model: nn.Module, x: Tensor, edges: Tensor, weight: Tensor | None = None
) -> Tensor:
    """PyG's layers as they are, on dense features and plain edges."""
    with_loops, _ = add_self_loops(edges, num_nodes=len(x))
    if name == "sgc":
        return model.layer(x, edges, weight)
    h = x
    for position, layer in enumerate(model.layers):
        if name == "gcn":
            out = layer(h, edges, weight)
        elif name in ("sage", "transformer"):
            out = layer(h, with_loops)
        elif name == "cheby":
            normal = to_dense_adj(*_normalised(edges, len(x), weight))[0]
            out = layer.lins[0](h) - layer.lins[1](normal @ h) + layer.bias
        else:
            out = layer(h)
        if position < len(model.layers) - 1:
            out = functional.relu(model.norms[position](out) if name == "transformer" else out)
        h = out
    if name == "appnp":
        return pyg.APPNP(APPNP_STEPS, APPNP_RESTART)(h, edges, weight)
    return h


def _normalised(edges: Tensor, nodes: int, weight: Tensor | None) -> tuple[Tensor, None, Tensor]:
    index, values = gcn_norm(edges, weight, nodes)
    return index, None, values


# -------------------------------------------------------------------- models


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_models_are_pygs_layers(graph: Graph, name: str, layers: int) -> None:
    model = build_model(EvalConfig(model=name, hidden=8, layers=layers), 16, 3).eval()
    ours = model(Operands(graph.x, graph.edge_index, None, CPU))
    torch.testing.assert_close(ours, plain(name, model, graph.x, graph.edge_index))


@pytest.mark.parametrize("name", ["gcn", "sgc", "appnp", "cheby", "mlp"])
def test_weighted_edges_are_pygs(condensed: CondensedGraph, name: str) -> None:
    full = weighted(condensed)
    edges, weight = full.edges(0.3)
    model = build_model(EvalConfig(model=name, hidden=8), 16, 3).eval()
    ours = model(Operands(full.x, edges, weight, CPU))
    torch.testing.assert_close(ours, plain(name, model, full.x, edges, weight))


@pytest.mark.parametrize("name", ["sage", "transformer"])
def test_weights_of_edges_count(condensed: CondensedGraph, name: str) -> None:
    """An edge of weight 2 is as good as two edges; PyG's layers know no weights."""
    edges = torch.tensor([[0, 1, 2, 0], [1, 0, 0, 2]])
    weight = torch.tensor([2.0, 2.0, 1.0, 1.0])
    doubled = torch.cat([edges, edges[:, :2]], dim=1)
    model = build_model(EvalConfig(model=name, hidden=8), 16, 3).eval()
    ours = model(Operands(condensed.x[:4], edges, weight, CPU))
    torch.testing.assert_close(ours, plain(name, model, condensed.x[:4], doubled))


@pytest.mark.parametrize("name", MODELS)
def test_sparse_features_change_nothing(name: str) -> None:
    random = torch.manual_seed(3)
    x = torch.randn(60, 40, generator=random) * (torch.rand(60, 40, generator=random) < 0.03)
    edges = torch.randint(0, 60, (2, 40), generator=random)
    edges = torch.cat([edges, edges.flip(0)], dim=1).unique(dim=1)
    edges = edges[:, edges[0] != edges[1]]
    sparse = Operands(x, edges, None, CPU)
    assert sparse.has_sparse_features
    model = build_model(EvalConfig(model=name, hidden=8), 40, 3).eval()
    torch.testing.assert_close(model(sparse), plain(name, model, x, edges))
    torch.testing.assert_close(
        model(Operands(x.to_sparse_csr(), edges, None, CPU)), plain(name, model, x, edges)
    )


def test_the_mlp_ignores_edges(graph: Graph, condensed: CondensedGraph) -> None:
    """An "MLP" that multiplies with the adjacency matrix is no MLP."""
    shuffled = dataclasses.replace(
        graph, edge_index=torch.randint(0, graph.num_nodes, graph.edge_index.shape)
    )
    config = EvalConfig(model="mlp", **SMALL)
    other = dataclasses.replace(condensed, adjacency=torch.rand_like(condensed.adjacency))
    here = GraphEvaluator(graph, CPU).evaluate(condensed, config)
    there = GraphEvaluator(shuffled, CPU).evaluate(other, config)
    assert np.array_equal(here.curve, there.curve)
    gcn = config.replace(model="gcn")
    assert not np.array_equal(
        GraphEvaluator(graph, CPU).evaluate(condensed, gcn).curve,
        GraphEvaluator(shuffled, CPU).evaluate(condensed, gcn).curve,
    )


def test_every_model_has_a_class() -> None:
    assert set(models_module._CLASSES) == set(MODELS)


# -------------------------------------------------------------------- the loop


@pytest.mark.parametrize("name", MODELS)
def test_evaluation_is_a_plain_loop(
    graph: Graph, evaluator: GraphEvaluator, condensed: CondensedGraph, name: str
) -> None:
    config = EvalConfig(model=name, seed=5, **SMALL)
    ours = evaluator.evaluate(condensed, config)
    edges = condensed.adjacency.nonzero().t()
    torch.manual_seed(5)
    model = build_model(config, graph.num_features, graph.num_classes)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    masks = (graph.valid_mask, graph.test_mask)
    for row in ours.curve:
        optimizer.zero_grad()
        functional.cross_entropy(plain(name, model, condensed.x, edges), condensed.y).backward()
        optimizer.step()
        with torch.no_grad():
            logits = plain(name, model, graph.x, graph.edge_index)
            losses = [functional.cross_entropy(logits[m], graph.y[m]).item() for m in masks]
            perfs = [(logits[m].argmax(1) == graph.y[m]).double().mean().item() for m in masks]
            train = functional.cross_entropy(plain(name, model, condensed.x, edges), condensed.y)
        expected = [*perfs, train.item(), *losses]
        assert row[1:6] == pytest.approx(expected, abs=2e-4)


def with_soft_labels(condensed: CondensedGraph) -> CondensedGraph:
    chances = torch.rand(len(condensed.x), 3, generator=torch.manual_seed(1)).softmax(dim=1)
    return dataclasses.replace(condensed, y=chances)


def with_sparse_features(condensed: CondensedGraph) -> CondensedGraph:
    return dataclasses.replace(condensed, x=condensed.x * (condensed.x > 1.2))


@pytest.mark.parametrize("changed", [weighted, with_soft_labels, with_sparse_features])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("worthwhile", [0, products.WORTHWHILE])
@pytest.mark.parametrize("inductive", [False, True])
def test_the_written_out_gcn_is_the_one_that_is_differentiated(
    graph: Graph,
    condensed: CondensedGraph,
    changed: Callable[[CondensedGraph], CondensedGraph],
    layers: int,
    worthwhile: int,
    *,
    inductive: bool,
) -> None:
    task = NodeClassification(dataclasses.replace(graph, inductive=inductive), CPU)
    config = EvalConfig(hidden=8, epochs=25, dropout=0.5, layers=layers, seed=3)
    shown = changed(condensed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "WORTHWHILE", worthwhile)
        short = task.evaluate(shown, config)
        judged = task.judge(shown, config)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(node_classification, "WRITTEN_OUT", {})
        long = task.evaluate(shown, config)
        assert judged == task.judge(shown, config)
    np.testing.assert_allclose(short.curve, long.curve, rtol=1e-4, atol=1e-6)
    assert (short.perf, short.valid_perf) == (long.perf, long.valid_perf)


@pytest.mark.parametrize("features", [None, with_sparse_features])
def test_masks_of_dropout_are_the_same_drawn_once_or_each_time(
    condensed: CondensedGraph,
    graph: Graph,
    monkeypatch: pytest.MonkeyPatch,
    features: Callable[[CondensedGraph], CondensedGraph] | None,
) -> None:
    """Neither those of another training nor those of the same one are taken for others."""
    config = EvalConfig(hidden=8, epochs=25, dropout=0.5, layers=3, seed=3)
    shown = condensed if features is None else features(condensed)
    curves = []
    for limit in (gcn_training.KEPT_MASKS, gcn_training.KEPT_MASKS, 0):
        monkeypatch.setattr(gcn_training, "KEPT_MASKS", limit)
        task = NodeClassification(graph, CPU)
        for other in ({"seed": 4}, {"dropout": 0.2}, {"layers": 2}):
            task.evaluate(shown, config.replace(**other))
        curves.append(task.evaluate(shown, config).curve)
    assert np.array_equal(curves[0], curves[1])
    assert np.array_equal(curves[0], curves[2])


def test_the_epoch_is_chosen_by_validation(
    evaluator: GraphEvaluator, condensed: CondensedGraph
) -> None:
    found = evaluator.evaluate(condensed, EvalConfig(hidden=8, epochs=40))
    valid, test = found.curve[:, COLUMN["valid_perf"]], found.curve[:, COLUMN["test_perf"]]
    assert found.best_epoch == valid.argmax()
    assert found.valid_perf == valid.max()
    assert found.perf == test[valid.argmax()]
    so_far = [test[valid[: epoch + 1].argmax()] for epoch in range(40)]
    assert np.array_equal(found.curve[:, COLUMN["best_perf"]], so_far)


def test_the_same_evaluation_twice(graph: Graph, condensed: CondensedGraph) -> None:
    config = EvalConfig(epochs=8, hidden=16)
    once, again = (GraphEvaluator(graph, CPU).evaluate(condensed, config) for _ in range(2))
    assert np.array_equal(once.curve, again.curve)
    other = GraphEvaluator(graph, CPU).evaluate(condensed, config.replace(seed=1))
    assert not np.array_equal(once.curve, other.curve)


def test_test_labels_decide_no_choice(graph: Graph, condensed: CondensedGraph) -> None:
    """With other test labels the same epoch and snapshot are chosen."""
    y = graph.y.clone()
    y[graph.test_mask] = (y[graph.test_mask] + 1) % graph.num_classes
    changed = GraphEvaluator(dataclasses.replace(graph, y=y), CPU)
    config = EvalConfig(epochs=30, hidden=8)
    here, there = (e.evaluate(condensed, config) for e in (GraphEvaluator(graph, CPU), changed))
    assert here.best_epoch == there.best_epoch
    assert here.valid_perf == there.valid_perf
    assert here.perf != there.perf
    assert GraphEvaluator(graph, CPU).judge(condensed, config) == changed.judge(condensed, config)
    assert changed.judge(condensed, config) == here.valid_perf


def test_judging_never_reads_a_test_label(graph: Graph, condensed: CondensedGraph) -> None:
    looked_up: list[Tensor] = []

    class Labels:
        """Labels that notice whose are looked up."""

        def __init__(self, y: Tensor) -> None:
            self._y = y

        def dim(self) -> int:
            return self._y.dim()

        def __getitem__(self, rows: Tensor) -> Tensor:
            looked_up.append(rows)
            return self._y[rows]

    spied = object.__new__(Graph)
    spied.__dict__.update(graph.__dict__, y=Labels(graph.y))
    evaluator = GraphEvaluator(spied, CPU)
    evaluator.judge(condensed, EvalConfig(**SMALL))
    seen = torch.cat(looked_up)
    assert not graph.test_mask[seen].any()
    evaluator.evaluate(condensed, EvalConfig(**SMALL))
    assert graph.test_mask[torch.cat(looked_up)].any()


@pytest.mark.parametrize(
    "change",
    [{"hidden": 9}, {"layers": 3}, {"epochs": 11}, {"lr": 0.02}, {"weight_decay": 0.1},
     {"dropout": 0.3}, {"threshold": 0.9}],
)  # fmt: skip
def test_hyperparameters_are_honoured(
    evaluator: GraphEvaluator, condensed: CondensedGraph, change: dict[str, float]
) -> None:
    """No setting is silently ignored."""
    graph = weighted(condensed)
    before = evaluator.evaluate(graph, EvalConfig(**SMALL)).curve
    after = evaluator.evaluate(graph, EvalConfig(**{**SMALL, **change})).curve
    if "epochs" in change:
        assert np.array_equal(before[:11], after)
    else:
        assert not np.array_equal(before, after)


def test_soft_labels(evaluator: GraphEvaluator, condensed: CondensedGraph) -> None:
    config = EvalConfig(**SMALL)
    hard = evaluator.evaluate(condensed, config)
    one_hot = dataclasses.replace(condensed, y=functional.one_hot(condensed.y, 3).float())
    assert evaluator.evaluate(one_hot, config).curve == pytest.approx(hard.curve, abs=1e-5)
    smooth = dataclasses.replace(condensed, y=one_hot.y * 0.8 + 0.2 / 3)
    assert evaluator.evaluate(smooth, config).curve[-1, 3] > hard.curve[-1, 3]


def test_no_edges_is_the_identity(evaluator: GraphEvaluator, condensed: CondensedGraph) -> None:
    none = dataclasses.replace(condensed, adjacency=None)
    empty = dataclasses.replace(condensed, adjacency=torch.zeros_like(condensed.adjacency))
    for name in MODELS:
        config = EvalConfig(model=name, **SMALL)
        first, second = (evaluator.evaluate(one, config).curve for one in (none, empty))
        assert np.array_equal(first, second)


def test_edges_below_the_threshold_are_left_out(condensed: CondensedGraph) -> None:
    adjacency = torch.tensor([[0.0, 0.049, 0.05], [0.049, 0.0, 1.0], [0.05, 1.0, 0.0]])
    edges, weight = dataclasses.replace(condensed, adjacency=adjacency).edges(0.05)
    assert edges.t().tolist() == [[0, 2], [1, 2], [2, 0], [2, 1]]
    assert weight.tolist() == pytest.approx([0.05, 1.0, 0.05, 1.0])


def test_a_diverged_evaluation_says_so(
    evaluator: GraphEvaluator, condensed: CondensedGraph
) -> None:
    huge = dataclasses.replace(condensed, x=condensed.x * 1e38)
    found = evaluator.evaluate(huge, EvalConfig(**SMALL))
    assert found.status == "diverged"
    assert "not finite" in found.reason
    assert math.isnan(found.perf)


def test_the_full_graph_is_trained_on_once(graph: Graph, condensed: CondensedGraph) -> None:
    evaluator = GraphEvaluator(graph, CPU)
    config = EvalConfig(epochs=20, hidden=8)
    first = evaluator.full(config)
    assert evaluator.full(config.replace()) is first
    assert first.perf > 0.5
    assert evaluator.full(config.replace(seed=1)) is not first


def test_nodes_with_several_tasks_are_refused(graph: Graph) -> None:
    tasks = torch.zeros(graph.num_nodes, graph.num_classes)
    with pytest.raises(DatasetError, match="can't be condensed"):
        GraphEvaluator(dataclasses.replace(graph, y=tasks, metric="rocauc"), CPU)


# -------------------------------------------------------------------- inductive


def test_inductive_sets_do_not_see_each_other(graph: Graph, condensed: CondensedGraph) -> None:
    inductive = dataclasses.replace(graph, inductive=True)
    config = EvalConfig(**SMALL)
    found = GraphEvaluator(inductive, CPU).evaluate(condensed, config)
    torch.manual_seed(0)
    model = build_model(config, graph.num_features, graph.num_classes)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    edges = condensed.adjacency.nonzero().t()
    for row in found.curve:
        optimizer.zero_grad()
        functional.cross_entropy(plain("gcn", model, condensed.x, edges), condensed.y).backward()
        optimizer.step()
        with torch.no_grad():
            losses = []
            for mask in (graph.valid_mask, graph.test_mask):
                own = graph.induced(mask)
                logits = plain("gcn", model, own.x, own.edge_index)
                losses.append(functional.cross_entropy(logits, own.y).item())
        assert row[4:6] == pytest.approx(losses, abs=2e-4)


@pytest.mark.parametrize("change", [lambda x: x * 9, lambda x: x + 3])
def test_inductive_figures_hang_on_their_own_nodes(
    graph: Graph, condensed: CondensedGraph, change: Callable[[Tensor], Tensor]
) -> None:
    x = graph.x.clone()
    x[graph.test_mask] = change(x[graph.test_mask])
    config = EvalConfig(**SMALL)
    curves = [
        GraphEvaluator(dataclasses.replace(one, inductive=True), CPU)
        .evaluate(condensed, config)
        .curve
        for one in (graph, dataclasses.replace(graph, x=x))
    ]
    assert curves[0][:, 1] == pytest.approx(curves[1][:, 1])
    assert curves[0][:, 4] == pytest.approx(curves[1][:, 4], rel=1e-5)
    full = GraphEvaluator(dataclasses.replace(graph, inductive=True), CPU).full(config)
    assert full.perf != GraphEvaluator(graph, CPU).full(config).perf


# -------------------------------------------------------------------- statistics, settings


def test_statistics_of_a_graph() -> None:
    weights = np.zeros((4, 4), dtype=np.float16)
    for a, b, weight in ((0, 1, 0.5), (0, 2, 0.25), (2, 3, 0.04), (1, 3, 0.25)):
        weights[a, b] = weights[b, a] = weight
    graph = StoredGraph(np.ones((4, 3), np.float16), np.array([0, 0, 1, 1]), weights)
    found = graph.columns(0.05)
    assert (found["nodes"], found["edges"]) == (4, 3)
    assert found["density"] == 0.5
    assert found["homophily"] == pytest.approx(0.5)
    assert found["graph_bytes"] == graph.bytes == 4 * 3 * 2 + 4 * 8 + 16 * 2
    alone = StoredGraph(graph.x, graph.y, None).columns(0.05)
    assert (alone["edges"], alone["density"]) == (0, 0.0)
    assert math.isnan(alone["homophily"])


def test_results_are_read_back_as_they_were(
    evaluator: GraphEvaluator, condensed: CondensedGraph
) -> None:
    chosen = Evaluations.of(["gcn", "mlp"], [3, 4], {"epochs": 6, "hidden": 8})
    assert Evaluations.read(chosen.settings) == chosen
    record = chosen.run(evaluator, condensed.stored())
    assert (record.status, record.reason) == ("ok", "")
    assert not list(chosen.problems(record))
    for config, results in chosen.results(record):
        assert sorted(results) == [3, 4]
        for seed, result in results.items():
            again = evaluator.evaluate(condensed.stored().payload(), config.replace(seed=seed))
            assert (result.perf, result.valid_perf) == (again.perf, again.valid_perf)
            assert np.array_equal(result.curve, again.curve.astype(np.float32))
    record = dataclasses.replace(record, eval_perf=record.eval_perf + 0.01)
    assert all("perf is" in problem for problem in chosen.problems(record))


def test_a_failed_model_leaves_the_others(
    evaluator: GraphEvaluator, condensed: CondensedGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(sizes: tuple[int, ...], dropout: float) -> nn.Module:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 9 bytes")

    known = {**models_module._CLASSES, "mlp": explode}
    monkeypatch.setattr(models_module, "_CLASSES", known)
    chosen = Evaluations.of(["gcn", "mlp"], [0], {"epochs": 3, "hidden": 8})
    record = chosen.run(evaluator, condensed.stored())
    assert record.status == "oom", "another machine may have more memory"
    assert "can't allocate" in record.reason
    states = [results[0].status for _, results in chosen.results(record)]
    assert states == ["ok", "oom"]
    assert not list(chosen.problems(record))


def test_no_room_for_the_original_graph_keeps_the_figure_of_the_condensed_one(
    evaluator: GraphEvaluator, condensed: CondensedGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(config: EvalConfig) -> Evaluation:
        raise MemoryError

    chosen = Evaluations.of(["gcn"], [0], {"epochs": 3, "hidden": 8})
    whole = chosen.run(evaluator, condensed.stored())
    monkeypatch.setattr(evaluator, "full", explode)
    record = chosen.run(evaluator, condensed.stored())
    assert record.status == "oom"
    assert record.eval_perf == whole.eval_perf
    assert np.array_equal(record.curves, whole.curves)
    assert np.isnan(record.eval_full).all()


def test_a_graph_that_a_task_can_not_be_tried_on_is_no_failure_of_the_machine(
    evaluator: GraphEvaluator, condensed: CondensedGraph
) -> None:
    chosen = Evaluations.of(["gcn"], [0], {"epochs": 3, "hidden": 8}, task="link-prediction")
    alone = dataclasses.replace(condensed, adjacency=None).stored()
    record = chosen.run(evaluator, alone)
    assert record.status == "ok"
    ((_, results),) = chosen.results(record)
    assert results[0].status == "failed"
    assert "no edges to learn links from" in results[0].reason
