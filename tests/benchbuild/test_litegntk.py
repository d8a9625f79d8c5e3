"""LiteGNTK against the formula written out, closed forms, and what must hold of any kernel."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck

from benchbuild.datasets.graphset import GraphBatch
from benchbuild.kinds.condense.graphs import litegntk
from benchbuild.kinds.condense.graphs.litegntk import (
    EqualSide,
    GraphSide,
    Steps,
    dense_side,
    kernel,
    low_rank_side,
    self_kernel,
)

LOW_RANK = Steps(before=0, after=2, mean=False)
DENSE = Steps(before=1, after=2, mean=True)
BOTH = pytest.mark.parametrize("steps", [LOW_RANK, DENSE, Steps(before=2, after=0, mean=False)])
CLOSE = {"rtol": 1e-10, "atol": 1e-12}


def plain(x: Tensor, a: Tensor, z: Tensor, b: Tensor, steps: Steps) -> Tensor:
    """The kernel of two graphs with whole matrices of pairs of nodes; loops are in a and b."""
    sigma, own, other = x @ z.T + 1e-4, x @ x.T + 1e-4, z @ z.T + 1e-4
    for _ in range(steps.before):
        sigma, own, other = a @ sigma @ b.T, a @ own @ a.T, b @ other @ b.T
    scale = own.diagonal().sqrt()[:, None] * other.diagonal().sqrt() + 1e-6
    cosine = (sigma / scale).clamp(-0.9999, 0.9999)
    derivative = (math.pi - cosine.acos()) / math.pi
    ntk = sigma * derivative
    ntk = ntk + (cosine * (math.pi - cosine.acos()) + (1 - cosine**2).sqrt()) / math.pi
    for _ in range(steps.after):
        ntk = a @ ntk @ b.T
    return ntk.mean() if steps.mean else ntk.sum()


def plain_kernel(
    left: list[tuple[Tensor, Tensor]], right: list[tuple[Tensor, Tensor]], steps: Steps
) -> Tensor:
    """The same for all pairs, each graph given by features and adjacency with loops."""
    pairs = [plain(*one, *other, steps) for one in left for other in right]
    return torch.stack(pairs).view(len(left), len(right))


def random_graphs(generator: torch.Generator, sizes: tuple[int, ...], labels: int) -> GraphBatch:
    """Directed graphs with a label at each node, some of them without an edge."""
    starts = torch.tensor([0, *sizes]).cumsum(0)
    edges = []
    for start, size in zip(starts.tolist(), sizes, strict=False):
        found = torch.rand(size, size, generator=generator) < 0.4
        edges.append(start + found.fill_diagonal_(fill_value=False).nonzero().T)
    label = torch.randint(labels, (sum(sizes),), generator=generator)
    x = torch.nn.functional.one_hot(label, labels).float()
    return GraphBatch(x, torch.cat(edges, dim=1), starts, torch.zeros(len(sizes)).long())


def taken_apart(graphs: GraphBatch) -> list[tuple[Tensor, Tensor]]:
    """Each graph as features and dense adjacency with loops, in double precision."""
    made = []
    for place, (start, stop) in enumerate(
        zip(graphs.node_ptr.tolist(), graphs.node_ptr.tolist()[1:], strict=False)
    ):
        adjacency = 1e-4 * torch.eye(stop - start, dtype=torch.float64)
        for source, target in graphs.edge_index.T.tolist():
            if graphs.graph_of[source] == place:
                adjacency[source - start, target - start] += 1
        made.append((graphs.x[start:stop].double(), adjacency))
    return made


def dense(generator: torch.Generator, graphs: int, nodes: int, width: int) -> Tensor:
    return torch.rand(graphs, nodes, width, generator=generator, dtype=torch.float64)


@BOTH
def test_kernels_are_the_formula(steps: Steps) -> None:
    generator = torch.Generator().manual_seed(0)
    x, a = dense(generator, 3, 5, 4), dense(generator, 3, 5, 5)
    real = random_graphs(generator, (1, 4, 7, 2), labels=4)
    looped = list(zip(x, a + 1e-4 * torch.eye(5), strict=True))
    side = dense_side(x, a, steps)
    among = plain_kernel(looped, looped, steps)
    torch.testing.assert_close(self_kernel(side), among, **CLOSE)
    torch.testing.assert_close(kernel(side, side), among, **CLOSE)
    whole = GraphSide(real, real.x.double(), steps)
    chosen = torch.tensor([2, 0, 0, 3, 1])
    between = plain_kernel(looped, taken_apart(real), steps)[:, chosen]
    torch.testing.assert_close(whole.kernel(side, chosen), between, **CLOSE)


def test_kernels_do_not_depend_on_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = torch.Generator().manual_seed(1)
    side = dense_side(dense(generator, 3, 5, 4), dense(generator, 3, 5, 5), DENSE)
    real = random_graphs(generator, (3,) * 9, labels=3)
    whole = GraphSide(real, dense(generator, 1, 27, 4)[0], DENSE)
    wanted = self_kernel(side), whole.kernel(side, torch.arange(9))
    monkeypatch.setattr(litegntk, "_TILE", 20)
    monkeypatch.setattr(litegntk, "_CHUNK", 4)
    torch.testing.assert_close(self_kernel(side), wanted[0], **CLOSE)
    torch.testing.assert_close(whole.kernel(side, torch.arange(9)), wanted[1], **CLOSE)


def test_single_precision_is_as_good_as_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """With numpy's arccosine and with torch's, whichever this processor has."""
    generator = torch.Generator().manual_seed(6)
    x, a = dense(generator, 3, 20, 8) - 0.3, dense(generator, 3, 20, 20)
    wanted = self_kernel(dense_side(x, a, DENSE))
    for by_numpy in (True, False):
        monkeypatch.setattr(litegntk, "_BY_NUMPY", by_numpy)
        torch.testing.assert_close(self_kernel(dense_side(x, a, DENSE)), wanted, **CLOSE)
        found = self_kernel(dense_side(x.float(), a.float(), DENSE))
        torch.testing.assert_close(found.double(), wanted, rtol=2e-6, atol=0.0)


def test_weighted_edges_count_by_their_weight() -> None:
    generator = torch.Generator().manual_seed(2)
    real = random_graphs(generator, (4, 3), labels=3)
    weight = torch.rand(real.num_edges, generator=generator)
    weighted = GraphBatch(real.x, real.edge_index, real.node_ptr, real.y, edge_weight=weight)
    apart = []
    for place, (x, adjacency) in enumerate(taken_apart(real)):
        start = int(real.node_ptr[place])
        for (source, target), each in zip(real.edge_index.T.tolist(), weight, strict=True):
            if real.graph_of[source] == place:
                adjacency[source - start, target - start] += each.double() - 1
        apart.append((x, adjacency))
    x, a = dense(generator, 2, 4, 3), dense(generator, 2, 4, 4)
    found = GraphSide(weighted, real.x.double(), DENSE)
    torch.testing.assert_close(
        found.kernel(dense_side(x, a, DENSE), torch.arange(2)),
        plain_kernel(list(zip(x, a + 1e-4 * torch.eye(4), strict=True)), apart, DENSE),
        **CLOSE,
    )


@pytest.mark.parametrize("degrees", [0, 60, 90, 120])
def test_single_nodes_have_the_arc_cosine_kernels(degrees: int) -> None:
    """Of two unit vectors at an angle, with the bias that raises all covariances."""
    angle = math.radians(degrees)
    x = torch.tensor([[[1.0, 0.0]], [[math.cos(angle), math.sin(angle)]]], dtype=torch.float64)
    found = self_kernel(dense_side(x, torch.zeros(2, 1, 1), Steps(0, 0, mean=False)))[0, 1]
    covariance = math.cos(angle) + 1e-4
    cosine = min(covariance / (1 + 1e-4 + 1e-6), 0.9999)
    theta = math.acos(cosine)
    degree_zero = (math.pi - theta) / math.pi
    degree_one = (math.sin(theta) + (math.pi - theta) * math.cos(theta)) / math.pi
    assert float(found) == pytest.approx(covariance * degree_zero + degree_one, rel=1e-12)


def test_low_rank_is_dense_where_both_do_the_same() -> None:
    """A node of a low-rank graph keeps nothing of itself, so a dense one must be told not to."""
    generator = torch.Generator().manual_seed(3)
    x, u, v = (dense(generator, *shape) for shape in ((3, 6, 4), (3, 6, 2), (3, 2, 6)))
    adjacency = u @ v - 1e-4 * torch.eye(6, dtype=torch.float64)
    one = low_rank_side(x, u, v, after=2)
    other = dense_side(x, adjacency, LOW_RANK)
    torch.testing.assert_close(self_kernel(one), self_kernel(other), **CLOSE)
    mixed = kernel(one, other)
    torch.testing.assert_close(mixed, self_kernel(other), **CLOSE)


def test_gradients_are_those_of_differences() -> None:
    generator = torch.Generator().manual_seed(4)
    x, a, u, v = (
        dense(generator, *shape).requires_grad_()
        for shape in ((2, 3, 2), (2, 3, 3), (2, 3, 2), (2, 2, 3))
    )
    real = random_graphs(generator, (2, 3), labels=2)
    whole = GraphSide(real, real.x.double(), DENSE)
    assert gradcheck(lambda x, a: self_kernel(dense_side(x, a, DENSE)), (x, a))
    assert gradcheck(
        lambda x, a: whole.kernel(dense_side(x, a, DENSE), torch.tensor([1, 0])), (x, a)
    )
    assert gradcheck(lambda x, u, v: self_kernel(low_rank_side(x, u, v, 2)), (x, u, v))
    assert gradcheck(
        lambda x, u, v, a: kernel(low_rank_side(x, u, v, 2), dense_side(x, a, LOW_RANK)),
        (x, u, v, a),
    )


@BOTH
@given(seed=st.integers(0, 2**20), nodes=st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_the_order_of_nodes_does_not_matter(steps: Steps, seed: int, nodes: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    x, a = dense(generator, 3, nodes, 3), dense(generator, 3, nodes, nodes)
    order = torch.randperm(nodes, generator=generator)
    side = dense_side(x, a, steps)
    other = dense_side(x[:, order], a[:, order][:, :, order], steps)
    torch.testing.assert_close(self_kernel(side), self_kernel(other), rtol=1e-9, atol=1e-12)


@given(seed=st.integers(0, 2**20), graphs=st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_kernels_are_positive_semi_definite(seed: int, graphs: int) -> None:
    """But for the cosines of nodes with themselves, which are a little less than 1."""
    generator = torch.Generator().manual_seed(seed)
    x = dense(generator, graphs, 4, 3)
    a = (dense(generator, graphs, 4, 4) < 0.5).double()
    for steps in (LOW_RANK, DENSE):
        found = self_kernel(dense_side(x, a, steps))
        torch.testing.assert_close(found, found.T)
        assert torch.linalg.eigvalsh(found)[0] >= -0.005 * found.diagonal().max()


def test_a_graph_without_edges_or_nodes_has_a_kernel() -> None:
    x = torch.eye(2, dtype=torch.float64)
    graphs = GraphBatch(
        x, torch.zeros(2, 0).long(), torch.tensor([0, 1, 1, 2]), torch.zeros(3).long()
    )
    side = GraphSide(graphs, x, Steps(before=0, after=0, mean=True)).side(torch.arange(3))
    found = self_kernel(EqualSide(side.nodes.expand(3, -1, -1), side.readout.T))
    assert (found[1] == 0).all()
    assert found[0, 0] == found[2, 2] > found[0, 2] > 0


def test_nodes_that_are_alike_are_one_kind() -> None:
    generator = torch.Generator().manual_seed(5)
    real = random_graphs(generator, (30, 30), labels=3)
    assert len(GraphSide(real, real.x, LOW_RANK).kinds) == 3
    zeros = torch.tensor([[0.0], [-0.0]])
    pair = GraphBatch(zeros, torch.zeros(2, 0).long(), torch.tensor([0, 1, 2]), torch.zeros(2))
    assert len(GraphSide(pair, zeros, LOW_RANK).kinds) == 1
