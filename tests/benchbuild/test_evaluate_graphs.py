"""Evaluation of condensed sets of graphs: models are PyG's, figures those of a plain loop."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from ogb.graphproppred import Evaluator as OgbEvaluator
from scipy.sparse import block_diag, csr_matrix
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric import nn as pyg

from benchbuild.compute.blocks import BlockMatrix
from benchbuild.compute.devices import reproducible
from benchbuild.datasets.graphset import GraphBatch, GraphSet
from benchbuild.errors import EvaluationError
from benchbuild.kinds.condense.graphs.payload import CondensedGraphs
from benchbuild.kinds.evaluate.graphs import folding
from benchbuild.kinds.evaluate.graphs.evaluator import GraphSetEvaluator
from benchbuild.kinds.evaluate.graphs.folding import Exam
from benchbuild.kinds.evaluate.graphs.models import GraphModel, shape_of
from benchbuild.kinds.evaluate.graphs.objective import GraphObjective, rocauc
from benchbuild.kinds.evaluate.graphs.operands import Lesson
from benchbuild.kinds.evaluate.graphs.trial import DECAYS
from benchquery.kinds.condensed.config import EvalConfig
from benchquery.kinds.condensed.hyperparameters import Value
from benchquery.table.schema import curve_index

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")
FEATURES, HIDDEN, CLASSES = 5, 8, 2
POOLS = {"mean": pyg.global_mean_pool, "sum": pyg.global_add_pool}


def config(model: str = "gcn", seed: int = 0, **changed: Value) -> EvalConfig:
    small = {
        "hidden": HIDDEN,
        "layers": 3,
        "epochs": 12,
        "lr": 1e-3,
        "decay": "none",
        "norm": "none",
    }
    return EvalConfig("graph-classification", model, seed, **{**small, **changed})


def ring(nodes: int) -> Tensor:
    """The edges of a ring, in both directions."""
    place = torch.arange(nodes)
    edges = torch.stack([place, (place + 1) % nodes])
    return torch.cat([edges, edges.flip(0)], dim=1)


def star(nodes: int) -> Tensor:
    """The edges of a star, in both directions."""
    edges = torch.stack([torch.zeros(nodes - 1, dtype=torch.long), torch.arange(1, nodes)])
    return torch.cat([edges, edges.flip(0)], dim=1)


def motifs(count: int, seed: int = 0) -> GraphBatch:
    """Rings and stars in turn, with a random label and a constant on each node."""
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(4, 9, (count,), generator=generator)
    starts = torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)])
    edges = [
        (star if number % 2 else ring)(int(size)) + starts[number]
        for number, size in enumerate(sizes)
    ]
    labels = torch.randint(FEATURES - 1, (int(starts[-1]),), generator=generator)
    x = functional.one_hot(labels, FEATURES).float()
    x[:, -1] = 1
    return GraphBatch(x, torch.cat(edges, dim=1), starts, torch.arange(count) % 2)


def soft(graphs: GraphBatch, seed: int = 0) -> GraphBatch:
    """The same with random features and a random weight on every edge."""
    generator = torch.Generator().manual_seed(seed)
    return dataclasses.replace(
        graphs,
        x=torch.randn(graphs.x.shape, generator=generator),
        edge_weight=torch.rand(graphs.num_edges, generator=generator),
    )


def dataset(graphs: GraphBatch | None = None, metric: str = "accuracy") -> GraphSet:
    train, valid, test = torch.arange(60).split([30, 14, 16])
    return GraphSet(
        "motifs", graphs or motifs(60), train, valid, test, CLASSES, metric, "in their order"
    )


@pytest.fixture(scope="module")
def evaluator() -> GraphSetEvaluator:
    return GraphSetEvaluator(dataset(), CPU)


@pytest.fixture
def payload() -> CondensedGraphs:
    """Six graphs with soft edges."""
    return CondensedGraphs.of(soft(motifs(6, seed=7)))


@dataclass(frozen=True)
class Given:
    """A payload that is nothing but its graphs, as one of trees is."""

    graphs: GraphBatch
    by_row: bool = False

    def batch(self, threshold: float, device: torch.device) -> GraphBatch:
        return self.graphs.to(device)


def layer_of_pyg(conv: nn.Module, x: Tensor, graphs: GraphBatch) -> Tensor:
    """Run a layer by PyG; its GIN has no weights, its GraphConv can be one that has."""
    if isinstance(conv, pyg.GINConv) and graphs.edge_weight is not None:
        weighted = pyg.GraphConv(*conv.nn.weight.shape[::-1])
        weighted.lin_rel = conv.nn
        weighted.lin_root.weight = conv.nn.weight
        conv = weighted
    weights = () if graphs.edge_weight is None else (graphs.edge_weight,)
    out: Tensor = conv(x, graphs.edge_index, *weights)
    return out


def plain_logits(model: GraphModel, graphs: GraphBatch, pooling: str) -> Tensor:
    """Run a model by PyG's own layers, message by message."""
    h = graphs.x
    for place, conv in enumerate(model.convs):
        h = layer_of_pyg(conv, h, graphs)
        if place < len(model.norms):
            h = model.norms[place](h).relu()
    read = torch.ones(len(h), dtype=torch.bool) if graphs.pooled is None else graphs.pooled
    logits: Tensor = model.head(POOLS[pooling](h[read], graphs.graph_of[read], len(graphs)))
    return logits


