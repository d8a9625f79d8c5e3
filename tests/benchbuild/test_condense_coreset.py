"""Core-sets: against loops that follow the definitions, and what the selected graph is."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from benchbuild.kinds.condense.selection import farthest, herd
from tests.benchbuild.condensing import condensed, path_graph, problem, settings

pytestmark = pytest.mark.usefixtures("one_thread")

METHODS = ("random", "herding", "k-center")


def plain_herding(points: np.ndarray, count: int) -> list[int]:
    taken: list[int] = []
    for i in range(count):
        best, found = np.inf, -1
        for candidate in range(len(points)):
            if candidate in taken:
                continue
            rest = (i + 1) * points.mean(axis=0) - points[taken].sum(axis=0) - points[candidate]
            if np.sqrt((rest**2).sum()) < best:
                best, found = np.sqrt((rest**2).sum()), candidate
        taken.append(found)
    return taken


def plain_k_center(points: np.ndarray, count: int) -> list[int]:
    mean = points.mean(axis=0)
    taken = [min(range(len(points)), key=lambda i: np.linalg.norm(points[i] - mean))]
    while len(taken) < count:
        taken.append(
            max(
                (i for i in range(len(points)) if i not in taken),
                key=lambda i: min(np.linalg.norm(points[i] - points[j]) for j in taken),
            )
        )
    return taken


@pytest.mark.parametrize("seed", range(5))
def test_against_the_definition(seed: int) -> None:
    points: Tensor = torch.randn(
        25, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )
    assert herd(points, 12).tolist() == plain_herding(points.numpy(), 12)
    assert farthest(points, 12).tolist() == plain_k_center(points.numpy(), 12)


@pytest.mark.parametrize("select", [herd, farthest])
def test_equal_points_are_taken_once_each(select: object) -> None:
    taken = select(torch.ones(6, 2), 6)  # type: ignore[operator]
    assert sorted(taken.tolist()) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("method", METHODS)
def test_the_graph_is_the_induced_subgraph(method: str) -> None:
    y = torch.arange(22) % 2
    x = torch.arange(22).float()[:, None]
    (snapshot,) = condensed(settings(method, 0.5), problem(path_graph(x, y)))
    graph = snapshot.payload
    nodes = graph.x.view(-1).long()
    assert snapshot.epoch == 0
    assert graph.y.tolist() == (nodes % 2).tolist() == sorted(graph.y.tolist())
    assert len(set(nodes.tolist())) == 11
    assert int(nodes.max()) < 20
    expected = ((nodes[:, None] - nodes).abs() == 1).float()
    assert graph.adjacency is not None
    assert torch.equal(graph.adjacency, expected)


@pytest.mark.parametrize("method", METHODS)
def test_no_more_nodes_than_there_are(method: str) -> None:
    given = problem()
    (snapshot,) = condensed(settings(method, 0.9), given)
    assert len(snapshot.payload.x) == len(given.train_nodes)


@pytest.mark.parametrize("method", METHODS)
def test_deterministic(method: str) -> None:
    first, again = (condensed(settings(method))[0].payload for _ in range(2))
    assert torch.equal(first.x, again.x)
    assert torch.equal(first.y, again.y)


def test_random_follows_the_seed() -> None:
    first, other = (condensed(settings("random", seed=seed))[0].payload.x for seed in (0, 1))
    assert not torch.equal(first, other)
