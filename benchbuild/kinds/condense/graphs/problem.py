"""A set of graphs that is to be condensed, as methods may see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from benchbuild.datasets.graph import checksum_of
from benchbuild.datasets.graphset import GraphBatch, GraphSet
from benchbuild.datasets.selections import Selections
from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.classes import LabelledSet
from benchquery.kinds.condensed.config import CondenseConfig


@dataclass(frozen=True, eq=False)
class GraphsProblem(LabelledSet):
    """The training graphs of a set with their classes, and no others.

    Attributes:
        graphs: The training graphs.
        num_classes: The number of classes.
        selections: Lists of training graphs that others chose and published.
    """

    many: ClassVar[str] = "graphs"
    graphs: GraphBatch
    num_classes: int
    selections: Selections = field(default_factory=dict)

    @classmethod
    def of(cls, data: GraphSet, device: torch.device) -> GraphsProblem:
        """Return what methods may see of a set of graphs.

        Args:
            data: The dataset.
            device: Where to compute.
        """
        graphs = data.graphs.select(data.train).to(device)
        return cls(graphs, data.num_classes, data.selections)

    @property
    def labels(self) -> Tensor:
        """The classes of the training graphs."""
        return self.graphs.y

    @cached_property
    def checksum(self) -> str:
        """sha256 over all that is observed: what names the files that depend on it."""
        parts = ("x", "edge_index", "node_ptr", "y")
        return checksum_of((part, getattr(self.graphs, part).cpu()) for part in parts)

    def published(self, way: str, config: CondenseConfig) -> Tensor:
        """Return the numbers of training graphs that others chose and published, class by class.

        Args:
            way: What they were chosen by.
            config: Says how many of each class.

        Raises:
            CondenseError: If there is no such list among the data.
        """
        places = self.selections.get((way, config.count("per_class")))
        if places is None:
            known = ", ".join(f"{name} {count}" for name, count in sorted(self.selections))
            raise CondenseError(
                f"there is no published list of {way} with {config.count('per_class')} graphs of "
                f"each class; the data has {known or 'none'}"
            )
        numbers = torch.tensor(places, device=self.device)
        return numbers[self.graphs.y[numbers].argsort(stable=True)]