def close(ours: Tensor, theirs: Tensor, atol: float = 1e-5) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=atol)


@pytest.mark.parametrize("model", ["gcn", "gin"])
@pytest.mark.parametrize("pooling", ["mean", "sum"])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_models_are_those_of_pyg(model: str, pooling: str, layers: int, weighted: bool) -> None:
    chosen = config(model, pooling=pooling, layers=layers, norm="batch")
    graphs = soft(motifs(9)) if weighted else motifs(9)
    built = GraphModel(chosen, FEATURES, CLASSES)
    lesson, exam = Lesson(graphs, shape_of(chosen)), Exam(graphs, shape_of(chosen))

    built(lesson.whole)  # so that the running statistics are some
    built.eval()
    expected = plain_logits(built, graphs, pooling)
    close(built(lesson.whole), expected)
    close(built.tried(exam), expected)
    some = torch.tensor([4, 0, 7, 3])
    close(built(lesson.cut(some)), expected[some])


@pytest.mark.parametrize("model", ["gcn", "gin"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_are_those_of_pyg(model: str, weighted: bool) -> None:
    chosen = config(model, pooling="sum", norm="batch")
    graphs = soft(motifs(8)) if weighted else motifs(8)
    built = GraphModel(chosen, FEATURES, CLASSES)
    some = torch.tensor([5, 2, 6])
    found = []
    for logits in (
        built(Lesson(graphs, shape_of(chosen)).cut(some)),
        plain_logits(built, graphs.select(some), "sum"),
    ):
        built.zero_grad()
        functional.cross_entropy(logits, graphs.y[some]).backward()
        found.append([parameter.grad.clone() for parameter in built.parameters()])
    for ours, theirs in zip(*found, strict=True):
        close(ours, theirs, atol=1e-4)


@pytest.mark.parametrize("model", ["gcn", "gin"])
@pytest.mark.parametrize("pooling", ["mean", "sum"])
def test_trees_are_read_out_at_their_roots(model: str, pooling: str) -> None:
    graphs = motifs(6)
    upwards = graphs.edge_index[:, graphs.edge_index[0] > graphs.edge_index[1]]
    roots = torch.zeros(graphs.num_nodes, dtype=torch.bool)
    roots[graphs.node_ptr[:-1]] = True
    roots[graphs.node_ptr[2] + 1] = True
    trees = dataclasses.replace(graphs, edge_index=upwards, pooled=roots)
    chosen = config(model, pooling=pooling)
    built = GraphModel(chosen, FEATURES, CLASSES)
    expected = plain_logits(built, trees, pooling)
    close(built(Lesson(trees, shape_of(chosen)).whole), expected)
    close(built.tried(Exam(trees, shape_of(chosen))), expected)
    assert not torch.allclose(expected, plain_logits(built, graphs, pooling))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 12),
    model=st.sampled_from(["gcn", "gin"]),
    weighted=st.booleans(),
)
def test_nodes_told_apart_once_give_the_same(
    seed: int, count: int, model: str, weighted: bool
) -> None:
    graphs = motifs(count, seed)
    if weighted:
        few = torch.randint(1, 3, (graphs.num_edges,), generator=torch.manual_seed(seed)) / 2
        graphs = dataclasses.replace(graphs, edge_weight=few)
    chosen = config(model, layers=4)
    built = GraphModel(chosen, FEATURES, CLASSES)
    close(
        built.tried(Exam(graphs, shape_of(chosen))),
        built(Lesson(graphs, shape_of(chosen)).whole),
    )


