"""A set of graphs that is to be condensed, as methods may see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from benchbuild.datasets.graph import checksum_of
from benchbuild.datasets.graphset import GraphBatch, GraphSet
from benchbuild.errors import CondenseError
from benchquery.kinds.condensed.config import CondenseConfig


@dataclass(frozen=True, eq=False)
class GraphsProblem:
    """The training graphs of a set with their classes, and no others.

    Attributes:
        graphs: The training graphs.
        num_classes: The number of classes.
    """

    graphs: GraphBatch
    num_classes: int

    @classmethod
    def of(cls, data: GraphSet, device: torch.device) -> GraphsProblem:
        """Return what methods may see of a set of graphs.

        Args:
            data: The dataset.
            device: Where to compute.
        """
        return cls(data.graphs.select(data.train).to(device), data.num_classes)

    @property
    def device(self) -> torch.device:
        """Where to compute."""
        return self.graphs.y.device

    @cached_property
    def checksum(self) -> str:
        """sha256 over all that is observed: what names the files that depend on it."""
        parts = ("x", "edge_index", "node_ptr", "y")
        return checksum_of((part, getattr(self.graphs, part).cpu()) for part in parts)

    def members(self, label: int) -> Tensor:
        """Return the numbers of the training graphs of a class, ascending."""
        return (self.graphs.y == label).nonzero().view(-1)

    def classes(self, config: CondenseConfig) -> Iterator[tuple[int, Tensor]]:
        """Give every class with its training graphs.

        Raises:
            CondenseError: If a class has fewer graphs than are to be made of each.
        """
        wanted = config.count("per_class")
        for label in range(self.num_classes):
            members = self.members(label)
            if len(members) < wanted:
                raise CondenseError(
                    f"{wanted} graphs of each class are asked for, but class {label} has "
                    f"{len(members)} training graphs"
                )
            yield label, members

    def synthetic_labels(self, config: CondenseConfig) -> Tensor:
        """Return the classes of the synthetic graphs, ascending: as many of each."""
        labels = torch.arange(self.num_classes, device=self.device)
        return labels.repeat_interleave(config.count("per_class"))
