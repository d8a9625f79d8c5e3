"""The greatest validation accuracy of a training of a GCN, looking at as few nodes as it takes.

All that judging a snapshot asks for is how good the best epoch was. An epoch is not better than the
best one so far if as many nodes are wrong in it as were in that one; so it is enough to look at
nodes that are likely to be wrong. If too few of them are, all are looked at, and those that are
furthest from right are the ones to look at next; while epochs get better, there are none.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from benchbuild.compute.devices import reproducible
from benchbuild.kinds.evaluate.gcn_training import GcnTask, GcnTraining
from benchbuild.kinds.evaluate.gcn_trial import run_gcn_trial
from benchbuild.kinds.evaluate.operands import Factor, narrowed
from benchquery.kinds.condensed.config import EvalConfig

SPARE = 0.05
"""How many nodes more are looked at than must be wrong, as a share of all."""
TAME = 1e4
"""Up to which magnitude of its weights no loss of a training is anything but finite."""
WORTHWHILE = 0.7
"""Up to which share of all nodes looking at fewer is worth it."""


def judge_gcn(config: EvalConfig, task: GcnTask) -> float:
    """Return the `valid_perf` of `run_gcn_trial`.

    Args:
        config: The size of the model and its training.
        task: What it learns on and is tried on.
    """
    with reproducible(task.labels[0].device, config.seed, threads=1), torch.no_grad():
        training = GcnTraining(config, task)
        best = _BestEpoch(task.exam, task.labels[1])
        for _ in range(config.count("epochs")):
            training.step()
            best.look(training)
        if training.largest < TAME:
            return best.right / len(task.labels[1])
    return run_gcn_trial(config, task).valid_perf


class _BestEpoch:
    """How many nodes were right in the best epoch so far.

    Args:
        exam: What leads to the nodes.
        labels: Their classes.
    """

    def __init__(self, exam: Sequence[Factor], labels: Tensor) -> None:
        self._exam, self._labels = exam, labels
        self._doubtful: tuple[Sequence[Factor], Tensor] | None = None
        self.right = 0

    def look(self, training: GcnTraining) -> None:
        """Look at the epoch that a training has just made."""
        if self._is_no_better(training):
            return
        logits, classes = training.logits(self._exam), self._labels.unsqueeze(1)
        right = int((logits.argmax(dim=1) == self._labels).sum())
        if right > self.right:
            self.right, self._doubtful = right, None
            return
        rivals = logits.scatter(1, classes, -torch.inf).amax(dim=1)
        self._doubt(logits.gather(1, classes).squeeze(1) - rivals)

    def _is_no_better(self, training: GcnTraining) -> bool:
        """Tell whether as many of the doubtful nodes are wrong as in the best epoch of all."""
        if self._doubtful is None:
            return False
        factors, labels = self._doubtful
        wrong = int((training.logits(factors).argmax(dim=1) != labels).sum())
        return wrong >= len(self._labels) - self.right

    def _doubt(self, margins: Tensor) -> None:
        """Choose the nodes that are likely to be wrong, given by how much each is right."""
        count = len(margins) - self.right + int(SPARE * len(margins))
        self._doubtful = None
        if count < WORTHWHILE * len(margins):
            nodes = margins.argsort()[:count].sort().values
            self._doubtful = narrowed(self._exam, nodes.cpu().numpy()), self._labels[nodes]
