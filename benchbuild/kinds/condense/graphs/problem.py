"""A set of graphs that is to be condensed, as methods may see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from benchbuild.datasets.graph import checksum_of
from benchbuild.datasets.graphset import GraphBatch, GraphSet
from benchbuild.kinds.condense.classes import LabelledSet


@dataclass(frozen=True, eq=False)
class GraphsProblem(LabelledSet):
    """The training graphs of a set with their classes, and no others.

    Attributes:
        graphs: The training graphs.
        num_classes: The number of classes.
    """

    many: ClassVar[str] = "graphs"
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
    def labels(self) -> Tensor:
        """The classes of the training graphs."""
        return self.graphs.y

    @cached_property
    def checksum(self) -> str:
        """sha256 over all that is observed: what names the files that depend on it."""
        parts = ("x", "edge_index", "node_ptr", "y")
        return checksum_of((part, getattr(self.graphs, part).cpu()) for part in parts)
