"""What a condensation method is given and what it gives: the contract of every method.

A method is a function ``condense(problem, config, workspace)`` that yields snapshots. It sees a
problem and never a dataset: the labels of validation and test nodes can't be reached from there.
Who judges the snapshots sees the validation labels, and no one the test labels before the choice
is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from benchbuild.kinds.condense.payload import Payload
from benchquery.kinds.condensed.config import CondenseConfig

if TYPE_CHECKING:
    import torch


class AnyProblem(Protocol):
    """What is to be condensed, as a method may see it; what more there is depends on the domain."""

    @property
    def device(self) -> torch.device:
        """Where to compute."""


@dataclass(frozen=True)
class Snapshot:
    """What a method has made so far.

    Attributes:
        epoch: After how many epochs; 0 is before the first.
        payload: What there is at that moment; detached.
        losses: The mean losses since the snapshot before, by name.
    """

    epoch: int
    payload: Payload
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
    """A condensation method; its problem is that of its domain."""

    def __call__(
        self, problem: Any, config: CondenseConfig, workspace: Workspace
    ) -> Iterator[Snapshot]:
        """Yield snapshots; the last one is the final one."""
