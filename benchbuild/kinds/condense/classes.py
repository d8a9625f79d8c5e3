"""What sets of labelled things have in common, whatever the things are: their classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import torch
from torch import Tensor

from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.selection import Choose
from benchquery.kinds.condensed.config import CondenseConfig


class LabelledSet(ABC):
    """The training part of a set whose things have a class each.

    Attributes:
        many: What its things are called.
        num_classes: The number of classes.
    """

    many: ClassVar[str]
    num_classes: int

    @property
    @abstractmethod
    def labels(self) -> Tensor:
        """The classes of the training things."""

    @property
    def device(self) -> torch.device:
        """Where to compute."""
        return self.labels.device

    def members(self, label: int) -> Tensor:
        """Return the numbers of the training things of a class, ascending."""
        return (self.labels == label).nonzero().view(-1)

    def classes(self, config: CondenseConfig) -> Iterator[tuple[int, Tensor]]:
        """Give every class with its training things.

        Raises:
            CondenseError: If a class has fewer than are to be made of each.
        """
        wanted = config.count("per_class")
        for label in range(self.num_classes):
            members = self.members(label)
            if len(members) < wanted:
                raise CondenseError(
                    f"{wanted} {self.many} of each class are asked for, but class {label} has "
                    f"{len(members)} training {self.many}"
                )
            yield label, members

    def chosen(self, config: CondenseConfig, choose: Choose) -> Tensor:
        """Return the numbers of the things that are chosen, those of the first class first.

        Args:
            config: Says how many of a class to choose.
            choose: Chooses among those of a class.

        Raises:
            CondenseError: If a class has fewer than are asked for.
        """
        count = config.count("per_class")
        return torch.cat([choose(members, count) for _, members in self.classes(config)])

    def synthetic_labels(self, config: CondenseConfig) -> Tensor:
        """Return the classes of the synthetic things, ascending: as many of each."""
        labels = torch.arange(self.num_classes, device=self.device)
        return labels.repeat_interleave(config.count("per_class"))
