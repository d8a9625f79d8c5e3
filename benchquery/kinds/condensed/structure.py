"""What can be said of the edges of a condensed graph, and where to draw its nodes.

Homophily is GC-Bench's: the share of edge weight between nodes of one class. Beside it stand the
share of edges whatever their weight, and what chance gives: the share of all pairs that are of one
class, which is the homophily of edges that know nothing of classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.kinds.condensed.forms import GRAPH
from benchquery.kinds.condensed.graphs import edge_weights, node_degrees
from benchquery.kinds.condensed.published import published
from benchquery.kinds.condensed.table import CondensedTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array
else:
    np = LazyModule("numpy")


_PULL = 0.8
"""How strongly nodes are drawn to the middle, so that those without edges stay near."""


@dataclass(frozen=True)
class Structure:
    """The edges of one condensed graph in numbers.

    Attributes:
        nodes: How many nodes it has.
        edges: How many edges whose weight reaches the threshold.
        density: They as a share of all pairs.
        mean_weight: Their mean weight; NaN without edges, as all that follows.
        mean_degree: Edges of a node on average.
        weighted_degree: The sum of the weights of a node's edges on average.
        homophily: Share of the edge weight between nodes of one class.
        unweighted: Share of the edges between nodes of one class.
        chance: Share of all pairs of nodes that are of one class.
    """

    nodes: int
    edges: int
    density: float
    mean_weight: float
    mean_degree: float
    weighted_degree: float
    homophily: float
    unweighted: float
    chance: float


def structure_of(graph: Mapping[str, Array], threshold: float) -> Structure:
    """Return what can be said of the edges of a condensed graph.

    Args:
        graph: Its arrays.
        threshold: Edges with less weight are left out.
    """
    y = graph["y"]
    labels = y if y.ndim == 1 else y.argmax(axis=1)
    nodes = len(labels)
    pairs = np.triu(np.ones((nodes, nodes), dtype=bool), 1)
    same = (labels[:, None] == labels[None, :]) & pairs
    adjacency = graph.get("adjacency")
    weights = (
        np.zeros((nodes, nodes))
        if adjacency is None
        else edge_weights(adjacency, threshold).astype(np.float64)
    )
    there = weights > 0
    edges, total = int(there.sum()), float(weights.sum())
    known = edges > 0
    return Structure(
        nodes=nodes,
        edges=edges,
        density=edges / pairs.sum() if pairs.any() else 0.0,
        mean_weight=total / edges if known else np.nan,
        mean_degree=2 * edges / nodes if known else np.nan,
        weighted_degree=2 * total / nodes if known else np.nan,
        homophily=float(weights[same].sum()) / total if known else np.nan,
        unweighted=int(there[same].sum()) / edges if known else np.nan,
        chance=int(same.sum()) / int(pairs.sum()) if pairs.any() else np.nan,
    )


def structures(table: CondensedTable) -> list[dict[str, object]]:
    """Return what can be said of the edges of each graph of a table, and what the paper prints.

    Raises:
        QueryError: If its rows are not of single graphs.
    """
    if table.domain.form != GRAPH:
        raise QueryError(f"the table {table.name!r} is of sets, not of single graphs")
    rows = []
    for record in (table[config] for config in table):
        if record["config"] not in table.graphs.configs:
            continue
        found = structure_of(table.graph(record["config"]), record["threshold"])
        same = {"dataset": table.dataset, "method": record["method"], "ratio": record["ratio"]}
        printed = next(iter(published("b4", **same)), None)
        names = ("config", "method", "ratio", "init", "backbone", "seed", "protocol")
        rows.append(
            {name: record[name] for name in names}
            | vars(found)
            | {"paper": np.nan if printed is None or printed.mean is None else printed.mean}
        )
    return rows


def degrees_of(graph: Mapping[str, Array], threshold: float) -> Array:
    """Return how many edges each node of a condensed graph has."""
    adjacency = graph.get("adjacency")
    if adjacency is None:
        return np.zeros(len(graph["x"]), dtype=int)
    return node_degrees(edge_weights(adjacency, threshold))


def force_directed(weights: Array, seed: int = 0, steps: int = 200) -> Array:
    """Return places of nodes: joined ones attract each other, all push each other away.

    Fruchterman and Reingold, "Graph drawing by force-directed placement", 1991, with forces of
    edges in proportion to their weights.

    Args:
        weights: (nodes, nodes), symmetric.
        seed: Of where nodes begin.
        steps: How often all are moved.

    Returns:
        (nodes, 2), each axis from -1 to 1.
    """
    nodes = len(weights)
    places = np.random.default_rng(seed).uniform(-1, 1, (nodes, 2))
    apart = 2 / np.sqrt(max(nodes, 1))
    for reach in np.linspace(0.2, 0.0, steps, endpoint=False):
        way = places[:, None] - places[None, :]
        distance = np.maximum(np.linalg.norm(way, axis=2), 1e-3)
        push = apart**2 / distance**2 - weights * distance / apart
        np.fill_diagonal(push, 0.0)
        move = (push[..., None] * way).sum(axis=1) - _PULL * places
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-12)
        places = places + move / length * np.minimum(length, reach)
    return _within(places)


def projected(x: Array) -> Array:
    """Return (nodes, 2) the first two principal components of features, from -1 to 1.

    What counts is the direction of features: a node's length is left out.
    """
    rows = x.astype(np.float64)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    centred = rows - rows.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    places = np.zeros((len(x), 2))
    count = min(2, len(sizes))
    places[:, :count] = left[:, :count] * sizes[:count]
    return _within(places)


def _within(places: Array) -> Array:
    """Move and stretch places so that each axis goes from -1 to 1."""
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    half = np.maximum((places.max(axis=0) - places.min(axis=0)) / 2, 1e-12)
    moved: Array = (places - middle) / half
    return moved
