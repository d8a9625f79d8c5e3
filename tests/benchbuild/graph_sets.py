"""Small sets of graphs that condensation is tested on."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import torch
from hypothesis import strategies as st
from torch import Tensor

from benchbuild.datasets.graphset import GraphBatch
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchquery.kinds.condensed.config import CondenseConfig

CPU = torch.device("cpu")


def batch_of(
    sizes: list[int], edges: list[tuple[int, int, int]], x: Tensor, y: list[int]
) -> GraphBatch:
    """Return graphs; an edge is a graph's number, a source and a target in it, one way only."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size)
    pairs = [(starts[graph] + a, starts[graph] + b) for graph, a, b in edges]
    edge_index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    return GraphBatch(x, edge_index, torch.tensor(starts), torch.tensor(y))


@st.composite
def batches(draw: st.DrawFn, classes: int = 2) -> GraphBatch:
    """Any few graphs: of some sizes, with edges one way or both or none, and few sorts of nodes."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=classes, max_size=5))
    edges = []
    for graph, size in enumerate(sizes):
        ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
        for a, b in draw(st.sets(ends.filter(lambda pair: pair[0] != pair[1]), max_size=6)):
            edges.append((graph, a, b))
            if draw(st.booleans()) and (graph, b, a) not in edges:
                edges.append((graph, b, a))
    sorts = draw(st.lists(st.integers(0, 2), min_size=sum(sizes), max_size=sum(sizes)))
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, -2.0]])[sorts]
    return batch_of(sizes, sorted(set(edges)), x, [i % classes for i in range(len(sizes))])


def noisy_problem(
    graphs: int = 60, size: int = 6, shift: float = 0.6, seed: int = 0
) -> GraphsProblem:
    """Return rings whose classes differ in the mean of noisy features."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(graphs) % 2
    noise = torch.randn(graphs, size, 4, generator=generator)
    x = (noise + shift * (2 * y - 1)[:, None, None]).reshape(-1, 4)
    edges = [
        (graph, *pair)
        for graph in range(graphs)
        for node in range(size)
        for pair in ((node, (node + 1) % size), ((node + 1) % size, node))
    ]
    return GraphsProblem(batch_of([size] * graphs, edges, x, y.tolist()), 2)


def settings(method: str, per_class: int = 2, **changes: object) -> CondenseConfig:
    """Return a configuration that takes a moment."""
    quick: dict[str, object] = {"epochs": 3, "hidden": 8}
    if method == "doscond":
        quick |= {"evaluate_every": 2, "batch": 16}
    if method == "random":
        quick = {}
    given = {**quick, **changes}
    return CondenseConfig("motifs", method, per_class=per_class, **given)  # type: ignore[arg-type]


def condensed(problem: GraphsProblem, config: CondenseConfig) -> list[Snapshot]:
    """Return all snapshots."""
    condense = import_module(config.spec.module).condense
    return list(condense(problem, config, Workspace(Path("unused"), {})))
