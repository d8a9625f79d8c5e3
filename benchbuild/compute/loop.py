"""The training loop: one full-batch step and one evaluation per epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from benchbuild.compute.objective import MEASURED, SPLITS, Objective

LOSSES = [MEASURED.index(f"{split}_loss") for split in SPLITS]
"""Which columns of what is measured are losses."""

CHECK_EVERY = 10
"""Epochs between two looks at whether training diverged; each look waits for the device."""


class Learner(Protocol):
    """A network with what it learns on and what it is tried on."""

    def training_logits(self) -> Tensor:
        """Return the logits of the training nodes, with dropout and batch statistics."""

    def evaluation_logits(self) -> Tensor:
        """Return the logits of training, validation and test nodes, in this order, to evaluate."""


class History:
    """What was measured so far; still readable after training broke off.

    Attributes:
        values: (epochs, trainings, columns) with columns as in `MEASURED`, NaN where nothing was
            measured yet; without the middle where there is but one training.
        epochs: Number of rows that were measured.
    """

    def __init__(self, epochs: int, device: torch.device, trainings: int = 1) -> None:
        """Room for a number of epochs of some trainings."""
        shape = (epochs, len(MEASURED)) if trainings == 1 else (epochs, trainings, len(MEASURED))
        self.values = torch.full(shape, torch.nan, dtype=torch.float64, device=device)
        self.epochs = 0

    def add(self, measured: Tensor) -> None:
        """Append one epoch."""
        self.values[self.epochs] = measured
        self.epochs += 1

    def diverged(self) -> bool:
        """Tell whether the last epoch's losses are not all finite, in every training."""
        finite = self.values[self.epochs - 1, ..., LOSSES].isfinite().all(dim=-1)
        return not bool(finite.any())


class Epoch:
    """One epoch of a training, as a function: a step, then what is measured after it.

    Args:
        learner: What is trained.
        objective: Loss and metric.
        optimizer: Holds its parameters.
    """

    def __init__(
        self, learner: Learner, objective: Objective, optimizer: torch.optim.Optimizer
    ) -> None:
        self._learner, self._objective = learner, objective
        self.optimizer = optimizer

    def __call__(self) -> Tensor:
        """Train for one epoch, and return what `Objective.measure` says."""
        self.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(self._objective.loss(self._learner.training_logits()))
        self.optimizer.step()
        return self._objective.measure(self._learner.evaluation_logits())


def learn(epoch: Callable[[], Tensor], history: History) -> None:
    """Train for as many epochs as the history has room for, or until soon after divergence.

    Args:
        epoch: Trains for one epoch, and says what was measured.
        history: Where every epoch is written to.
    """
    for number in range(len(history.values)):
        history.add(epoch())
        if number % CHECK_EVERY == CHECK_EVERY - 1 and history.diverged():
            break
