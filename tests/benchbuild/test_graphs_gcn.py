"""The network on many graphs at once: against PyG's layers on one graph after another."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import DenseGCNConv, GCNConv

from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.datasets.graphset import GraphBatch
from benchbuild.kinds.condense.graphs import views
from benchbuild.kinds.condense.graphs.colours import refined
from benchbuild.kinds.condense.graphs.gcn import GraphGcn, Weights
from benchbuild.kinds.condense.graphs.views import DenseView, RealGraphs
from tests.benchbuild.graph_sets import CPU, batch_of, batches, noisy_problem

pytestmark = pytest.mark.usefixtures("one_thread")


class PygGcn(nn.Module):
    """The same network of PyG's layers."""

    def __init__(self, network: GraphGcn, weights: Weights, *, dense: bool) -> None:
        super().__init__()
        self.pooling, self.outputs = network.pooling, network.outputs
        self.layers = nn.ModuleList()
        for weight, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
            layer = (DenseGCNConv if dense else GCNConv)(weight.shape[1], weight.shape[0])
            layer.lin.weight, layer.bias = nn.Parameter(weight), nn.Parameter(bias)
            self.layers.append(layer)
        self.last = nn.Linear(weights[-2].shape[1], weights[-2].shape[0])
        self.last.weight, self.last.bias = nn.Parameter(weights[-2]), nn.Parameter(weights[-1])

    def forward(self, x: Tensor, structure: Tensor) -> Tensor:
        """Return the (1, outputs) logits of a graph."""
        for layer in self.layers:
            x = layer(x, structure).relu()
        x = x.reshape(-1, x.shape[-1])
        return self.last(x.mean(dim=0) if self.pooling == "mean" else x.sum(dim=0))[None]

    def entropy(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the mean cross-entropy."""
        if self.outputs == 1:
            wanted = labels[:, None].float()
            return functional.binary_cross_entropy_with_logits(logits, wanted)
        return functional.cross_entropy(logits, labels)

    def ordered(self) -> list[nn.Parameter]:
        """Return the parameters in our order."""
        convolutions = [(layer.lin.weight, layer.bias) for layer in self.layers]
        return [each for pair in convolutions for each in pair] + [self.last.weight, self.last.bias]


def drawn(network: GraphGcn, seed: int = 0) -> Weights:
    """Return weights whose biases are not 0 either."""
    generator = torch.Generator().manual_seed(seed)
    weights = network.draw(generator, CPU)
    return [weight + 0.1 * torch.randn(weight.shape, generator=generator) for weight in weights]


def one_by_one(model: PygGcn, graphs: GraphBatch, numbers: list[int]) -> Tensor:
    found = []
    for number in numbers:
        graph = graphs.select(torch.tensor([number]))
        found.append(model(graph.x, graph.edge_index))
    return torch.cat(found)


def assert_close(found: list[Tensor], expected: list[Tensor]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@settings(deadline=None, max_examples=40)
@given(
    batches(),
    st.sampled_from(["mean", "sum"]),
    st.sampled_from([1, 2]),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_gradients_on_real_graphs(
    graphs: GraphBatch, pooling: str, outputs: int, layers: int, random: object
) -> None:
    numbers = list(range(len(graphs)))
    random.shuffle(numbers)  # type: ignore[attr-defined]
    network = GraphGcn((2, *(5,) * layers), outputs, pooling)
    weights = drawn(network)
    chosen = torch.tensor(numbers)
    view = RealGraphs(graphs, layers).view(chosen)
    model = PygGcn(network, weights, dense=False)
    logits = one_by_one(model, graphs, numbers)
    entropy = model.entropy(logits, graphs.y[chosen])
    expected = torch.autograd.grad(entropy, model.ordered())
    assert_close([network.logits(weights, view)], [logits.detach()])
    assert_close(network.gradients(weights, view, graphs.y[chosen]), list(expected))


@pytest.mark.parametrize("pooling", ["mean", "sum"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_a_loss_of_gradients_is_differentiable_in_features_and_edges(
    pooling: str, outputs: int
) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(4, 5, 3, generator=generator).double().requires_grad_()
    pairs = torch.rand(4, 5, 5, generator=generator).double().requires_grad_()
    adjacency = pairs.triu(1) + pairs.triu(1).mT
    labels = torch.arange(4) % max(outputs, 2)
    network = GraphGcn((3, 6, 6, 6), outputs, pooling)
    weights = [weight.double() for weight in drawn(network)]
    model = PygGcn(network, weights, dense=True)
    logits = torch.cat([model(x[i], adjacency[i]) for i in range(4)])
    entropy = model.entropy(logits, labels)
    expected = torch.autograd.grad(entropy, model.ordered(), create_graph=True)
    found = network.gradients(weights, DenseView.of(x, adjacency), labels)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs)
    ours, theirs = (sum(each.square().sum() for each in part) for part in (found, expected))
    second = torch.autograd.grad(ours, [x, pairs], retain_graph=True)
    wanted = torch.autograd.grad(theirs, [x, pairs])
    torch.testing.assert_close(second[0], wanted[0])
    torch.testing.assert_close(second[1], wanted[1])


def test_fresh_weights_are_drawn_as_the_layers_draw_theirs() -> None:
    network = GraphGcn((37, 128, 128), 2, "mean")
    weights = network.draw(torch.Generator().manual_seed(0), CPU)
    torch.manual_seed(0)
    layers = [GCNConv(37, 128), GCNConv(128, 128)]
    theirs = [layers[0].lin.weight, layers[1].lin.weight, nn.Linear(128, 2).weight]
    for ours, expected in zip(weights[::2], theirs, strict=True):
        assert ours.shape == expected.shape
        assert float(ours.std()) == pytest.approx(float(expected.detach().std()), rel=0.1)
        assert float(ours.abs().max()) == pytest.approx(
            float(expected.detach().abs().max()), rel=0.05
        )
    assert not bool(weights[1].any())
    assert bool(weights[-1].all())


def nested(graphs: GraphBatch, layers: int) -> list[list[object]]:
    """Return the colours of all nodes after each propagation, as nested tuples."""
    matrix = propagation_matrix("gcn", graphs.edge_index, graphs.num_nodes).tocoo()
    now: list[object] = [tuple(row) for row in graphs.x.tolist()]
    found = []
    for _ in range(layers):
        after: list[list[object]] = [[] for _ in now]
        for row, column, value in zip(matrix.row, matrix.col, matrix.data, strict=True):
            after[row].append((now[column], float(value)))
        now = [tuple(sorted(each, key=repr)) for each in after]
        found.append(now)
    return found


@settings(deadline=None, max_examples=40)
@given(batches())
def test_colours_are_equal_where_the_trees_around_nodes_are(graphs: GraphBatch) -> None:
    matrix = propagation_matrix("gcn", graphs.edge_index, graphs.num_nodes)
    for colours, expected in zip(
        refined(matrix, graphs.x.numpy(), 3), nested(graphs, 3), strict=True
    ):
        pairs = set(zip(colours.of.tolist(), expected, strict=True))
        assert len(pairs) == len(colours) == len(set(expected))
        assert colours.of[colours.example].tolist() == list(range(len(colours)))


def test_a_layer_has_a_row_for_each_colour_only() -> None:
    ring = [(0, i, (i + step) % 6) for i in range(6) for step in (1, 5)]
    graphs = batch_of([6], ring, torch.ones(6, 1), [0])
    view = RealGraphs(graphs, 3).view(torch.tensor([0]))
    assert view.features.tolist() == [[pytest.approx(1.0)]]


def test_parts_are_all_graphs_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "NODES_AT_ONCE", 20)
    real = RealGraphs(noisy_problem(graphs=12).graphs, 2)
    chosen = torch.tensor([3, 1, 11, 7, 8, 2, 0])
    parts = real.parts(chosen)
    assert torch.equal(torch.cat(list(parts)), chosen)
    assert len(parts) > 1
    assert max(len(part) for part in parts) <= 4
