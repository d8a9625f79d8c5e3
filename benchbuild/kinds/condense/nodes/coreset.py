r"""What the core-set methods share: an embedding to select by, and the graph of a selection.

The embedding is what a two-layer GCN gives the training nodes,

.. math:: \log \operatorname{softmax}(\hat{A} \, \mathrm{relu}(\hat{A} X W_1) W_2),

trained on their labels for a fixed number of epochs: the validation labels are not a method's to
see. A' is the subgraph that the selected nodes induce.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric.utils import subgraph, to_dense_adj

from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.dropout import Dropout
from benchbuild.compute.features import make_features
from benchbuild.compute.rows import Rows
from benchbuild.compute.sparse import sparse_matrix
from benchbuild.kinds.condense.method import Snapshot
from benchbuild.kinds.condense.nodes.backbones import linear_weights
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.scaling import dense_rows
from benchbuild.kinds.condense.selection import Select
from benchquery.kinds.condensed.config import CondenseConfig


def core_set(
    problem: Problem, config: CondenseConfig, embeddings: Tensor, select: Select
) -> Iterator[Snapshot]:
    """Yield the graph of the training nodes that are selected class by class.

    A class whose share is larger than what there is of it is taken as a whole.

    Args:
        problem: The graph that is condensed.
        config: Says how many nodes to select.
        embeddings: (training nodes, width).
        select: Chooses among the embeddings of a class.
    """
    chosen = []
    for label, count in enumerate(torch.bincount(problem.synthetic_labels(config)).tolist()):
        members = (problem.train_labels == label).nonzero().view(-1)
        if count:
            chosen.append(members[select(embeddings[members], min(count, len(members)))])
    places = torch.cat(chosen)
    nodes = problem.train_nodes[places]
    graph = CondensedGraph(
        dense_rows(problem.x, nodes),
        problem.train_labels[places],
        induced(problem, nodes),
    )
    yield Snapshot(0, graph.detach(), {})


def induced(problem: Problem, nodes: Tensor) -> Tensor:
    """Return the 0/1 adjacency between some nodes, in their order, without self-loops."""
    place = torch.full((problem.num_nodes,), -1, device=problem.device)
    place[nodes] = torch.arange(len(nodes), device=problem.device)
    edges, _ = subgraph(nodes, problem.edge_index, num_nodes=problem.num_nodes)
    adjacency = to_dense_adj(place[edges], max_num_nodes=len(nodes))[0].clamp(max=1.0)
    return torch.maximum(adjacency, adjacency.T).fill_diagonal_(0.0)


def embedding(problem: Problem, config: CondenseConfig) -> Tensor:
    """Return (training nodes, classes) of log-probabilities of a GCN trained on their labels."""
    generator = torch.Generator().manual_seed(config.seed)
    edges = problem.edge_index.cpu()
    propagate = sparse_matrix(propagation_matrix("gcn", edges, problem.num_nodes), problem.device)
    features = make_features(problem.x.cpu(), problem.device)
    everything = Rows(None, problem.device)
    widths = (int(problem.x.shape[1]), config.count("hidden"), problem.num_classes)
    weights = linear_weights(widths, generator, problem.device)
    for weight in weights:
        weight.requires_grad_()
    optimizer = torch.optim.Adam(
        weights, lr=config.number("lr"), weight_decay=config.number("weight_decay")
    )

    def outputs(dropout: Dropout) -> Tensor:
        first, first_bias, second, second_bias = weights
        hidden = propagate @ features.times(first.T, everything) + first_bias
        kept = dropout.after_relu(hidden * dropout.scale)
        logits = propagate @ (kept @ second.T) + second_bias
        return functional.log_softmax(logits[problem.train_nodes], dim=1)

    dropout = Dropout(config.number("dropout"), config.seed, problem.device)
    for _ in range(config.count("epochs")):
        loss = functional.nll_loss(outputs(dropout), problem.train_labels)
        for weight, gradient in zip(weights, torch.autograd.grad(loss, weights), strict=True):
            weight.grad = gradient
        optimizer.step()
    with torch.no_grad():
        return outputs(Dropout(0.0, config.seed, problem.device))
