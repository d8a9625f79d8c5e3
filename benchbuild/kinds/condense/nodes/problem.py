"""What a condensation method is given and what it gives: the contract of this package.

A method is a function ``condense(problem, config, workspace)`` that yields snapshots. It sees the
training labels only; who judges the snapshots sees the validation labels, and no one the test
labels before the choice is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from benchbuild.datasets import Graph
from benchbuild.datasets.graph import Subgraph
from benchbuild.kinds.condense.nodes.scaling import scaled
from benchquery.kinds.condensed.config import CondenseConfig


@dataclass(frozen=True)
class CondensedGraph:
    """A small synthetic graph.

    Attributes:
        x: (n, f) features.
        y: (n,) classes, or (n, c) probabilities of the classes.
        adjacency: (n, n) symmetric edge weights from 0 to 1 without self-loops; None for a graph
            without edges.
    """

    x: Tensor
    y: Tensor
    adjacency: Tensor | None

    @property
    def labels(self) -> Tensor:
        """(n,) the class of each node, the likeliest where they are probabilities."""
        return self.y if self.y.dim() == 1 else self.y.argmax(dim=1)

    def detach(self) -> CondensedGraph:
        """Return a copy that later optimisation steps don't change."""
        adjacency = None if self.adjacency is None else self.adjacency.detach().clone()
        return CondensedGraph(self.x.detach().clone(), self.y.detach().clone(), adjacency)


@dataclass(frozen=True)
class Snapshot:
    """A condensed graph on the way.

    Attributes:
        epoch: After how many epochs; 0 is before the first.
        graph: The graph at that moment; detached.
        losses: The mean losses since the snapshot before, by name.
    """

    epoch: int
    graph: CondensedGraph
    losses: Mapping[str, float]


@dataclass(frozen=True)
class Workspace:
    """What a condensation may use beside the problem.

    Attributes:
        scratch: A folder for large intermediate results that later jobs may use again.
        costs: Filled by the method with costs of its own, such as ``expert_seconds`` and
            ``expert_bytes``. ``expert_seconds_here``, which this job spent on them, are not
            counted as the method's own time.
    """

    scratch: Path
    costs: dict[str, float]


class Condenser(Protocol):
    """A condensation method."""

    def __call__(
        self, problem: Problem, config: CondenseConfig, workspace: Workspace
    ) -> Iterator[Snapshot]:
        """Yield snapshots; the last one is the final graph."""


class Problem:
    """The graph that is to be condensed, as methods may see it, with its features scaled.

    In the transductive setting that is the whole graph with the labels of the training nodes. In
    the inductive setting it is the subgraph of the training nodes.

    Args:
        graph: The dataset.
        device: Where to compute.

    Attributes:
        graph: The dataset with its features scaled; what is condensed from it is to be judged on
            the same features.
        x: (nodes, features) of the observed nodes; dense, or sparse CSR if wide.
        edge_index: (2, edges) between them.
        train_nodes: Which of them have a label, ascending.
        train_labels: The class of each of those.
        num_classes: The number of classes.
    """

    def __init__(self, graph: Graph, device: torch.device) -> None:
        graph = scaled(graph)
        observed: Graph | Subgraph = graph
        if graph.inductive:
            observed = graph.induced(graph.train_mask)
        self.graph = graph
        self.device = device
        self.x: Tensor = observed.x.to(device)
        self.edge_index: Tensor = observed.edge_index.to(device)
        self.train_nodes: Tensor = observed.train_mask.nonzero().view(-1).to(device)
        self.train_labels: Tensor = observed.y.to(device)[self.train_nodes]
        self.num_classes = graph.num_classes

    @property
    def num_nodes(self) -> int:
        """The number of observed nodes."""
        return int(self.x.shape[0])

    def size(self, config: CondenseConfig) -> int:
        """Return how many nodes the condensed graph has."""
        whole = self.num_nodes if config["ratio_of"] == "nodes" else len(self.train_nodes)
        return max(round(config.ratio * whole), 1)

    def synthetic_labels(self, config: CondenseConfig) -> Tensor:
        """Return the classes of the synthetic nodes, ascending.

        Classes keep their share among the training nodes. Every class that has training nodes
        gets at least one node; the largest class makes up for rounding.
        """
        counts = torch.bincount(self.train_labels, minlength=self.num_classes).cpu().numpy()
        size = self.size(config)
        shares = np.maximum(np.floor(counts * size / counts.sum()), counts > 0).astype(np.int64)
        shares[counts.argmax()] = max(shares[counts.argmax()] + size - shares.sum(), 1)
        labels = np.repeat(np.arange(len(counts)), shares)
        return torch.from_numpy(labels).to(self.device)
