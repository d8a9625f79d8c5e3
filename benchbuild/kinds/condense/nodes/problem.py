"""A graph that is to be condensed, as methods may see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from benchbuild.datasets import Graph
from benchbuild.datasets.graph import Subgraph, checksum_of
from benchquery.kinds.condensed.config import CondenseConfig


@dataclass(frozen=True, eq=False)
class Problem:
    """The observed nodes of a graph, with the labels of the training nodes and no others.

    In the transductive setting the whole graph is observed. In the inductive setting it is the
    subgraph of the training nodes.

    Attributes:
        x: (nodes, features) of the observed nodes; dense, or sparse CSR if wide.
        edge_index: (2, edges) between them.
        train_nodes: Which of them have a label, ascending.
        train_labels: The class of each of those.
        num_classes: The number of classes.
        inductive: Whether only the training nodes are observed.
    """

    x: Tensor
    edge_index: Tensor
    train_nodes: Tensor
    train_labels: Tensor
    num_classes: int
    inductive: bool

    @classmethod
    def of(cls, graph: Graph, device: torch.device) -> Problem:
        """Return what methods may see of a graph.

        Args:
            graph: The dataset, with its features scaled; see
                `benchbuild.kinds.condense.nodes.scaling`.
            device: Where to compute.
        """
        observed: Graph | Subgraph = graph
        if graph.inductive:
            observed = graph.induced(graph.train_mask)
        train_nodes = observed.train_mask.nonzero().view(-1)
        return cls(
            observed.x.to(device),
            observed.edge_index.to(device),
            train_nodes.to(device),
            observed.y[train_nodes].to(device),
            graph.num_classes,
            graph.inductive,
        )

    @property
    def device(self) -> torch.device:
        """Where to compute."""
        return self.train_nodes.device

    @property
    def num_nodes(self) -> int:
        """The number of observed nodes."""
        return int(self.x.shape[0])

    @cached_property
    def checksum(self) -> str:
        """sha256 over all that is observed: what names the files that depend on it."""
        tensors = ("x", "edge_index", "train_nodes", "train_labels")
        return checksum_of((name, getattr(self, name).cpu()) for name in tensors)

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
