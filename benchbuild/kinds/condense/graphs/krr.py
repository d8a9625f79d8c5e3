r"""The loop of KiDD: synthetic graphs by which kernel ridge regression predicts the real ones.

.. math:: \min_{A', X'} \; H\big(y, \operatorname{softmax} \hat{y}\big)
    + \beta \, \| \tilde{K}_{SS} - I \|_F, \qquad
    \hat{y} = K_{TS} \Big(K_{SS} + \lambda \frac{\operatorname{tr} K_{SS}}{n} I\Big)^{-1} y'

with :math:`\tilde{K}_{SS}` the kernel of the synthetic graphs scaled to a diagonal of ones, *n* of
them, and *H* the cross-entropy. The labels y' are as many of each class, and stay. Every update
takes some real and some synthetic graphs at random, and features stay between 0 and 1.

Synthetic graphs begin as real ones, cut off at, or filled up with empty nodes to, one size.

Protocol ``as-released`` keeps what GC-Bench's copy of the method does: features that are not
divided by each node's sum are cut off at 1 all the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric.utils import to_dense_adj, to_dense_batch

from benchbuild.kinds.condense.graphs.init import chooser, graph_size
from benchbuild.kinds.condense.graphs.litegntk import EqualSide, GraphSide, Steps, self_kernel
from benchbuild.kinds.condense.graphs.payload import CondensedGraphs
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.learning import Learner, mean_losses
from benchbuild.kinds.condense.method import Snapshot
from benchbuild.kinds.condense.ridge import LEAST, regression
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.domains.graphs import PUBLISHED

_TIMES_AVERAGE = 2
"""Nodes of a synthetic graph, in those of an average real one, if nothing else is asked for."""


class Structure(Protocol):
    """The edges of synthetic graphs while they are learnt.

    Attributes:
        steps: What is done to real graphs in the kernel.
        tensors: What is learnt.
    """

    steps: Steps
    tensors: list[Tensor]

    def side(self, x: Tensor, chosen: Tensor, update: int) -> EqualSide:
        """Return some of the graphs as one side of the kernel.

        Args:
            x: (chosen, nodes, features).
            chosen: Their numbers.
            update: The number of the update, from 0.
        """

    def updated(self) -> None:
        """Put right what an update may have left out of bounds."""

    def edges(self) -> Tensor:
        """Return (graphs, nodes, nodes) of 0 and 1: the graphs as models are trained on them."""


MakeStructure = Callable[[Tensor, CondenseConfig, torch.Generator], Structure]
"""Makes a structure that begins as the (graphs, nodes, nodes) adjacency of 0 and 1."""


def distil(
    problem: GraphsProblem, config: CondenseConfig, make_structure: MakeStructure
) -> Iterator[Snapshot]:
    """Yield synthetic graphs on the way to ones that predict the real ones.

    Args:
        problem: The graphs that are condensed.
        config: The loop's ``per_class``, ``nodes``, ``epochs``, ``evaluate_every``, ``lr_adj``,
            ``lr_feat``, ``batch``, ``batch_synthetic``, ``ridge`` and ``orthogonality``. Its
            epochs are updates.
        make_structure: Makes the edges.
    """
    generator = torch.Generator().manual_seed(config.seed)
    normalised = config.protocol == "corrected"
    if normalised:
        problem = _normalised(problem)
    x, adjacency = initial_graphs(problem, config, generator)
    labels = problem.synthetic_labels(config)
    structure = make_structure(adjacency, config, generator)
    real = GraphSide(problem.graphs, problem.graphs.x, structure.steps)
    edge_learner = Learner(structure.tensors, config.number("lr_adj"))
    learner = Learner([x], config.number("lr_feat"))
    draw = _Draw(problem, config, generator)

    def snapshot(epoch: int, losses: list[dict[str, float]]) -> Snapshot:
        graphs = CondensedGraphs.from_dense(x, structure.edges(), labels, by_row=normalised)
        return Snapshot(epoch, graphs.detach(), mean_losses(losses))

    yield snapshot(0, [])
    epochs, every = config.count("epochs"), config.count("evaluate_every")
    targets = functional.one_hot(labels, problem.num_classes)
    losses: list[dict[str, float]] = []
    for epoch in range(1, epochs + 1):
        graphs, chosen = draw.real(), draw.synthetic(len(labels))
        side = structure.side(x[chosen], chosen, epoch - 1)
        k_ss = self_kernel(side).double()
        k_st = real.kernel(side, graphs).double()
        predicted = regression(k_ss, k_st, targets[chosen].double(), config.number("ridge"))
        loss = {
            "regression": functional.cross_entropy(predicted, problem.graphs.y[graphs]),
            "orthogonality": config.number("orthogonality") * overlap(k_ss),
        }
        gradients = torch.autograd.grad(
            loss["regression"] + loss["orthogonality"], [x, *structure.tensors]
        )
        learner.step(gradients[:1])
        edge_learner.step(gradients[1:])
        with torch.no_grad():
            x.clamp_(0.0, 1.0)
            structure.updated()
        losses.append({name: float(value.detach()) for name, value in loss.items()})
        if epoch % every == 0 or epoch == epochs:
            yield snapshot(epoch, losses)
            losses.clear()


def overlap(k_ss: Tensor) -> Tensor:
    """Return how far a kernel, scaled to a diagonal of ones, is from the identity."""
    root = k_ss.diagonal().clamp(min=LEAST).sqrt()
    eye = torch.eye(len(k_ss), dtype=k_ss.dtype, device=k_ss.device)
    distance: Tensor = torch.linalg.matrix_norm(k_ss / torch.outer(root, root) - eye)
    return distance


def by_row(x: Tensor) -> Tensor:
    """Return features divided by each node's sum, where that is not zero."""
    total = x.sum(dim=1, keepdim=True)
    return x / total.where(total != 0, 1.0)


