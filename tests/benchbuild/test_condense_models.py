"""The parts of matching against independent plain implementations, in double precision."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GCNConv, SGConv

from benchbuild.kinds.condense.distances import cosine_distance, squared_distance
from benchbuild.kinds.condense.nodes import batches as batches_module
from benchbuild.kinds.condense.nodes.backbones import (
    Backbone,
    Convolutional,
    Transformer,
    linear_weights,
    make_backbone,
)
from benchbuild.kinds.condense.nodes.batches import ClassBatches, sampled
from benchbuild.kinds.condense.nodes.graphon import Graphon, first_nodes, nodes_around
from benchbuild.kinds.condense.nodes.linear import LinearTraining
from benchbuild.kinds.condense.nodes.matching import class_shares
from benchbuild.kinds.condense.nodes.pairs import pair_scores
from benchbuild.kinds.condense.nodes.structure import PairwiseMlp, Structure
from benchbuild.kinds.condense.nodes.views import DenseHop, synthetic_view
from benchquery.kinds.condensed.config import CondenseConfig
from tests.benchbuild.condensing import CPU, path_graph, problem, settings

pytestmark = pytest.mark.usefixtures("one_thread")

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 2])


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def doubled(weights: list[Tensor]) -> None:
    """Make weights double precision, and none of them 0 or 1, in place."""
    for weight in weights:
        weight.data = weight.data.double() + 0.1 * torch.rand(
            weight.shape, dtype=torch.float64, generator=generator(1)
        )


def plain_pairwise(weights: list[Tensor], x: Tensor, biases: tuple[Tensor, Tensor]) -> Tensor:
    """GCond's structure on concatenated pairs, with torch's layers."""
    first, gain1, shift1, second, gain2, shift2, last, bias = weights
    n = len(x)
    pairs = torch.cat([x.repeat_interleave(n, dim=0), x.repeat(n, 1)], dim=1)
    hidden = pairs
    layers = ((first, gain1, shift1), (second, gain2, shift2))
    for (weight, gain, shift), own in zip(layers, biases, strict=True):
        out = functional.linear(hidden, weight, own)
        normal = functional.batch_norm(out, None, None, gain, shift, training=True)
        hidden = functional.relu(normal)
    scores = functional.linear(hidden, last, bias).reshape(n, n)
    adjacency = torch.sigmoid((scores + scores.T) / 2)
    return adjacency - torch.diag(torch.diag(adjacency))


def test_the_split_mlp_is_the_concatenated_one() -> None:
    structure = PairwiseMlp(problem(), settings("gcond", edge_bias=-0.3), generator())
    doubled(structure.weights)
    x = torch.randn(9, 12, dtype=torch.float64, generator=generator(2), requires_grad=True)
    biases = torch.randn(2, 128, dtype=torch.float64, generator=generator(3)).unbind()
    ours, plain = structure(x), plain_pairwise(structure.weights, x, biases)
    torch.testing.assert_close(ours, plain, atol=1e-12, rtol=0)
    weight = torch.randn(9, 9, dtype=torch.float64, generator=generator(4))
    learnt = [x, *(one.requires_grad_() for one in structure.weights)]
    ours, plain = structure(x), plain_pairwise(structure.weights, x, biases)
    gradients = [torch.autograd.grad((a * weight).sum(), learnt) for a in (ours, plain)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=0)


def pair_inputs() -> tuple[Tensor, ...]:
    """The halves of five nodes and the layers after them, of width 4, with gradients."""
    shapes = ((4, 5), (4, 5), (4, 4), (4,), (4,), (1, 4), (1,))
    source = generator(5)
    drawn = (torch.randn(shape, dtype=torch.float64, generator=source) for shape in shapes)
    return tuple(tensor.requires_grad_() for tensor in drawn)


def test_gradients_of_pair_scores_are_those_of_differences() -> None:
    def scores(left: Tensor, right: Tensor, *layers: Tensor) -> Tensor:
        return pair_scores(left, right, list(layers))

    assert torch.autograd.gradcheck(scores, pair_inputs())


def test_frozen_layers_change_no_gradient_of_pair_scores() -> None:
    left, right, *layers = pair_inputs()
    weight = torch.randn(5, 5, dtype=torch.float64, generator=generator(4))
    frozen = [layer.detach() for layer in layers]
    found, expected = (
        torch.autograd.grad((pair_scores(left, right, each) * weight).sum(), (left, right))
        for each in (frozen, layers)
    )
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


def structures() -> list[Structure]:
    config = CondenseConfig("karate", "sgdd", 0.2)
    return [make(problem("karate"), config, generator()) for make in (PairwiseMlp, Graphon)]


@pytest.mark.parametrize("which", [0, 1])
def test_structures_are_adjacencies(which: int) -> None:
    structure = structures()[which]
    x = torch.randn(7, 34, generator=generator(2))
    adjacency = structure(x)
    assert torch.equal(adjacency, adjacency.T)
    assert adjacency.diagonal().count_nonzero() == 0
    assert bool(((adjacency >= 0) & (adjacency <= 1)).all())
    assert float(adjacency.detach().std()) > 0.01


def test_the_transport_penalty_is_zero_for_the_real_structure_and_can_be_descended() -> None:
    config = CondenseConfig("karate", "sgdd", 0.2, sample_nodes=10, transport=2.0)
    structure = Graphon(problem("karate"), config, generator())
    far = torch.full((6, 6), 0.5).fill_diagonal_(0.0).requires_grad_()
    before = structure.penalty(far)
    (gradient,) = torch.autograd.grad(before, far)
    after = structure.penalty((far - 0.05 * gradient / gradient.norm()).detach())
    assert float(after) < float(before.detach())
    same = Graphon(
        problem("karate"), CondenseConfig("karate", "sgdd", 0.2, sample_nodes=34), generator()
    )
    everything = torch.zeros(34, 34)
    edges = problem("karate").edge_index
    everything[edges[0], edges[1]] = 1.0
    assert float(same.penalty(everything)) < 0.02


def test_a_linear_model_is_trained_as_by_adam() -> None:
    x, labels = torch.randn(9, 5, generator=generator()), torch.arange(9) % 3
    ours = linear_weights((5, 3), generator(), CPU)
    theirs = [weight.clone().requires_grad_() for weight in ours]
    training, adam = LinearTraining(ours, 0.1), torch.optim.Adam(theirs, lr=0.1)
    for scale in (1.0, 2.0):
        training.run(scale * x, labels, 4)
        for _ in range(4):
            adam.zero_grad()
            logits = scale * x @ theirs[0].T + theirs[1]
            torch.autograd.backward(functional.cross_entropy(logits, labels))
            adam.step()
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other.detach())


def test_the_structure_sample_as_released_is_the_first_nodes() -> None:
    given = problem()
    whole = first_nodes(given, 999, generator())
    assert whole.shape == (given.num_nodes, given.num_nodes)
    assert torch.equal(first_nodes(given, 12, generator()), whole[:12, :12])
    assert set(whole.unique().tolist()) == {0.0, 1.0}


def test_the_structure_sample_is_connected_and_real() -> None:
    given = problem("karate")
    sample = nodes_around(given, 12, generator())
    assert torch.equal(sample, sample.T)
    reach = torch.linalg.matrix_power(sample + torch.eye(12), 12)
    assert bool((reach > 0).all())
    whole = nodes_around(given, 99, generator())
    assert whole.shape == (34, 34)
    assert int(whole.sum()) == given.edge_index.shape[1]


def plain_outputs(backbone: Backbone, weights: list[Tensor], x: Tensor, edges: Tensor) -> Tensor:
    """The same model with PyG's layers."""
    if isinstance(backbone, Convolutional) and len(weights) == 2:
        layer = SGConv(x.shape[1], len(weights[1]), K=backbone.layers).double()
        layer.lin.weight, layer.lin.bias = nn.Parameter(weights[0]), nn.Parameter(weights[1])
        return layer(x, edges)
    out = x
    for place, (weight, bias) in enumerate(zip(weights[::2], weights[1::2], strict=True)):
        conv = GCNConv(weight.shape[1], weight.shape[0]).double()
        conv.lin.weight, conv.bias = nn.Parameter(weight), nn.Parameter(bias)
        out = conv(functional.relu(out) if place else out, edges)
    return out


