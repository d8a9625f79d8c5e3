"""Core-sets of graphs: embeddings against PyG, choices against loops, and the released lists."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import settings as example_settings
from torch import Tensor
from torch.nn import functional
from torch_geometric.nn import SGConv, global_mean_pool

from benchbuild.datasets import load_graphs
from benchbuild.datasets.graphset import GraphBatch
from benchbuild.datasets.selections import read_selections
from benchbuild.errors import CondenseError, DatasetError
from benchbuild.kinds.condense.graphs.coreset import embedding, padded, propagated
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.methods.graphs.herding import herd_released
from benchbuild.kinds.condense.selection import by_embedding, farthest, herd
from benchquery import CondenseConfig
from tests.benchbuild.graph_sets import CPU, batches, condensed, noisy_problem, settings
from tests.benchbuild.real import real_root

pytestmark = pytest.mark.usefixtures("one_thread")

METHODS = ("random", "herding", "k-center")
SIZES = (1, 5, 10, 20, 50)


@example_settings(deadline=None, max_examples=40)
@given(batches())
def test_padded_rows_are_as_far_apart_as_padded_matrices(graphs: GraphBatch) -> None:
    numbers = torch.arange(len(graphs)).flip(0)
    most = int(graphs.sizes.max()) + 3
    parts = [graphs.select(number[None]).x for number in numbers]
    plain = torch.stack(
        [functional.pad(part, (0, 0, 0, most - len(part))).flatten() for part in parts]
    )
    found = padded(graphs)(numbers)
    torch.testing.assert_close(torch.cdist(found, found), torch.cdist(plain, plain))
    torch.testing.assert_close(found.norm(dim=1), plain.norm(dim=1))


@example_settings(deadline=None, max_examples=40)
@given(batches())
def test_propagated_is_what_a_linear_gcn_pools(graphs: GraphBatch) -> None:
    layer = SGConv(2, 2, K=3, bias=False)
    layer.lin.weight.data.copy_(torch.eye(2))
    pooled = global_mean_pool(layer(graphs.x, graphs.edge_index), graphs.graph_of)
    numbers = torch.arange(len(graphs))
    torch.testing.assert_close(propagated(graphs, 3)(numbers), pooled.detach())


def released_loop(points: np.ndarray, count: int) -> list[int]:
    """GC-Bench's recurrence."""
    mean, taken = points.mean(axis=0), []
    wanted = mean
    for _ in range(count):
        left = [i for i in range(len(points)) if i not in taken]
        taken.append(min(left, key=lambda i: np.linalg.norm(points[i] - wanted)))
        wanted = mean - points[taken].mean(axis=0)
    return taken


