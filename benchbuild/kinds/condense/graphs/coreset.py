r"""What the core-set methods for graphs share: embeddings to choose by, and the set of the chosen.

===========  ====================================================================================
gcn          the pooled last layer of a GCN that is trained on the training graphs for a fixed
             number of epochs: the validation labels are not a method's to see
propagated   the mean over the nodes of :math:`\hat{A}^L X`: what a GCN pools before anything is
             learnt
raw-padded   the feature matrix, filled up with zeros and laid out in a row, as GC-Bench compares
             graphs; it depends on the order of the nodes
published    none: the graphs are those of the list that the authors of KiDD published
===========  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.sparse import sparse_matrix
from benchbuild.datasets.graphset import GraphBatch
from benchbuild.kinds.condense.graphs.gcn import GraphGcn
from benchbuild.kinds.condense.graphs.payload import CondensedGraphs
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.graphs.views import RealGraphs
from benchbuild.kinds.condense.learning import Learner
from benchbuild.kinds.condense.method import Snapshot
from benchbuild.kinds.condense.selection import Choose, Embed, Select, by_embedding
from benchquery.kinds.condensed.config import CondenseConfig


def core_set(problem: GraphsProblem, config: CondenseConfig, choose: Choose) -> Iterator[Snapshot]:
    """Yield the set of the training graphs that are chosen class by class.

    Args:
        problem: The set that is condensed.
        config: Says how many graphs of a class to choose.
        choose: Chooses among the graphs of a class.

    Raises:
        CondenseError: If a class has fewer graphs than are asked for.
    """
    chosen = problem.graphs.select(problem.chosen(config, choose))
    yield Snapshot(0, CondensedGraphs.of(chosen).detach(), {})


def choice(problem: GraphsProblem, config: CondenseConfig, select: Select) -> Choose:
    """Return what chooses by the embedding that a configuration names, or by a published list.

    Raises:
        CondenseError: If there is no such list among the data.
    """
    if config["embedding"] != "published":
        return by_embedding(embedding(problem, config), select)
    listed = problem.published(config.method, config)
    return lambda members, count: listed[torch.isin(listed, members)][:count]


def embedding(problem: GraphsProblem, config: CondenseConfig) -> Embed:
    """Return the embedding that a configuration names."""
    match config["embedding"]:
        case "gcn":
            return _trained(problem, config)
        case "propagated":
            return propagated(problem.graphs, config.count("layers"))
        case _:
            return padded(problem.graphs)


def padded(graphs: GraphBatch) -> Embed:
    """Return what gives each graph its feature matrix in a row, those of all equally long.

    Columns that are 0 for all graphs that are asked for are left out: they change no distance, and
    one large graph would make most of the columns.
    """

    def embed(numbers: Tensor) -> Tensor:
        chosen = graphs.select(numbers)
        node, feature = chosen.x.nonzero(as_tuple=True)
        graph = chosen.graph_of[node]
        place = (node - chosen.node_ptr[graph]) * chosen.num_features + feature
        columns, column = torch.unique(place, return_inverse=True)
        rows = chosen.x.new_zeros(len(chosen), len(columns))
        rows[graph, column] = chosen.x[node, feature]
        return rows

    return embed


def propagated(graphs: GraphBatch, layers: int) -> Embed:
    """Return what gives each graph the mean of its features after some propagations."""
    weight = None if graphs.edge_weight is None else graphs.edge_weight.cpu()
    edges = graphs.edge_index.cpu()
    matrix = sparse_matrix(
        propagation_matrix("gcn", edges, graphs.num_nodes, weight), graphs.x.device
    )
    rows = graphs.x
    for _ in range(layers):
        rows = matrix @ rows
    sums = rows.new_zeros(len(graphs), rows.shape[1]).index_add_(0, graphs.graph_of, rows)
    means = sums / graphs.sizes[:, None]
    return lambda numbers: means[numbers]


@torch.no_grad()
def _trained(problem: GraphsProblem, config: CondenseConfig) -> Embed:
    """Return what gives each graph the embedding of a GCN trained on the training graphs."""
    generator = torch.Generator().manual_seed(config.seed)
    layers, batch = config.count("layers"), config.count("batch")
    widths = (problem.graphs.num_features, *(config.count("hidden"),) * layers)
    network = GraphGcn(widths, problem.num_classes, "mean")
    weights = network.draw(generator, problem.device)
    model = Learner(weights, config.number("lr"))
    real = RealGraphs(problem.graphs, layers)
    for _ in range(config.count("epochs")):
        order = torch.randperm(len(problem.graphs), generator=generator).to(problem.device)
        for numbers in torch.split(order, batch):
            labels = problem.graphs.y[numbers]
            model.step(network.gradients(weights, real.view(numbers), labels))
    return lambda numbers: network.embeddings(weights, real.view(numbers)).detach()