def graph_edges(nodes: int) -> tuple[Tensor, Tensor]:
    """A random graph: its 0/1 adjacency and its edges."""
    upper = torch.triu(torch.rand(nodes, nodes, generator=generator(6)) < 0.4, diagonal=1)
    adjacency = (upper | upper.T).double()
    return adjacency, adjacency.nonzero().T


BACKBONES = {
    "sgc": Convolutional((4, 3), 2),
    "sgc-3": Convolutional((4, 3), 3),
    "sgc-square": Convolutional((9, 3), 2),
    "sgc-wide": Convolutional((12, 3), 3),
    "gcn": Convolutional((4, 5, 3), 2),
    "gcn-3": Convolutional((4, 5, 5, 3), 3),
    "gcn-wide": Convolutional((40, 5, 3), 2),
    "transformer": Transformer((4, 5, 3)),
}


@pytest.mark.parametrize("name", [name for name in BACKBONES if name != "transformer"])
def test_convolutional_backbones_are_pygs(name: str) -> None:
    backbone = BACKBONES[name]
    adjacency, edges = graph_edges(9)
    x = torch.randn(9, backbone.widths[0], dtype=torch.float64, generator=generator(2))
    weights = [weight.double() for weight in backbone.draw(generator(), CPU)]
    view = synthetic_view(x, adjacency, backbone.layers, backbone.aggregated)
    _, logits = backbone.outputs(weights, view)
    torch.testing.assert_close(logits, plain_outputs(backbone, weights, x, edges))


