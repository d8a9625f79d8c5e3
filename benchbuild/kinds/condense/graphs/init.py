r"""What synthetic graphs begin as: features X' and the logits of their edges.

========  =====================================================================================
noise     uniform features, and an edge between any two nodes with a uniform probability
sample    training graphs of the class, drawn without replacement
herding   training graphs of the class that herding takes
k-center  training graphs of the class that K-Center takes
========  =====================================================================================

Graphs are chosen among those of the class that have at most as many nodes as synthetic ones; nodes
without features and edges fill them up. Herding and K-Center compare the means of propagated
features. Logits are :math:`10 A - 5`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from benchbuild.datasets.graphset import GraphBatch
from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.graphs.coreset import propagated
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.selection import Choose, at_random, by_embedding, farthest, herd
from benchquery.kinds.condensed.config import CondenseConfig

HOPS = 3
"""Propagations before graphs are compared."""
_MOST = 10.0
"""Logits of noise are between this and its negative."""


@dataclass(frozen=True, eq=False)
class DenseGraphs:
    """Graphs of one size.

    Attributes:
        x: (graphs, nodes, features).
        logits: (graphs, nodes, nodes) of edges.
        density: The share of pairs of nodes that are edges, both orders and loops counted.
    """

    x: Tensor
    logits: Tensor
    density: float


def graph_size(problem: GraphsProblem, config: CondenseConfig) -> int:
    """Return how many nodes a synthetic graph has: on average those of a training graph, if 0."""
    return config.count("nodes") or math.ceil(float(problem.graphs.sizes.float().mean()))


def initial_graphs(
    problem: GraphsProblem, config: CondenseConfig, generator: torch.Generator
) -> DenseGraphs:
    """Return what synthetic graphs begin as, those of the first class first.

    Under the protocol ``as-released``, features are noise where edges are real (fault G1).

    Args:
        problem: The set that is condensed.
        config: Says which initialisation, ``nodes``, and the protocol.
        generator: The source of everything random.

    Raises:
        CondenseError: If a class has too few graphs, or too few that are small enough.
    """
    nodes, count = graph_size(problem, config), config.count("per_class")
    graphs = count * len(list(problem.classes(config)))
    noise = torch.rand(graphs, nodes, problem.graphs.num_features, generator=generator)
    if config.init == "noise":
        edges = torch.rand(graphs, nodes, nodes, generator=generator)
        logits = edges.logit().clamp(-_MOST, _MOST)
        density = float(edges.mean())
        return DenseGraphs(noise.to(problem.device), logits.to(problem.device), density)
    choose = chooser(problem, config, generator)
    chosen = [
        choose(_small_enough(problem, label, members, nodes, count), count)
        for label, members in problem.classes(config)
    ]
    x, adjacency = dense(problem.graphs.select(torch.cat(chosen)), nodes)
    features = noise.to(x) if config.protocol == "as-released" else x
    return DenseGraphs(features, 10 * adjacency - 5, float(adjacency.mean()))


def dense(graphs: GraphBatch, nodes: int) -> tuple[Tensor, Tensor]:
    """Return features and symmetric 0/1 adjacencies without loops, filled up with empty nodes.

    Args:
        graphs: Graphs of at most that many nodes.
        nodes: How many nodes each is to have.
    """
    place = torch.arange(graphs.num_nodes, device=graphs.x.device)
    place = place - graphs.node_ptr[graphs.graph_of]
    x = graphs.x.new_zeros(len(graphs), nodes, graphs.num_features)
    x[graphs.graph_of, place] = graphs.x
    source, target = graphs.edge_index
    adjacency = graphs.x.new_zeros(len(graphs), nodes, nodes)
    adjacency[graphs.graph_of[source], place[source], place[target]] = 1.0
    adjacency.diagonal(dim1=1, dim2=2).zero_()
    return x, torch.maximum(adjacency, adjacency.mT)


def chooser(problem: GraphsProblem, config: CondenseConfig, generator: torch.Generator) -> Choose:
    """Return what chooses the training graphs of a class that synthetic ones begin as."""
    if config.init == "sample":
        return at_random(generator)
    embed = propagated(problem.graphs, HOPS)
    select = herd if config.init == "herding" else farthest
    return by_embedding(embed, select)


def _small_enough(
    problem: GraphsProblem, label: int, members: Tensor, nodes: int, count: int
) -> Tensor:
    """Return the graphs of a class with at most a number of nodes, if there are enough."""
    sizes = problem.graphs.sizes[members]
    found = members[sizes <= nodes]
    if len(found) < count:
        raise CondenseError(
            f"{count} graphs of class {label} are to begin as training graphs of at most {nodes} "
            f"nodes, but it has {len(found)}; raise the hyper-parameter nodes to "
            f"{int(sizes.sort().values[count - 1])} or more, or begin with noise"
        )
    return found
