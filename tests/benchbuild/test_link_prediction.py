"""Link prediction: what a model is shown, what it is tried on, and what comes of it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.nn import InnerProductDecoder
from torch_geometric.utils import to_dense_adj, to_undirected

from benchbuild.datasets import Graph, load
from benchbuild.errors import EvaluationError
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.evaluate import models as models_module
from benchbuild.kinds.evaluate.evaluator import TASKS, GraphEvaluator
from benchbuild.kinds.evaluate.link_prediction import NegativeSamples, Pairs, links_of, split_links
from benchbuild.kinds.evaluate.operands import Operands
from benchquery import condread
from benchquery.kinds.condensed.config import EvalConfig
from benchquery.kinds.condensed.domains.nodes import NODES
from tests.benchbuild.runs import benchbuild

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")
CONFIG = EvalConfig("link-prediction", hidden=16, epochs=40, dropout=0.0)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load("csbm:nodes=150,features=16,classes=3")


def as_set(pairs: Tensor) -> set[tuple[int, int]]:
    return {(min(a, b), max(a, b)) for a, b in pairs.t().tolist()}


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[Tensor, int]:
    """Edges of a graph, in any direction, some twice, some from a node to itself."""
    nodes = draw(st.integers(9, 30))
    node = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), min_size=30, max_size=120))
    ring = [(i, (i + 1) % nodes) for i in range(nodes)]
    return torch.tensor([*edges, *ring]).t(), nodes


@given(edge_lists())
@settings(max_examples=60, deadline=None)
def test_every_edge_is_seen_or_held_out_and_none_joins_a_node_to_itself(
    case: tuple[Tensor, int],
) -> None:
    edges, nodes = case
    links = as_set(edges[:, edges[0] != edges[1]])
    if round(0.05 * len(links)) == 0 or len(links) == nodes * (nodes - 1) // 2:
        return
    split = split_links(edges, nodes)
    held = [pairs.nodes[:, pairs.labels == 1] for pairs in (split.valid, split.test)]
    apart = [pairs.nodes[:, pairs.labels == 0] for pairs in (split.valid, split.test)]
    parts = [split.seen, *held]
    assert sum(part.shape[1] for part in parts) == len(links)
    assert set().union(*map(as_set, parts)) == links
    for pairs in apart:
        assert not as_set(pairs) & links
        assert (pairs[0] != pairs[1]).all()
    assert [part.shape[1] for part in held] == [part.shape[1] for part in apart]
    again = split_links(edges.flip(0), nodes)
    assert torch.equal(again.seen, split.seen)
    assert torch.equal(again.test.nodes, split.test.nodes)


@given(edge_lists(), st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_pairs_that_are_not_joined_are_drawn_evenly(case: tuple[Tensor, int], seed: int) -> None:
    edges, nodes = case
    joined = to_dense_adj(to_undirected(edges), max_num_nodes=nodes)[0].bool() | torch.eye(
        nodes, dtype=torch.bool
    )
    free = {(i, j) for i, j in (~joined).nonzero().tolist()}
    if not free:
        return
    drawn = NegativeSamples(edges, nodes).draw(200 * len(free), torch.Generator().manual_seed(seed))
    counts = Counter(map(tuple, drawn.t().tolist()))
    assert set(counts) == free
    assert max(counts.values()) < 2 * min(counts.values())


def test_a_graph_with_every_edge_has_no_others_to_draw() -> None:
    everything = (~torch.eye(5, dtype=torch.bool)).nonzero().t()
    with pytest.raises(EvaluationError, match="all nodes of the graph are joined"):
        NegativeSamples(everything, 5)
    all_but_one = everything[:, everything.sum(dim=0) > 1]
    assert as_set(NegativeSamples(all_but_one, 5).draw(9, torch.Generator())) == {(0, 1)}


def test_scores_are_those_of_pygs_decoder() -> None:
    z, nodes = torch.randn(9, 4), torch.randint(9, (2, 12))
    logits = Pairs(nodes).logits(z)
    expected = InnerProductDecoder()(z, nodes, sigmoid=True)
    assert torch.allclose(logits.softmax(dim=1)[:, 1], expected, atol=1e-6)


def test_a_model_never_sees_the_edges_that_it_is_tried_on(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Operands] = []
    original = models_module.GCN.forward

    def noticing(self: models_module.GCN, operands: Operands) -> Tensor:
        shown.append(operands)
        return original(self, operands)

    monkeypatch.setattr(models_module.GCN, "forward", noticing)
    GraphEvaluator(graph, CPU).full(CONFIG)
    split = split_links(graph.edge_index, graph.num_nodes)
    held = set().union(*(as_set(p.nodes[:, p.labels == 1]) for p in (split.valid, split.test)))
    assert len(held) > 10
    assert len(shown) == 2 * CONFIG.count("epochs")
    for operands in shown:
        source, target, _ = operands.edges
        seen = as_set(torch.stack([source, target]))
        assert not seen & held
        assert as_set(split.seen) <= seen


def test_self_loops_change_nothing(graph: Graph) -> None:
    loops = torch.arange(graph.num_nodes).expand(2, -1)
    looped = dataclasses.replace(graph, edge_index=torch.cat([graph.edge_index, loops], dim=1))
    plain, other = (GraphEvaluator(g, CPU).full(CONFIG) for g in (graph, looped))
    assert np.array_equal(plain.curve, other.curve)


def test_an_uncondensed_graph_does_as_well_as_the_graph_itself(graph: Graph) -> None:
    seen = split_links(graph.edge_index, graph.num_nodes).seen
    adjacency = to_dense_adj(to_undirected(seen), max_num_nodes=graph.num_nodes)[0]
    evaluator = GraphEvaluator(graph, CPU)
    found = evaluator.evaluate(CondensedGraph(graph.x, graph.y, adjacency), CONFIG)
    full = evaluator.full(CONFIG)
    assert found.perf == pytest.approx(full.perf, abs=0.05)
    assert full.perf > 0.55
    again = GraphEvaluator(graph, CPU).full(CONFIG)
    assert np.array_equal(full.curve, again.curve)


def test_the_tasks_of_both_packages_are_the_same() -> None:
    assert tuple(TASKS) == tuple(NODES.tasks)


def test_a_task_of_other_data_is_refused(graph: Graph) -> None:
    condensed = CondensedGraph(graph.x[:5], graph.y[:5], None)
    with pytest.raises(EvaluationError, match="'graph-classification' can't be tried on one graph"):
        GraphEvaluator(graph, CPU).evaluate(condensed, EvalConfig("graph-classification"))


def test_a_graph_without_edges_is_a_row_with_a_reason(graph: Graph) -> None:
    alone = CondensedGraph(graph.x[:5], graph.y[:5], None)
    with pytest.raises(EvaluationError, match="no edges to learn links from"):
        GraphEvaluator(graph, CPU).evaluate(alone, CONFIG)
    assert links_of(torch.tensor([[1, 1, 0], [0, 1, 1]])).tolist() == [[0], [1]]


def test_links_are_added_to_a_table_of_classified_nodes(tmp_path: Path) -> None:
    few = ("--eval-hp", "epochs=20", "--device", "cpu", "--workers", "1")
    dataset = "csbm:nodes=120,classes=3,features=8"
    learnt = ("--hp", "epochs=2", "--hp", "evaluate_every=1", "--hp", "experts=1")
    run, table, more = tmp_path / "run", tmp_path / "table", tmp_path / "more"
    for method, extra in (("random", ()), ("sfgc", learnt)):
        options = ("--method", method, "--ratio", "0.2", *extra, *few)
        assert benchbuild("condense", "--dataset", dataset, *options, "--out", run / method) == 0
    assert benchbuild("merge", run / "random", run / "sfgc", "--out", table) == 0
    task = ("--task", "link-prediction")
    assert benchbuild("evaluate", table, *task, *few, "--out", more) == 0
    assert benchbuild("merge", more, "--out", tmp_path / "both") == 0
    assert benchbuild("verify", tmp_path / "both") == 0
    cond = condread(dataset, source=tmp_path / "both")
    links = cond.where(task="link-prediction")
    by_method = {row["method"]: row for row in links.records()}
    assert 0 < by_method["random"]["perf"] <= 1
    assert by_method["random"]["full_perf"] > 0.5
    assert by_method["sfgc"]["status"] == "ok", "the condensation ended well"
    assert by_method["sfgc"]["status_seed0"] == "failed"
    assert "no edges to learn links from" in by_method["sfgc"]["reason_seed0"]
    assert {cond[config]["task"] for config in cond} == {"node-classification"}