@pytest.mark.parametrize("name", BACKBONES)
def test_gradients_are_autograds_and_differentiable(name: str) -> None:
    backbone = BACKBONES[name]
    adjacency, _ = graph_edges(9)
    width = backbone.widths[0]
    x = torch.randn(9, width, dtype=torch.float64, generator=generator(2)).requires_grad_()
    adjacency = (0.1 + 0.8 * adjacency).fill_diagonal_(0.0).requires_grad_()
    weights = [w.double().requires_grad_() for w in backbone.draw(generator(), CPU)]
    shares = class_shares(LABELS).double()
    view = synthetic_view(x, adjacency, backbone.layers, backbone.aggregated)
    ours = backbone.gradients(weights, view, LABELS, shares)
    for row, label in enumerate(range(3)):
        _, logits = backbone.outputs(weights, view)
        mine = label == LABELS
        loss = functional.cross_entropy(logits[mine], LABELS[mine])
        plain = torch.autograd.grad(loss, weights, create_graph=True)
        for found, expected in zip(ours, plain, strict=True):
            torch.testing.assert_close(found[row], expected)
        ours_norm = sum(found[row].square().sum() for found in ours)
        plain_norm = sum(expected.square().sum() for expected in plain)
        twice = [
            torch.autograd.grad(norm, (x, adjacency), retain_graph=True)
            for norm in (ours_norm, plain_norm)
        ]
        for found, expected in zip(*twice, strict=True):
            torch.testing.assert_close(found, expected)


def test_a_transformer_attends_to_neighbours_only() -> None:
    backbone = Transformer((4, 5, 3))
    weights = backbone.draw(generator(), CPU)
    adjacency = torch.zeros(6, 6)
    adjacency[0, 1] = adjacency[1, 0] = adjacency[1, 2] = adjacency[2, 1] = 1.0
    x = torch.randn(6, 4, generator=generator(2))
    far = x.clone()
    far[3:] += 5.0
    ours, changed = (
        backbone.outputs(weights, synthetic_view(each, adjacency, 2, 0))[1] for each in (x, far)
    )
    torch.testing.assert_close(ours[:3], changed[:3])
    assert not torch.allclose(ours[3:], changed[3:])


