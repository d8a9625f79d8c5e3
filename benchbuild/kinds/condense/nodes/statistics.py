r"""Statistics of a condensed graph.

Edges whose weight is below a threshold are left out first. The homophily is GC-Bench's weighted
one,

.. math::
    \mathcal{H} = \frac{\sum_{(j,k) \in \mathcal{E}} w_{jk} \, \mathbf{1}(y_j = y_k)}
    {\sum_{(j,k) \in \mathcal{E}} w_{jk}}
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchbuild.kinds.condense.nodes.payload import StoredGraph
from benchquery.kinds.condensed.graphs import edge_weights


@dataclass(frozen=True)
class Statistics:
    """What a condensed graph looks like.

    Attributes:
        nodes: Number of nodes.
        edges: Number of edges, each counted once.
        density: Edges as a share of all pairs of nodes.
        homophily: Share of the edge weight that joins nodes of one class; NaN without edges.
        bytes: Size of its arrays.
    """

    nodes: int
    edges: int
    density: float
    homophily: float
    bytes: int


def statistics(graph: StoredGraph, threshold: float) -> Statistics:
    """Look at a graph.

    Args:
        graph: The graph.
        threshold: Edges with less weight are left out.
    """
    nodes = len(graph.x)
    weights = edge_weights(nodes, graph.adjacency, threshold).astype(np.float64)
    edges = int(np.count_nonzero(weights))
    pairs = nodes * (nodes - 1) // 2
    same = graph.labels[:, None] == graph.labels[None, :]
    total = float(weights.sum())
    return Statistics(
        nodes=nodes,
        edges=edges,
        density=edges / pairs if pairs else 0.0,
        homophily=float(weights[same].sum() / total) if total else float("nan"),
        bytes=graph.bytes,
    )
