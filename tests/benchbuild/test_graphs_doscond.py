"""DosCond for sets of graphs: what it draws, learns, keeps and refuses."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import settings as example_settings
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.utils import to_dense_adj, to_dense_batch

from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.graphs.gcn import GraphGcn
from benchbuild.kinds.condense.graphs.gumbel import probabilities, relaxed_sample, temperature
from benchbuild.kinds.condense.graphs.init import dense, graph_size, initial_graphs
from benchbuild.kinds.condense.graphs.matching import GraphMatching, relative_distance
from benchbuild.kinds.condense.graphs.payload import CondensedGraphs
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.graphs.views import DenseView, RealGraphs, normalised
from benchbuild.kinds.condense.learning import Learner
from benchbuild.kinds.condense.methods.graphs.doscond import PATIENCE, DosCondState
from benchquery.kinds.condensed.config import CondenseConfig
from tests.benchbuild.graph_sets import CPU, batch_of, condensed, noisy_problem, settings

pytestmark = pytest.mark.usefixtures("one_thread")


def drawing(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    ("step", "expected"), [(0, 1.0), (100, 0.1), (150, 0.01**0.75), (200, 0.01), (900, 0.01)]
)
def test_the_temperature_falls_and_stays(step: int, expected: float) -> None:
    assert temperature(step) == pytest.approx(expected)


@example_settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(0, 300))
def test_samples_are_undirected_edges_without_loops(seed: int, nodes: int, step: int) -> None:
    generator = drawing(seed)
    logits = 5 * torch.randn(3, nodes, nodes, generator=generator)
    for edges in (probabilities(logits), relaxed_sample(logits, temperature(step), generator)):
        assert torch.equal(edges, edges.mT)
        assert not bool(edges.diagonal(dim1=1, dim2=2).any())
        assert bool(((edges >= 0) & (edges <= 1)).all())


def test_cold_samples_are_edges_as_often_as_they_are_likely() -> None:
    logits = torch.tensor([[0.0, 2.0], [0.0, 0.0]]).expand(20_000, 2, 2)
    drawn = relaxed_sample(logits, 0.001, drawing())[:, 0, 1]
    assert float((drawn > 0.5).float().mean()) == pytest.approx(1 / (1 + math.exp(-1)), abs=0.01)
    assert float(((drawn > 0.01) & (drawn < 0.99)).float().mean()) < 0.01


def test_dense_graphs_are_pygs() -> None:
    graphs = noisy_problem(graphs=4, size=5).graphs
    x, adjacency = dense(graphs, 7)
    expected, _ = to_dense_batch(graphs.x, graphs.graph_of, max_num_nodes=7)
    assert torch.equal(x, expected)
    assert torch.equal(adjacency, to_dense_adj(graphs.edge_index, graphs.graph_of, max_num_nodes=7))


@pytest.mark.parametrize("init", ["sample", "herding", "k-center"])
def test_it_begins_with_training_graphs_of_the_class(init: str) -> None:
    problem = noisy_problem(graphs=20)
    first = condensed(problem, settings("doscond", 3, init=init, nodes=6))[0]
    made = first.payload.batch(0.5, CPU)
    known = problem.graphs.x.view(20, 6, 4)
    for graph, label in zip(made.x.view(6, 6, 4), made.y, strict=True):
        (found,) = (known == graph).all(dim=2).all(dim=1).nonzero()
        assert problem.graphs.y[found] == label
    assert first.epoch == 0
    assert made.num_edges == 6 * 12
    assert made.edge_weight is None


def test_graphs_to_begin_with_are_small_enough() -> None:
    sizes = [3, 9, 4, 9, 2, 9, 9, 4]
    graphs = batch_of(sizes, [], torch.rand(sum(sizes), 2), [0, 0, 1, 1, 0, 1, 0, 1])
    problem = GraphsProblem(graphs, 2)
    begun = initial_graphs(problem, settings("doscond", 2, nodes=4), drawing())
    assert sorted(int(each.any(dim=1).sum()) for each in begun.x) == [2, 3, 4, 4]
    assert begun.density == 0
    with pytest.raises(CondenseError, match=r"class 0 .* nodes to 3 or more, or begin with noise"):
        initial_graphs(problem, settings("doscond", 2, nodes=2), drawing())


def test_a_set_that_is_not_listed_gets_the_mean_size() -> None:
    graphs = batch_of([3, 4], [], torch.ones(7, 1), [0, 1])
    problem = GraphsProblem(graphs, 2)
    assert graph_size(problem, settings("doscond", 1)) == 4
    assert graph_size(problem, CondenseConfig("nci1", "doscond", per_class=1)) == 30


@pytest.mark.parametrize("init", ["sample", "noise"])
def test_features_and_edges_are_learnt_before_and_after_the_decay(init: str) -> None:
    """An optimiser that holds other tensors than those that are used would leave them as are."""
    config = settings("doscond", init=init, decay_after=2, lr_adj=1.0)
    state = DosCondState(noisy_problem(), config)
    steps = []
    for epoch in range(1, 5):
        x, logits = state.x.detach().clone(), state.logits.detach().clone()
        state.epoch(epoch, state.drawn_weights())
        moved = float((state.x.detach() - x).abs().max())
        steps.append((moved, float((state.logits.detach() - logits).abs().max())))
    for moved, edges in steps[:2]:
        assert 0.005 < moved < 0.02
        assert 0.2 < edges < 2
    for moved, edges in steps[2:]:
        assert 0.0005 < moved < 0.002
        assert 0.02 < edges < 0.2


def test_rates_of_0_keep_what_it_begins_with() -> None:
    problem = noisy_problem()
    first, *_, last = condensed(problem, settings("doscond", lr_feat=0.0, lr_adj=0.0))
    assert torch.equal(first.payload.x, last.payload.x)
    assert torch.equal(first.payload.edge_index, last.payload.edge_index)


def test_snapshots_come_when_asked_for() -> None:
    made = condensed(noisy_problem(), settings("doscond", epochs=5, evaluate_every=2))
    assert [snapshot.epoch for snapshot in made] == [0, 2, 4, 5]
    assert made[0].losses == {}
    assert set(made[1].losses) == {"matching", "sparsity"}


def test_deterministic() -> None:
    first, again, other = (
        condensed(noisy_problem(), settings("doscond", seed=seed))[-1].payload for seed in (0, 0, 1)
    )
    assert torch.equal(first.x, again.x)
    assert torch.equal(first.edge_index, again.edge_index)
    assert not torch.equal(first.x, other.x)


def test_edges_are_hard_or_keep_their_probabilities() -> None:
    hard, soft = (
        condensed(noisy_problem(), settings("doscond", edges=edges, lr_adj=2.0))[-1].payload
        for edges in ("hard", "soft")
    )
    assert bool((hard.edge_weight == 1).all())
    assert soft.edge_index.shape[1] == 4 * 6 * 5
    likely = soft.edge_weight > 0.5
    assert torch.equal(soft.edge_index[:, likely], hard.edge_index)
    assert bool((soft.edge_weight < 1).all())


def test_the_loss_is_the_relative_distance_of_gradients_class_by_class() -> None:
    problem = noisy_problem(graphs=12)
    config = settings("doscond", 3, batch=100)
    network = GraphGcn((4, 8, 8), 2, "mean")
    weights = network.draw(drawing(), CPU)
    labels = problem.synthetic_labels(config)
    begun = initial_graphs(problem, config, drawing())
    edges = probabilities(begun.logits)
    real = RealGraphs(problem.graphs, 2)
    total = joint = 0.0
    for group in ([0], [1], [0, 1]):
        chosen = torch.cat([problem.members(label) for label in group])
        theirs = network.gradients(weights, real.view(chosen), problem.graphs.y[chosen])
        mine = torch.isin(labels, torch.tensor(group))
        ours = network.gradients(weights, DenseView.of(begun.x[mine], edges[mine]), labels[mine])
        left, right = (torch.cat([each.flatten() for each in part]) for part in (ours, theirs))
        distance = float((left - right).square().sum() / right.square().sum())
        if len(group) == 1:
            total += distance
        else:
            joint = distance

    def found(**changes: object) -> float:
        given = settings("doscond", 3, batch=100, **changes)
        loss = GraphMatching(problem, given, network, labels, drawing())
        return float(loss(weights, begun.x, edges))

    assert found() == pytest.approx(total, rel=1e-4)
    assert found(joint=True) == pytest.approx(joint, rel=1e-4)
    assert found(protocol="as-released") != pytest.approx(total, rel=1e-2)
    assert found(distance="cosine") > 0


def test_the_relative_distance_of_nothing_is_1() -> None:
    real = [torch.randn(3, 2, 4), torch.randn(3, 5)]
    nothing = [torch.zeros_like(each) for each in real]
    torch.testing.assert_close(relative_distance(nothing, real), torch.ones(3))


def test_denser_graphs_than_at_the_beginning_are_penalised() -> None:
    state = DosCondState(noisy_problem(), settings("doscond", sparsity=0.5))
    state.logits.data.fill_(4.0)
    density = 12 / 36
    expected = 0.5 * (1 / (1 + math.exp(-4)) - density)
    assert state.epoch(1, state.drawn_weights())["sparsity"] == pytest.approx(expected, rel=1e-5)
    state.logits.data.fill_(-4.0)
    assert state.epoch(2, state.drawn_weights())["sparsity"] == 0


@pytest.mark.parametrize("pooling", ["mean", "sum"])
def test_the_bound_is_the_size_of_pooled_features(pooling: str) -> None:
    state = DosCondState(noisy_problem(), settings("doscond", bound=1.0, pooling=pooling))
    state.logits.data.copy_(state.logits.sign() * 1e4)
    x = state.x.detach().clone()
    norm = normalised(probabilities(state.logits.detach()))
    rows = norm @ norm @ norm @ x
    pooled = rows.mean(dim=1) if pooling == "mean" else rows.sum(dim=1)
    expected = 1 / math.sqrt(2) * 0.15 * 0.5 / 4 * float(pooled.square().sum().sqrt())
    losses = state.epoch(1, state.drawn_weights())
    assert losses["bound"] == pytest.approx(expected, rel=1e-4)


def accuracy(made: CondensedGraphs, test: GraphsProblem, seed: int) -> float:
    """Return the accuracy on other graphs of a network that is trained on a condensed set."""
    graphs = made.batch(0.5, CPU)
    network = GraphGcn((4, 16, 16), 2, "mean")
    with torch.no_grad():
        weights = network.draw(drawing(seed), CPU)
        model = Learner(weights, 0.01)
        view = RealGraphs(graphs, 2).view(torch.arange(len(graphs)))
        for _ in range(60):
            model.step(network.gradients(weights, view, graphs.y))
        everything = RealGraphs(test.graphs, 2).view(torch.arange(len(test.graphs)))
        right = network.logits(weights, everything).argmax(dim=1) == test.graphs.y
    return float(right.float().mean())


def test_what_it_makes_is_better_than_what_it_begins_with() -> None:
    problem, test = noisy_problem(shift=0.3), noisy_problem(graphs=200, shift=0.3, seed=1)
    config = settings(
        "doscond", 1, epochs=60, evaluate_every=60, hidden=16, layers=2, batch=30, lr_feat=0.05
    )
    gains = []
    for seed in range(4):
        first, last = condensed(problem, config.replace(seed=seed))
        before, after = (accuracy(each.payload, test, seed) for each in (first, last))
        gains.append(after - before)
    assert sum(gains) / len(gains) > 0.03
    assert min(gains) > -0.02


def test_as_released_begins_with_noise_on_real_edges() -> None:
    problem = noisy_problem()
    config = settings("doscond", protocol="as-released")
    begun = initial_graphs(problem, config, drawing())
    assert bool(((begun.x >= 0) & (begun.x < 1)).all())
    assert begun.density == pytest.approx(12 / 36)
    assert begun.logits.unique().tolist() == [-5.0, 5.0]


def test_as_released_keeps_every_entry_of_a_sample_as_an_edge() -> None:
    config = settings("doscond", protocol="as-released", evaluate_every=1, epochs=1)
    first, last = condensed(noisy_problem(), config)
    assert first.payload.edge_index.shape[1] == 4 * 12
    assert last.payload.edge_index.shape[1] == 4 * 6 * 5
    assert bool((last.payload.edge_weight == 1).all())


def test_the_released_loop_judges_edges_that_are_likely() -> None:
    changed = {"protocol": "as-released", "evaluate_every": 1, "epochs": 1, "edges": "likely"}
    first, last = condensed(noisy_problem(), settings("doscond", **changed))
    # One update moves no logit from 5 below 0.
    assert first.payload.edge_index.equal(last.payload.edge_index)


def test_as_released_stops_when_no_fresh_network_has_a_smaller_loss() -> None:
    config = settings("doscond", 1, epochs=2000, evaluate_every=1, protocol="as-released")
    made = condensed(noisy_problem(graphs=8), config)[1:]
    losses = [snapshot.losses["matching"] for snapshot in made]
    assert made[-1].epoch < 2000
    assert losses.index(min(losses)) == len(losses) - 1 - PATIENCE


def without_edges() -> GraphsProblem:
    x: Tensor = torch.rand(12, 3, generator=drawing())
    return GraphsProblem(batch_of([3] * 4, [], x, [0, 1, 0, 1]), 2)


@pytest.mark.parametrize("init", ["sample", "noise", "k-center"])
def test_graphs_without_edges(init: str) -> None:
    made = condensed(without_edges(), settings("doscond", 1, init=init))[-1].payload
    assert bool(made.x.isfinite().all())


def test_too_few_graphs() -> None:
    with pytest.raises(CondenseError, match="class 0 has 2 training graphs"):
        condensed(without_edges(), settings("doscond", 3))


def test_a_logistic_loss_needs_two_classes() -> None:
    graphs = batch_of([2] * 3, [], torch.ones(6, 1), [0, 1, 2])
    with pytest.raises(CondenseError, match="two classes, not 3"):
        condensed(GraphsProblem(graphs, 3), settings("doscond", 1, loss="logistic"))


def test_only_a_gcn_is_matched() -> None:
    with pytest.raises(CondenseError, match="not of 'gin'"):
        condensed(without_edges(), settings("doscond", 1, backbone="gin"))