@pytest.mark.parametrize("model", ["gcn", "gin"])
def test_what_comes_again_costs_nothing(model: str) -> None:
    graphs, chosen = motifs(5), shape_of(config(model))
    (once,), (again,) = (
        Exam(graphs.select(numbers), chosen).parts
        for numbers in (torch.arange(5), torch.arange(5).repeat(3))
    )
    assert len(once.start) < graphs.num_nodes
    assert len(again.start) == len(once.start)
    for ours, theirs in zip(again.matrices, once.matrices, strict=True):
        assert len(ours.values) == len(theirs.values)


def test_an_exam_in_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, chosen = motifs(20), config("gin")
    built = GraphModel(chosen, FEATURES, CLASSES)
    whole = Exam(graphs, shape_of(chosen))
    monkeypatch.setattr(folding, "CHUNK", 25)
    parts = Exam(graphs, shape_of(chosen))
    assert len(whole.parts) == 1
    assert len(parts.parts) > 3
    close(built.tried(parts), built.tried(whole))


def test_blocks_are_cut_out() -> None:
    generator = np.random.default_rng(0)
    blocks = [generator.random(size) * (generator.random(size) < 0.5) for size in
              [(2, 3), (4, 1), (1, 1), (3, 2)]]  # fmt: skip
    rows, columns = (
        torch.tensor([0, *np.cumsum([block.shape[side] for block in blocks])]) for side in (0, 1)
    )
    matrix = BlockMatrix(csr_matrix(block_diag(blocks)), rows, columns, CPU)
    chosen = [3, 0, 3, 1]
    expected = torch.from_numpy(block_diag([blocks[i] for i in chosen]).toarray()).float()
    factor = torch.randn(expected.shape[1], 4, requires_grad=True)
    found = matrix.cut(torch.tensor(chosen)) @ factor
    close(found, expected @ factor)
    upstream = torch.randn(found.shape)
    close(torch.autograd.grad(found, factor, upstream)[0], expected.T @ upstream)


scored = st.lists(
    st.tuples(st.integers(-3, 3).map(lambda k: k / 2), st.integers(0, 1)), min_size=2, max_size=40
)


@settings(max_examples=50, deadline=None)
@given(scored)
def test_rocauc_is_that_of_sklearn_and_ogb(pairs: list[tuple[float, int]]) -> None:
    scores, y = (np.array(part) for part in zip(*pairs, strict=True))
    logits = torch.tensor(np.stack([np.full(len(scores), 0.25), scores + 0.25], axis=1))
    found = float(rocauc(logits, torch.tensor(y)))
    if len(set(y)) < 2:
        assert math.isnan(found)
        return
    assert found == pytest.approx(roc_auc_score(y, scores), abs=1e-12)
    theirs = OgbEvaluator("ogbg-molhiv").eval({"y_true": y[:, None], "y_pred": scores[:, None]})
    assert found == pytest.approx(theirs["rocauc"], abs=1e-12)


@pytest.mark.parametrize(
    ("logits", "y"),
    [([[0.0, math.nan], [0.0, 1.0]], [0, 1]), ([[0.0, 1.0, 2.0]] * 3, [0, 1, 2])],
    ids=["not finite", "three classes"],
)
def test_rocauc_is_no_number_where_it_is_undefined(logits: list[list[float]], y: list[int]) -> None:
    assert math.isnan(float(rocauc(torch.tensor(logits), torch.tensor(y))))