@pytest.mark.parametrize("backbone", ["sgc", "gcn", "transformer"])
@pytest.mark.parametrize("sparse", [True, False])
def test_views_of_the_real_graph_give_what_the_whole_graph_gives(
    backbone: str, sparse: bool
) -> None:
    given = problem("karate") if sparse else problem()
    config = settings("gcond", backbone=backbone)
    model = make_backbone(config, int(given.x.shape[1]), given.num_classes)
    batches = ClassBatches(given, config, model, generator())
    weights = model.draw(generator(), CPU)
    adjacency = torch.zeros(given.num_nodes, given.num_nodes)
    adjacency[given.edge_index[0], given.edge_index[1]] = 1.0
    whole = synthetic_view(given.x, adjacency, model.layers, model.aggregated)
    expected = [of_all[given.train_nodes] for of_all in model.outputs(weights, whole)]
    for label in batches.classes:
        view = batches.view(label)
        mine = given.train_labels == label
        for found, all_of_them in zip(model.outputs(weights, view), expected, strict=True):
            torch.testing.assert_close(found, all_of_them[mine], atol=1e-5, rtol=1e-4)
        assert batches.view(label) is view
        labels = torch.full((view.targets,), label)
        shares = torch.full((1, view.targets), 1 / view.targets)
        ours = model.gradients(weights, view, labels, shares)
        rows = torch.zeros(1, given.num_nodes)
        rows[0, given.train_nodes[mine]] = 1 / view.targets
        plain = model.gradients(weights, whole, torch.full((given.num_nodes,), label), rows)
        for found, of_all in zip(ours, plain, strict=True):
            torch.testing.assert_close(found, of_all, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("sparse", [True, False])
def test_a_stack_of_all_classes_gives_what_each_gives(sparse: bool) -> None:
    given = problem("karate") if sparse else problem()
    kept = torch.arange(len(given.train_nodes)) != 0
    nodes, classes = given.train_nodes[kept], given.train_labels[kept]
    given = dataclasses.replace(given, train_nodes=nodes, train_labels=classes)
    assert len(classes.bincount().unique()) > 1, "zeros fill up a class"
    model = make_backbone(settings("gcond"), int(given.x.shape[1]), given.num_classes)
    batches = ClassBatches(given, settings("gcond"), model, generator())
    weights = model.draw(generator(), CPU)
    stack = batches.stack()
    assert stack is not None
    found = model.gradients(weights, stack.view, stack.labels, stack.shares)
    for row, label in enumerate(batches.classes):
        view = batches.view(label)
        labels = torch.full((view.targets,), label)
        shares = torch.full((1, view.targets), 1 / view.targets)
        each = model.gradients(weights, view, labels, shares)
        for one, of_class in zip(found, each, strict=True):
            torch.testing.assert_close(one[row], of_class[0])


@pytest.mark.parametrize("change", [{"batch": 4}, {"fanout": "9,9"}, {"backbone": "gcn"}])
def test_classes_are_no_stack_if_there_is_chance_or_a_hop(change: dict[str, object]) -> None:
    config = settings("gcond", **change)
    model = make_backbone(config, 12, 4)
    assert ClassBatches(problem(), config, model, generator()).stack() is None


def test_classes_are_no_stack_if_they_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Convolutional((12, 4), 2)
    assert ClassBatches(problem(), settings("gcond"), model, generator()).stack() is not None
    monkeypatch.setattr(batches_module, "STACKED", 12 * len(problem().train_nodes) - 1)
    assert ClassBatches(problem(), settings("gcond"), model, generator()).stack() is None


@pytest.mark.parametrize("backbone", ["sgc", "gcn", "transformer"])
def test_a_fanout_above_every_degree_is_the_whole_neighbourhood(backbone: str) -> None:
    given = problem()
    full, wide = (settings("gcond", backbone=backbone, fanout=f) for f in ("full", "99,99"))
    model = make_backbone(full, 12, 4)
    weights = model.draw(generator(), CPU)
    ours, plain = (
        model.outputs(weights, ClassBatches(given, config, model, generator()).view(2))[1]
        for config in (wide, full)
    )
    torch.testing.assert_close(ours, plain, atol=1e-5, rtol=1e-4)


def test_sampling_takes_at_most_the_fanout_and_every_neighbour_sometimes() -> None:
    matrix = csr_matrix((np.arange(9) % 2 + np.eye(9)) * np.arange(1, 82).reshape(9, 9))
    random = np.random.default_rng(0)
    seen = np.zeros(matrix.shape)
    for _ in range(60):
        some = sampled(matrix, 2, random)
        assert np.array_equal(np.diff(some.indptr), np.minimum(np.diff(matrix.indptr), 2))
        found = some.toarray()
        assert np.array_equal(found[found > 0], matrix.toarray()[found > 0])
        seen += found > 0
    assert np.array_equal(seen > 0, matrix.toarray() > 0)


def test_batches_are_of_the_size_asked_for_and_of_the_class() -> None:
    given = problem()
    config = settings("gcond", batch=4)
    model = Convolutional((12, 4), 2)
    batches = ClassBatches(given, config, model, generator())
    first, second = batches.view(1), batches.view(1)
    assert first.targets == second.targets == 4
    weight = torch.eye(12)
    assert not torch.equal(first.features.times(weight), second.features.times(weight))


def test_distances_against_the_formulas() -> None:
    ours, theirs = (
        [torch.randn(2, 3, 4, generator=generator(s)), torch.randn(2, 3, generator=generator(s))]
        for s in (7, 8)
    )
    for label in range(2):
        cosine = sum(
            1
            - sum(float(ours[0][label, j, k] * theirs[0][label, j, k]) for k in range(4))
            / math.dist([0.0] * 4, ours[0][label, j].tolist())
            / math.dist([0.0] * 4, theirs[0][label, j].tolist())
            for j in range(3)
        )
        assert float(cosine_distance(ours, theirs)[label]) == pytest.approx(cosine, rel=1e-5)
        squared = sum(
            math.dist(a[label].flatten().tolist(), b[label].flatten().tolist()) ** 2
            for a, b in zip(ours, theirs, strict=True)
        )
        assert float(squared_distance(ours, theirs)[label]) == pytest.approx(squared, rel=1e-5)


def test_the_distance_of_a_zero_gradient_has_no_nan() -> None:
    zero = torch.zeros(1, 3, 4, requires_grad=True)
    distance = cosine_distance([zero], [torch.ones(1, 3, 4)]).sum()
    (gradient,) = torch.autograd.grad(distance, zero)
    assert bool(gradient.isfinite().all())


def test_shares_are_class_means() -> None:
    shares = class_shares(torch.tensor([0, 0, 3]))
    assert shares.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]


def test_directed_edges_are_followed_as_given() -> None:
    """A node sees whom it receives from, in both passes."""
    graph = path_graph(torch.eye(8), torch.arange(8) % 2)
    forward = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    given = dataclasses.replace(problem(graph), edge_index=forward)
    model = Convolutional((8, 3, 2), 2)
    weights = model.draw(generator(), CPU)
    view = ClassBatches(given, settings("gcond"), model, generator()).view(0)
    labels, shares = torch.zeros(view.targets, dtype=torch.long), torch.ones(1, view.targets)
    written = model.gradients(weights, view, labels, shares)
    derived = Backbone.gradients(model, weights, view, labels, shares)
    for found, expected in zip(written, derived, strict=True):
        torch.testing.assert_close(found, expected)


def test_dense_hops_normalise_with_self_loops() -> None:
    adjacency, _ = graph_edges(5)
    weights = adjacency + torch.eye(5)
    root = torch.diag(weights.sum(dim=1) ** -0.5)
    torch.testing.assert_close(
        DenseHop(adjacency).times(torch.eye(5).double()), root @ weights @ root
    )