def _normalised(problem: GraphsProblem) -> GraphsProblem:
    graphs = dataclasses.replace(problem.graphs, x=by_row(problem.graphs.x))
    return dataclasses.replace(problem, graphs=graphs)


def initial_graphs(
    problem: GraphsProblem, config: CondenseConfig, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Return the features and the adjacency that synthetic graphs begin with, those of real ones.

    Args:
        problem: The graphs that are condensed.
        config: Says how many graphs of each class, which ones, and ``nodes``: of how many nodes; 0
            for twice as many as training graphs have on average.
        generator: The source of everything random.

    Returns:
        (graphs, nodes, features), and (graphs, nodes, nodes) of 0 and 1.
    """
    nodes = config.count("nodes") or _TIMES_AVERAGE * graph_size(problem, config)
    graphs = problem.graphs.select(_begin_as(problem, config, generator))
    size = {"max_num_nodes": nodes, "batch_size": len(graphs)}
    features, _ = to_dense_batch(graphs.x, graphs.graph_of, **size)
    adjacency = to_dense_adj(graphs.edge_index, graphs.graph_of, **size)
    return features, adjacency.clamp(max=1.0)


def _begin_as(problem: GraphsProblem, config: CondenseConfig, generator: torch.Generator) -> Tensor:
    """Return the numbers of the training graphs that synthetic ones begin as, class by class."""
    if config.init.startswith(PUBLISHED):
        return problem.published(config.init.removeprefix(PUBLISHED), config)
    return problem.chosen(config, chooser(problem, config, generator))


class _Draw:
    """Numbers of graphs at random: real ones in passes over all of them, synthetic ones afresh."""

    def __init__(
        self, problem: GraphsProblem, config: CondenseConfig, generator: torch.Generator
    ) -> None:
        self._count = len(problem.graphs)
        self._device = problem.device
        self._batch = config.count("batch")
        self._synthetic = config.count("batch_synthetic")
        self._generator = generator
        self._left = torch.zeros(0, dtype=torch.long)

    def real(self) -> Tensor:
        """Return the numbers of the next real graphs."""
        if not len(self._left):
            self._left = self._order(self._count)
        batch, self._left = self._left[: self._batch], self._left[self._batch :]
        return batch

    def synthetic(self, count: int) -> Tensor:
        """Return the numbers of some of the synthetic graphs."""
        return self._order(count)[: self._synthetic]

    def _order(self, count: int) -> Tensor:
        return torch.randperm(count, generator=self._generator).to(self._device)
