"""KiDD: what it regresses, what it begins with, what moves, and what it refuses."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import NormalizeFeatures

from benchbuild.datasets.graphset import GraphBatch
from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.graphs.krr import by_row, initial_graphs, overlap
from benchbuild.kinds.condense.graphs.litegntk import EqualSide, GraphSide, Steps, self_kernel
from benchbuild.kinds.condense.graphs.payload import CondensedGraphs
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.methods.graphs.kidd_d import Drawn
from benchbuild.kinds.condense.methods.graphs.kidd_lr import LowRank
from benchbuild.kinds.condense.registry import condenser
from benchbuild.kinds.condense.ridge import regression
from benchquery.kinds.condensed.config import CondenseConfig

METHODS = ("kidd-lr", "kidd-d")
SIZE = 6


def cliques_and_paths(count: int, seed: int = 0) -> GraphsProblem:
    """Of the first class are paths, of the second cliques; each node has one of two labels."""
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.combinations(torch.arange(SIZE)).T
    steps = torch.stack([torch.arange(SIZE - 1), torch.arange(1, SIZE)])
    edges = [
        SIZE * graph + torch.cat([kind, kind.flip(0)], dim=1)
        for graph in range(2 * count)
        for kind in [steps if graph < count else pairs]
    ]
    label = torch.randint(2, (2 * count * SIZE,), generator=generator)
    graphs = GraphBatch(
        3.0 * torch.nn.functional.one_hot(label, 4),
        torch.cat(edges, dim=1),
        SIZE * torch.arange(2 * count + 1),
        torch.arange(2).repeat_interleave(count),
    )
    return GraphsProblem(graphs, num_classes=2)


def configured(method: str, per_class: int = 2, **changes: Any) -> CondenseConfig:
    quick = {"epochs": 5, "evaluate_every": 2, "nodes": 8, "init": "sample", "batch": 7}
    if method == "kidd-lr":
        quick["rank"] = 4
    return CondenseConfig("motifs", method, per_class=per_class, **{**quick, **changes})


def condensed(config: CondenseConfig, problem: GraphsProblem | None = None) -> list[Snapshot]:
    given = cliques_and_paths(10) if problem is None else problem
    return list(condenser(config)(given, config, Workspace(Path("unused"), {})))


def payload(snapshot: Snapshot) -> CondensedGraphs:
    assert isinstance(snapshot.payload, CondensedGraphs)
    return snapshot.payload


def test_regression_is_ridge_regression() -> None:
    generator = torch.Generator().manual_seed(0)
    root = torch.rand(5, 5, generator=generator, dtype=torch.float64)
    k_ss, k_st = root @ root.T, torch.rand(5, 3, generator=generator, dtype=torch.float64)
    y = torch.rand(5, 2, generator=generator, dtype=torch.float64)
    matrix = k_ss.numpy() + 1e-3 * np.trace(k_ss.numpy()) / 5 * np.eye(5)
    wanted = k_st.numpy().T @ np.linalg.inv(matrix) @ y.numpy()
    np.testing.assert_allclose(regression(k_ss, k_st, y, 1e-3).numpy(), wanted, rtol=1e-9)


def test_overlap_is_none_of_graphs_that_share_nothing() -> None:
    assert float(overlap(torch.diag(torch.tensor([2.0, 5.0, 0.1])))) == pytest.approx(0, abs=1e-6)
    twice = torch.tensor([[4.0, 2.0], [2.0, 4.0]])
    assert float(overlap(twice)) == pytest.approx(0.5 * 2**0.5)


def test_regression_on_paths_and_cliques_tells_more_of_them_apart() -> None:
    known, asked = cliques_and_paths(10).graphs, cliques_and_paths(20, seed=1).graphs
    steps = Steps(before=1, after=2, mean=True)
    kinds = GraphSide(known, by_row(known.x.double()), steps).side(torch.arange(20))
    side = EqualSide(kinds.nodes.expand(20, -1, -1), kinds.readout.T)
    others = GraphSide(asked, by_row(asked.x.double()), steps)
    y = torch.nn.functional.one_hot(known.y).double()
    found = regression(self_kernel(side), others.kernel(side, torch.arange(40)), y, 1e-6)
    assert (found.argmax(dim=1) == asked.y).float().mean() > 0.8


def test_features_are_divided_as_the_library_does() -> None:
    x = torch.tensor([[6.0, 0.0, 2.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]])
    torch.testing.assert_close(by_row(x), NormalizeFeatures()(Data(x=x.clone())).x)


@pytest.mark.parametrize("nodes", [4, 9])
def test_graphs_begin_as_real_ones_cut_off_or_filled_up(nodes: int) -> None:
    problem, config = cliques_and_paths(10), configured("kidd-d", nodes=nodes)
    generator = torch.Generator().manual_seed(0)
    x, adjacency = initial_graphs(problem, config, generator)
    kept = min(nodes, SIZE)
    assert x.shape == (4, nodes, 4)
    assert (x[:, :kept].sum(dim=2) == 3).all()
    assert (x[:, kept:] == 0).all()
    path, clique = torch.zeros(2, nodes, nodes)
    path[range(kept - 1), range(1, kept)] = 1
    clique[:kept, :kept] = 1 - torch.eye(kept)
    assert (adjacency[:2] == path + path.T).all()
    assert (adjacency[2:] == clique).all()


def test_nodes_are_twice_the_average_if_not_said() -> None:
    first = condensed(configured("kidd-d", nodes=0, epochs=0))[0]
    assert payload(first).sizes.tolist() == [2 * SIZE] * 4


@pytest.mark.parametrize("method", METHODS)
def test_snapshots_are_the_beginning_and_some_updates(method: str) -> None:
    first, *others = condensed(configured(method, lr_adj=0.01, lr_feat=0.01))
    assert [first.epoch, *(one.epoch for one in others)] == [0, 2, 4, 5]
    assert not first.losses
    assert all(one.losses.keys() == {"regression", "orthogonality"} for one in others)
    for snapshot in (first, *others):
        graphs = payload(snapshot)
        assert graphs.by_row
        assert graphs.y.tolist() == [0, 0, 1, 1]
        assert (graphs.edge_weight == 1).all()
        assert graphs.x.isfinite().all()
        assert graphs.x.min() >= 0
        assert graphs.x.max() <= 1
    assert not torch.equal(payload(first).x, payload(others[-1]).x)
    again = condensed(configured(method, lr_adj=0.01, lr_feat=0.01))
    assert torch.equal(payload(others[-1]).x, payload(again[-1]).x)


@pytest.mark.parametrize("method", METHODS)
def test_learning_lowers_the_loss(method: str) -> None:
    """On all graphs at once, so that updates can be compared."""
    config = configured(
        method, epochs=40, evaluate_every=10, batch=20, lr_feat=0.02, batch_synthetic=4
    )
    losses = [sum(one.losses.values()) for one in condensed(config)[1:]]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize(("make", "edges"), [(LowRank, 2), (Drawn, 1)])
def test_every_learnt_tensor_gets_a_gradient(make: Any, edges: int) -> None:
    config = configured("kidd-lr")
    adjacency = torch.zeros(2, 8, 8)
    adjacency[:, :SIZE, :SIZE] = 1 - torch.eye(SIZE)
    structure = make(adjacency, config, torch.Generator().manual_seed(0))
    x = torch.rand(2, 8, 4, requires_grad=True)
    for tensor in structure.tensors:
        tensor.requires_grad_()
    side = structure.side(x, torch.arange(2), 0)
    found = torch.autograd.grad(self_kernel(side).sum(), [x, *structure.tensors])
    assert len(structure.tensors) == edges
    assert all(each.isfinite().all() and each.abs().max() > 0 for each in found)


def test_a_full_rank_is_the_adjacency() -> None:
    adjacency = torch.zeros(1, 5, 5)
    adjacency[0, [0, 1, 2], [1, 2, 0]] = 1
    structure = LowRank(adjacency, configured("kidd-lr", rank=5), torch.Generator())
    u, v = structure.tensors
    torch.testing.assert_close(u @ v, adjacency, atol=1e-6, rtol=0)
    torch.testing.assert_close(u.norm(dim=1), v.norm(dim=2))
    assert torch.equal(structure.edges(), adjacency)


def test_a_cut_rank_is_the_best_approximation() -> None:
    """No other matrix of that rank is nearer (Eckart and Young)."""
    generator = torch.Generator().manual_seed(0)
    adjacency = (torch.rand(3, 6, 6, generator=generator) < 0.4).float()
    u, v = LowRank(adjacency, configured("kidd-lr", rank=2), generator).tensors
    left = torch.linalg.svdvals(adjacency)[:, 2:].norm(dim=1)
    torch.testing.assert_close((adjacency - u @ v).flatten(1).norm(dim=1), left)


def test_edges_are_drawn_with_their_probability() -> None:
    """And are 0 or 1 when it has grown cold. With no features, a node has a bias to give."""
    structure = Drawn(torch.zeros(2000, 2, 2), configured("kidd-d"), torch.Generator())
    structure.tensors[0].fill_(1.0)
    side = structure.side(torch.zeros(2000, 2, 0), torch.arange(2000), 1000)
    drawn = (side.features.view(2000, 2) / 1e-2 - 1e-4).round()
    assert torch.equal(drawn[:, 0], drawn[:, 1])
    assert float(drawn.mean()) == pytest.approx(1 / (1 + math.exp(-1)), abs=0.04)


@pytest.mark.parametrize("init", ["sample", "herding", "k-center"])
def test_every_initialisation_begins_as_training_graphs_of_the_class(init: str) -> None:
    first = condensed(configured("kidd-d", init=init, epochs=0, nodes=SIZE))[0]
    degrees = torch.bincount(payload(first).edge_index[0], minlength=4 * SIZE).view(4, SIZE)
    assert (degrees[:2].sum(dim=1) == 2 * (SIZE - 1)).all()
    assert (degrees[2:] == SIZE - 1).all()


def test_released_features_are_cut_off_and_released_logits_too() -> None:
    released = condensed(configured("kidd-lr", protocol="as-released"))
    assert not payload(released[0]).by_row
    assert payload(released[0]).x.max() == 3
    assert payload(released[-1]).x.max() == 1
    structure = Drawn(
        torch.ones(1, 2, 2), configured("kidd-d", protocol="as-released"), torch.Generator()
    )
    structure.updated()
    assert structure.tensors[0].max() == 1
    corrected = Drawn(torch.ones(1, 2, 2), configured("kidd-d"), torch.Generator())
    corrected.updated()
    assert corrected.tensors[0].max() == 5


def test_released_synthetic_graphs_are_propagated_once_more() -> None:
    adjacency, x = torch.ones(1, 2, 2), torch.ones(1, 2, 1)
    weights = [
        LowRank(adjacency, configured("kidd-lr", rank=1, protocol=protocol), torch.Generator())
        .side(x, torch.arange(1), 0)
        .weight
        for protocol in ("corrected", "as-released")
    ]
    torch.testing.assert_close(weights[0], torch.full((1, 2), 4.0))
    torch.testing.assert_close(weights[1], torch.full((1, 2), 8.0))


def test_a_rank_beyond_the_nodes_is_refused() -> None:
    with pytest.raises(CondenseError, match="rank 9 is more than the 8 nodes"):
        condensed(configured("kidd-lr", rank=9))


def test_a_class_that_is_too_small_is_refused() -> None:
    with pytest.raises(CondenseError, match="class 0 has 10 training graphs"):
        condensed(configured("kidd-lr", per_class=11))


@pytest.mark.parametrize("method", METHODS)
def test_graphs_without_edges_can_be_condensed(method: str) -> None:
    problem = cliques_and_paths(10)
    bare = dataclasses.replace(problem.graphs, edge_index=torch.zeros(2, 0).long())
    snapshots = condensed(configured(method, lr_adj=0.01), GraphsProblem(bare, 2))
    assert all(payload(one).stored().is_finite for one in snapshots)
    assert all(np.isfinite(list(one.losses.values())).all() for one in snapshots)


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_may_lack_a_class(method: str) -> None:
    config = configured(method, batch=1, batch_synthetic=1)
    assert all(payload(one).stored().is_finite for one in condensed(config))