@pytest.mark.parametrize("seed", range(3))
def test_the_released_recurrence_is_another_one(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    points: Tensor = torch.randn(25, 3, dtype=torch.float64, generator=generator) + 3
    found = herd_released(points, 10).tolist()
    assert found == released_loop(points.numpy(), 10)
    assert found[0] == int(herd(points, 1))
    assert found != herd(points, 10).tolist()


def test_k_center_begins_where_it_is_told() -> None:
    points = torch.tensor([[0.0], [1.0], [2.0], [10.0]])
    assert farthest(points, 2).tolist() == [2, 3]
    assert farthest(points, 3, torch.tensor(0)).tolist() == [0, 3, 2]


@pytest.mark.parametrize("embedding", ["gcn", "propagated", "raw-padded"])
@pytest.mark.parametrize("protocol", ["corrected", "as-released"])
@pytest.mark.parametrize("method", METHODS)
def test_the_set_is_training_graphs_of_each_class(
    method: str, protocol: str, embedding: str
) -> None:
    problem = noisy_problem(graphs=20)
    changes = {} if method == "random" else {"embedding": embedding}
    config = settings(method, 4, protocol=protocol, **changes)
    (snapshot,) = condensed(problem, config)
    made = snapshot.payload.batch(0.5, CPU)
    known = {tuple(graph.flatten().tolist()) for graph in problem.graphs.x.view(20, 6, 4)}
    chosen = {tuple(graph.flatten().tolist()) for graph in made.x.view(8, 6, 4)}
    assert snapshot.epoch == 0
    assert made.y.tolist() == [0] * 4 + [1] * 4
    assert len(chosen) == 8
    assert chosen <= known
    assert made.num_edges == 8 * 12
    (again,) = condensed(problem, config)
    assert torch.equal(again.payload.x, snapshot.payload.x)


def test_the_trained_embedding_tells_classes_apart() -> None:
    problem = noisy_problem(shift=0.3)
    config = settings("herding", embedding="gcn", epochs=40, hidden=16, lr=0.01, batch=16)
    seen: list[Tensor] = []

    def look(members: Tensor, count: int) -> Tensor:
        seen.append(members)
        return torch.arange(count)

    choose = by_embedding(embedding(problem, config), look)
    for label in (0, 1):
        choose(problem.members(label), 1)
    means = [rows.mean(dim=0) for rows in seen]
    right = [
        ((rows - means[label]).norm(dim=1) < (rows - means[1 - label]).norm(dim=1)).float().mean()
        for label, rows in enumerate(seen)
    ]
    assert min(float(share) for share in right) > 0.9


def test_k_center_as_released_begins_anywhere() -> None:
    problem = noisy_problem()
    made = [
        condensed(
            problem,
            settings("k-center", 1, seed=seed, protocol="as-released", embedding="raw-padded"),
        )
        for seed in range(4)
    ]
    first = {tuple(snapshot.payload.x[0].tolist()) for (snapshot,) in made}
    assert len(first) > 1


@pytest.mark.parametrize("method", METHODS)
def test_a_class_with_too_few_graphs_is_refused(method: str) -> None:
    with pytest.raises(CondenseError, match="class 0 has 5 training graphs"):
        condensed(noisy_problem(graphs=10), settings(method, 6))


def released(root: object, folder: str, name: str, count: int) -> list[int]:
    """Return the places, among the training graphs, of a list that KiDD's authors published."""
    kind = folder.removesuffix("Select").lower()
    path = root / "kidd_splits" / folder / f"{name}_{kind}_{count}.txt"  # type: ignore[operator]
    if not path.is_file():
        pytest.skip(f"{path.name} is not among the data")
    return [int(number) for number in path.read_text().split()]


LISTED = {"nci1": "NCI1", "molbace": "ogbg-molbace"}


@pytest.mark.parametrize("dataset", LISTED)
def test_the_released_lists_begin_at_the_mean_of_something_pooled(dataset: str) -> None:
    """What they were made by is not published, but it was not padded matrices.

    Both lists of a class begin with one graph and go on from there, as herding and K-Center do that
    begin at the mean. That graph is one of the nearest to the mean of the class by pooled features,
    and one of the farthest by padded ones.
    """
    root = real_root(dataset)
    name = LISTED[dataset]
    problem = GraphsProblem.of(load_graphs(dataset), CPU)
    first = released(root, "HerdingSelect", name, 1)
    assert first == released(root, "KCenterSelect", name, 1)
    for folder in ("HerdingSelect", "KCenterSelect"):
        for few, many in pairwise(SIZES):
            short, long = (released(root, folder, name, count) for count in (few, many))
            assert [short[:few], short[few:]] == [long[:few], long[many : many + few]]
    embeddings = {"pooled": propagated(problem.graphs, 0), "padded": padded(problem.graphs)}
    for number in first:
        members = problem.members(int(problem.graphs.y[number]))
        rank = {}
        for way, embed in embeddings.items():
            rows = embed(members)
            distance = (rows - rows.mean(dim=0)).norm(dim=1)
            rank[way] = float((distance < distance[members == number]).float().mean())
        assert rank["pooled"] < 0.15
        assert rank["padded"] > 0.5


@pytest.mark.parametrize("dataset", LISTED)
def test_released_lists_can_be_begun_with_and_chosen(dataset: str) -> None:
    root = real_root(dataset)
    problem = GraphsProblem.of(load_graphs(dataset), CPU)
    for method, folder in (("herding", "HerdingSelect"), ("k-center", "KCenterSelect")):
        listed = released(root, folder, LISTED[dataset], 10)
        config = CondenseConfig(dataset, method, per_class=10, embedding="published")
        (snapshot,) = condensed(problem, config)
        kept = snapshot.payload.stored().payload().batch(0.5, CPU)
        assert kept.y.tolist() == [0] * 10 + [1] * 10
        ours = sorted(map(int, kept.sizes))
        assert ours == sorted(int(problem.graphs.sizes[number]) for number in listed)
    begun = CondenseConfig(dataset, "kidd-lr", per_class=10, init="published-herding")
    numbers = problem.published("herding", begun)
    assert sorted(numbers.tolist()) == sorted(released(root, "HerdingSelect", LISTED[dataset], 10))
    with pytest.raises(CondenseError, match="no published list of herding with 3 graphs"):
        problem.published("herding", begun.replace(per_class=3))


def test_a_damaged_list_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "kidd_splits" / "HerdingSelect"
    folder.mkdir(parents=True)
    assert read_selections(tmp_path, "NCI1", 5, 2) == {}
    path = folder / "NCI1_herding_1.txt"
    path.write_text("3 4")
    assert read_selections(tmp_path, "NCI1", 5, 2) == {("herding", 1): (3, 4)}
    for text in ("3 5", "3", "3 four", ""):
        path.write_text(text)
        with pytest.raises(DatasetError, match="is damaged: it is to hold"):
            read_selections(tmp_path, "NCI1", 5, 2)
