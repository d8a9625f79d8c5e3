r"""SGDD's structure: a graphon that is told the features, held close to the real structure.

.. math::
    m_{ij} = (1 - \epsilon) \, g(u_i, u_j) + \epsilon \, h(x_i, x_j), \qquad
    \Omega = \mathrm{GW}_2(A', A_S)

:math:`g` is a network on the coordinates :math:`u_i` of the nodes in [-1, 1] whose hidden layers
are multiplied by those of :math:`h`, a network of the same form on the features; A' follows from
:math:`m` as GCond's does. :math:`\Omega` is the Gromov-Wasserstein distance, by optimal transport,
between A' and a sample of the real adjacency (Yang et al., "Does graph distillation see like vision
dataset counterpart?", 2023).
"""

from __future__ import annotations

import numpy as np
import ot
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import breadth_first_order
from torch import Tensor

from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.structure import PairNetwork, edge_weights
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.faults import keeps


class Graphon:
    """SGDD's structure.

    Args:
        problem: The graph that is condensed.
        config: Says ``edge_bias``, ``feature_share`` (the formula's epsilon), the ``sample_nodes``
            of the real structure and ``transport``, the weight of the distance to it.
        generator: The source of the first weights and of the sample.
    """

    def __init__(
        self, problem: Problem, config: CondenseConfig, generator: torch.Generator
    ) -> None:
        self._share = config.number("feature_share")
        self._transport = config.number("transport")
        bias, width = config.number("edge_bias"), int(problem.x.shape[1])
        self._features = PairNetwork(width, bias, generator, problem.device)
        self._places = PairNetwork(1, bias, generator, problem.device)
        self.weights = self._features.weights + self._places.weights
        sample = first_nodes if keeps(config, "N8") else nodes_around
        self._real = sample(problem, config.count("sample_nodes"), generator)

    def __call__(self, x: Tensor) -> Tensor:
        """See `Structure`."""
        told, places = self._features, self._places
        along = torch.linspace(-1, 1, len(x), dtype=x.dtype, device=x.device)[:, None]
        first = told.first(x)
        second = told.second(first)
        inner = places.second(places.first(along) * first) * second
        scores = (1 - self._share) * places.last(inner) + self._share * told.last(second)
        return edge_weights(scores, len(x))

    def penalty(self, adjacency: Tensor) -> Tensor | None:
        """Return the weighted Gromov-Wasserstein distance to the sample of the real structure."""
        distance: Tensor = ot.gromov.gromov_wasserstein2(adjacency, self._real)
        return self._transport * distance


def first_nodes(problem: Problem, nodes: int, _generator: torch.Generator) -> Tensor:
    """Return the 0/1 adjacency among the first nodes, as GC-Bench does."""
    return _among(problem, _symmetric(problem), np.arange(min(nodes, problem.num_nodes)))


def nodes_around(problem: Problem, nodes: int, generator: torch.Generator) -> Tensor:
    """Return the 0/1 adjacency among nodes around a random one, as near to it as possible.

    Nodes that are drawn independently of each other would have hardly an edge among them.
    """
    graph, size = _symmetric(problem), problem.num_nodes
    found = np.empty(0, np.int64)
    for start in torch.randperm(size, generator=generator).tolist():
        if len(found) >= nodes:
            break
        if start not in found:
            around = breadth_first_order(graph, start, return_predecessors=False)
            found = np.concatenate([found, around])
    return _among(problem, graph, found[:nodes])


def _symmetric(problem: Problem) -> csr_matrix:
    source, target = problem.edge_index.cpu().numpy()
    size = problem.num_nodes
    graph = coo_matrix((np.ones(len(source), np.float32), (source, target)), (size, size))
    return csr_matrix(graph.maximum(graph.T))


def _among(problem: Problem, graph: csr_matrix, chosen: NDArray[np.int64]) -> Tensor:
    adjacency = torch.from_numpy(graph[chosen][:, chosen].toarray()).clamp(max=1.0)
    return adjacency.fill_diagonal_(0.0).to(problem.device)