def test_the_learning_rate_falls_as_in_torch() -> None:
    assert [DECAYS["none"](epoch, 200) for epoch in (0, 199)] == [1, 1]
    assert [DECAYS["half"](epoch, 500) for epoch in (0, 249, 250, 499)] == [1, 1, 0.1, 0.1]
    optimizer = torch.optim.Adam([nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=50, gamma=0.5)
    for epoch in range(160):
        assert DECAYS["step"](epoch, 160) == pytest.approx(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()


@pytest.mark.parametrize(
    ("model", "changed"),
    [
        ("gcn", {"weight_decay": 0.01, "decay": "half"}),
        ("gin", {"pooling": "sum", "lr": 0.01, "batch": 4}),
    ],
)
def test_curves_are_those_of_a_plain_loop(
    evaluator: GraphSetEvaluator, model: str, changed: dict[str, Value]
) -> None:
    chosen = config(model, seed=3, threshold=0.0, **changed)
    weight = torch.tensor([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
    graphs = dataclasses.replace(soft(motifs(6, seed=7)), weight=weight)
    found = evaluator.evaluate(Given(graphs), chosen)

    data = dataset()
    parts = [graphs, *(data.graphs.select(part) for part in (data.valid, data.test))]
    with reproducible(CPU, chosen.seed, threads=1):
        built = GraphModel(chosen, FEATURES, CLASSES)
        generator = torch.Generator().manual_seed(chosen.seed)
        rate, decayed = chosen.number("lr"), chosen["decay"] == "half"
        optimizer = torch.optim.Adam(built.parameters(), rate, weight_decay=chosen["weight_decay"])
        for epoch in range(12):
            optimizer.param_groups[0]["lr"] = rate / 10 if decayed and epoch >= 6 else rate
            order = torch.arange(6)
            if chosen.count("batch") < 6:
                order = torch.randperm(6, generator=generator)
            built.train()
            for numbers in torch.split(order, chosen.count("batch")):
                some = graphs.select(numbers)
                optimizer.zero_grad()
                logits = plain_logits(built, some, str(chosen["pooling"]))
                losses = functional.cross_entropy(logits, some.y, reduction="none")
                ((losses * some.weight).sum() / some.weight.sum()).backward()
                optimizer.step()
            built.eval()
            for name, part in zip(("train", "valid", "test"), parts, strict=True):
                logits = plain_logits(built, part, str(chosen["pooling"])).detach()
                loss = functional.cross_entropy(logits, part.y, reduction="none")
                own = weight if name == "train" else torch.ones(len(part))
                expected = float((loss * own).sum() / own.sum())
                row = found.curve[epoch]
                assert row[curve_index(f"{name}_loss")] == pytest.approx(expected, abs=1e-4)
                perf = float((logits.argmax(1) == part.y).double().mean())
                assert row[curve_index(f"{name}_perf")] == pytest.approx(perf)
    valid = found.curve[:, curve_index("valid_perf")]
    assert found.best_epoch == int(valid.argmax())
    assert found.valid_perf == valid.max()
    assert found.perf == found.curve[found.best_epoch, curve_index("test_perf")]
    assert found.perf == found.curve[-1, curve_index("best_perf")]
    assert found.status == "ok"


def test_a_graph_that_counts_twice_is_as_good_as_two(evaluator: GraphSetEvaluator) -> None:
    graphs = motifs(4, seed=7)
    weighted = dataclasses.replace(graphs, weight=torch.tensor([2.0, 1.0, 1.0, 1.0]))
    twice = graphs.select(torch.tensor([0, 0, 1, 2, 3]))
    one, other = (evaluator.evaluate(Given(part), config("gin")) for part in (weighted, twice))
    losses = [curve_index(f"{part}_loss") for part in ("train", "valid", "test")]
    np.testing.assert_allclose(one.curve[:, losses], other.curve[:, losses], rtol=1e-4)


def test_judging_looks_at_no_test_graph(payload: CondensedGraphs) -> None:
    data, chosen = dataset(), config("gin")
    graphs = data.graphs
    nodes = torch.isin(graphs.graph_of, data.test)
    x = torch.where(nodes[:, None], torch.full_like(graphs.x, 1e30), graphs.x)
    spoilt = dataset(dataclasses.replace(graphs, x=x))
    figure = GraphSetEvaluator(data, CPU).judge(payload, chosen)
    assert figure == GraphSetEvaluator(spoilt, CPU).judge(payload, chosen)
    assert figure == GraphSetEvaluator(data, CPU).evaluate(payload, chosen).valid_perf


def test_features_are_divided_by_their_sum_where_the_payload_s_are(
    payload: CondensedGraphs,
) -> None:
    graphs = dataset().graphs
    x = graphs.x * 3 + torch.rand(graphs.x.shape, generator=torch.manual_seed(0))
    x[::7] = 0
    total = x.sum(dim=1, keepdim=True)
    divided = x / torch.where(total == 0, torch.ones_like(total), total)
    raw, scaled = (dataset(dataclasses.replace(graphs, x=part)) for part in (x, divided))
    ours = GraphSetEvaluator(raw, CPU).evaluate(dataclasses.replace(payload, by_row=True), config())
    theirs = GraphSetEvaluator(scaled, CPU).evaluate(payload, config())
    np.testing.assert_allclose(ours.curve, theirs.curve, rtol=1e-6)


def test_the_whole_set_is_learnt_once_in_batches() -> None:
    data, chosen = dataset(), config("gin", batch=8, lr=0.01)
    evaluator = GraphSetEvaluator(data, CPU)
    found = evaluator.full(chosen)
    assert found is evaluator.full(chosen)
    again = GraphSetEvaluator(data, CPU).full(chosen)
    np.testing.assert_array_equal(found.curve, again.curve)
    at_once, given = (
        evaluator.full(config("gin")),
        evaluator.evaluate(CondensedGraphs.of(data.graphs.select(data.train)), config("gin")),
    )
    np.testing.assert_array_equal(at_once.curve, given.curve)


def test_a_whole_set_that_is_too_large_is_not_learnt(evaluator: GraphSetEvaluator) -> None:
    assert not math.isnan(evaluator.full(config(full_graphs=30)).perf)
    nothing = evaluator.full(config(full_graphs=29))
    assert (nothing.status, nothing.best_epoch, nothing.curve.shape) == ("ok", -1, (12, 7))
    assert math.isnan(nothing.perf)


def test_the_other_metric_is_that_of_the_chosen_epoch(payload: CondensedGraphs) -> None:
    ours = GraphSetEvaluator(dataset(), CPU).evaluate(payload, config("gin"))
    theirs = GraphSetEvaluator(dataset(metric="rocauc"), CPU).evaluate(payload, config("gin"))
    column = curve_index("test_perf")
    assert ours.other_perf == theirs.curve[ours.best_epoch, column]
    assert theirs.other_perf == ours.curve[theirs.best_epoch, column]


def test_the_last_epoch_is_reported_where_that_is_asked_for(
    evaluator: GraphSetEvaluator, payload: CondensedGraphs
) -> None:
    best, last = (
        evaluator.evaluate(payload, config(lr=0.1, report=one)) for one in ("best", "last")
    )
    measured = [curve_index(name) for name in ("valid_perf", "test_perf")]
    np.testing.assert_array_equal(best.curve[:, measured], last.curve[:, measured])
    assert [last.valid_perf, last.perf] == last.curve[-1, measured].tolist()
    assert last.best_epoch == 11 != best.best_epoch
    assert best.valid_perf == best.curve[:, measured[0]].max()


@pytest.mark.parametrize(("every", "tried"), [(5, [4, 9, 11]), (4, [3, 7, 11]), (20, [11])])
def test_a_model_that_is_tried_less_often_is_the_same_then(
    evaluator: GraphSetEvaluator, payload: CondensedGraphs, every: int, tried: list[int]
) -> None:
    always = evaluator.evaluate(payload, config("gin", lr=0.1))
    found = evaluator.evaluate(payload, config("gin", lr=0.1, tried_every=every))
    measured = [curve_index(name) for name in ("valid_perf", "test_perf", "valid_loss")]
    np.testing.assert_array_equal(found.curve[tried][:, measured], always.curve[tried][:, measured])
    assert found.curve.shape == always.curve.shape
    assert np.isnan(np.delete(found.curve, tried, axis=0)).all()
    best = max(tried, key=lambda epoch: always.curve[epoch, measured[0]])
    assert (found.best_epoch, found.perf) == (best, always.curve[best, measured[1]])


def test_a_training_that_diverges_says_so(evaluator: GraphSetEvaluator) -> None:
    graphs = motifs(4)
    large = dataclasses.replace(graphs, x=graphs.x * 1e37)
    found = evaluator.evaluate(Given(large), config(lr=1e6, epochs=30))
    assert found.status == "diverged"
    assert "not finite in epoch" in found.reason
    assert np.isnan(found.curve[-1]).all()


def test_one_class_has_no_rocauc_but_can_be_learnt(payload: CondensedGraphs) -> None:
    alone = dataclasses.replace(payload, y=torch.zeros_like(payload.y))
    found = GraphSetEvaluator(dataset(metric="rocauc"), CPU).evaluate(alone, config())
    assert found.status == "ok"
    assert np.isnan(found.curve[:, curve_index("train_perf")]).all()
    assert 0 <= found.perf <= 1


def test_what_can_t_be_judged_is_refused(
    evaluator: GraphSetEvaluator, payload: CondensedGraphs
) -> None:
    graphs = motifs(4)
    for wrong, reason in (
        (graphs.select(torch.arange(0)), "no graphs"),
        (dataclasses.replace(graphs, x=graphs.x[:, 1:]), "has 4 features; motifs has 5"),
        (dataclasses.replace(graphs, y=graphs.y + 1), "classes from 1 to 2; those of motifs"),
    ):
        with pytest.raises(EvaluationError, match=reason):
            evaluator.evaluate(Given(wrong), config())
    with pytest.raises(EvaluationError, match="'node-classification' can't be tried on a set"):
        evaluator.evaluate(payload, EvalConfig("node-classification"))
    with pytest.raises(EvaluationError, match="unknown diagnostic 'gntk'"):
        evaluator.diagnose("gntk", payload)
    point = GraphBatch(
        torch.ones(1, FEATURES), torch.empty(2, 0, dtype=torch.long), torch.tensor([0, 1]),
        torch.zeros(1, dtype=torch.long),
    )  # fmt: skip
    with pytest.raises(EvaluationError, match="more than one node"):
        evaluator.evaluate(Given(point), config(norm="batch"))
    assert evaluator.evaluate(Given(point), config()).status == "ok"


def test_a_graph_without_edges_is_learnt_on(evaluator: GraphSetEvaluator) -> None:
    bare = dataclasses.replace(motifs(4), edge_index=torch.empty(2, 0, dtype=torch.long))
    for model in ("gcn", "gin"):
        assert evaluator.evaluate(Given(bare), config(model)).status == "ok"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("doscond", (128, 3, 500, 1e-3, 0.0, 0.0, 128, "mean", "half", "none")),
        ("gc-bench", (128, 5, 200, 1e-2, 5e-4, 0.0, 128, "mean", "step", "batch")),
        ("kidd", (64, 5, 200, 1e-3, 5e-4, 0.0, 128, "sum", "step", "batch")),
        ("mirage", (128, 2, 301, 1e-3, 0.0, 0.5, 500, "sum", "none", "none")),
    ],
)
def test_presets_are_what_the_papers_code_says(name: str, said: tuple[Value, ...]) -> None:
    """Whatever the defaults become."""
    names = ("hidden", "layers", "epochs", "lr", "weight_decay", "dropout", "batch", "pooling")
    for model in ("gcn", "gin"):
        preset = EvalConfig.preset(name, "graph-classification", model)
        assert tuple(preset[one] for one in (*names, "decay", "norm")) == said


def test_the_weighted_loss_of_a_batch_is_that_of_its_graphs() -> None:
    y, weight = torch.tensor([0, 1, 1, 0]), torch.tensor([1.0, 2.0, 3.0, 4.0])
    objective = GraphObjective("accuracy", (y, y, y), weight)
    logits, some = torch.randn(2, 2, generator=torch.manual_seed(0)), torch.tensor([2, 0])
    expected = functional.cross_entropy(logits, y[some], reduction="none")
    close(objective.loss(logits, some), (3 * expected[0] + expected[1]) / 4)
