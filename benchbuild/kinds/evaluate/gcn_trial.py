"""A trial of a GCN, written out: what `run_trial` does, several times as fast.

Beside the steps of `benchbuild.kinds.evaluate.gcn_training`:

- Of the original graph, only those rows are computed that the tried nodes depend on.
- What is measured is worked out for many epochs at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.compute.devices import reproducible
from benchbuild.compute.loop import History
from benchbuild.compute.objective import SPLITS, in_order
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.evaluate.gcn_training import GcnTask, GcnTraining
from benchbuild.kinds.evaluate.trial import conclude
from benchquery.kinds.condensed.config import EvalConfig

KEPT = 1 << 22
"""How many logits are kept before they are measured."""


def run_gcn_trial(config: EvalConfig, task: GcnTask) -> Evaluation:
    """Train a GCN and try it in every epoch.

    Args:
        config: Its size and training.
        task: What it learns on and is tried on.
    """
    device = task.labels[0].device
    history = History(config.count("epochs"), device)
    rows = sum(len(labels) for labels in task.labels)
    together = max(min(KEPT // (rows * task.num_classes), len(history.values)), 1)
    sizes = [len(labels) for labels in task.labels[1:]]
    kept = [torch.empty(together, len(y), task.num_classes, device=device) for y in task.labels]
    with reproducible(device, config.seed, threads=1), torch.no_grad():
        training = GcnTraining(config, task)
        for epoch in range(len(history.values)):
            training.step()
            tried = torch.split(training.logits(task.exam), sizes)
            for places, logits in zip(kept, (training.learnt_logits(), *tried), strict=True):
                places[epoch % together].copy_(logits)
            if epoch % together == together - 1 or epoch == len(history.values) - 1:
                new = [logits[: epoch % together + 1] for logits in kept]
                for measured in _measure(new, task.labels):
                    history.add(measured)
    return conclude(history)


def _measure(sets: Sequence[Tensor], labels: Sequence[Tensor]) -> Tensor:
    """Return what is measured of some epochs, a row each, in the order of the curves.

    Args:
        sets: (epochs, nodes, classes) of each set of nodes.
        labels: Those of each set.
    """
    perfs, losses = [], []
    for logits, y in zip(sets, labels, strict=True):
        classes = y if y.dim() == 1 else y.argmax(dim=1)
        perfs.append((logits.argmax(dim=2) == classes).double().mean(dim=1))
        by_class = logits.mT.contiguous()
        each = y if y.dim() == 1 else y.T
        each = each.expand(len(logits), *each.shape)
        entropy = functional.cross_entropy(by_class, each, reduction="none")
        losses.append(entropy.mean(dim=1).double())
    return in_order(_of_three(perfs), _of_three(losses))


def _of_three(figures: list[Tensor]) -> list[Tensor]:
    """Return the figures of three sets; where there are two, the second is taken again."""
    return figures if len(figures) == len(SPLITS) else [*figures, figures[-1]]
