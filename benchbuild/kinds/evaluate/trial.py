"""A trial: a model is trained on one graph and tried on another, whatever its task.

The epoch is the first one of greatest validation metric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import torch
from torch import nn

from benchbuild.compute.devices import reproducible
from benchbuild.compute.loop import Epoch, History, Learner, learn
from benchbuild.compute.objective import Objective
from benchbuild.compute.result import summarise
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.evaluate.models import build_model
from benchbuild.kinds.evaluate.operands import Operands
from benchbuild.kinds.train.training.operations import store_by_column
from benchbuild.pipeline.records import DIVERGED, OK
from benchquery.kinds.condensed.config import EvalConfig
from benchquery.table.schema import CURVE_COLUMNS


class Task(Protocol):
    """What models are trained to do on a condensed graph and tried at on the original one."""

    def evaluate(self, condensed: CondensedGraph, config: EvalConfig) -> Evaluation:
        """Train a model on a condensed graph; try it on the original one."""

    def full(self, config: EvalConfig) -> Evaluation:
        """Train the same model on the original graph."""


def run_trial(
    config: EvalConfig,
    exam: Operands,
    outputs: int,
    objective: Objective,
    make_learner: Callable[[nn.Module], Learner],
) -> Evaluation:
    """Train a model and try it in every epoch.

    Args:
        config: The model and its training.
        exam: The graph that it is tried on.
        outputs: The width of what the model says of a node.
        objective: The loss and the metric.
        make_learner: Puts the model to what it learns on and what it is tried on.
    """
    device = exam.device
    history = History(config.count("epochs"), device)
    with reproducible(device, config.seed, threads=1):
        model = build_model(config, exam.num_features, outputs).to(device)
        if exam.has_sparse_features:
            store_by_column(model)
        optimizer = torch.optim.Adam(
            model.parameters(),
            lr=config.number("lr"),
            weight_decay=config.number("weight_decay"),
            fused=True,
        )
        learn(Epoch(make_learner(model), objective, optimizer), history)
    return conclude(history)


def conclude(
    history: History, *, last: bool = False, tried: Sequence[int] | None = None
) -> Evaluation:
    """Return what a training came to, given the figures of the epochs in which it was tried.

    Args:
        history: The figures; it has room for all those epochs.
        last: Whether the last one is reported instead of the one of best validation metric.
        tried: Which epochs these are, counted from 0; None for all. The last one always is.
    """
    epochs = range(len(history.values)) if tried is None else tried
    found = summarise(history.values.cpu().numpy(), by="last" if last else "valid_perf")
    curve = np.full((epochs[-1] + 1, len(CURVE_COLUMNS)), np.nan)
    curve[list(epochs)] = found.curves
    status, reason = OK, ""
    if found.epochs_done < len(epochs):
        status = DIVERGED
        epoch = epochs[found.epochs_done]
        reason = f"the loss was not finite in epoch {epoch} of the evaluation"
    best = epochs[found.best_epoch] if found.best_epoch >= 0 else -1
    return Evaluation(status, reason, found.valid_perf, found.perf, best, curve)


def tried_epochs(epochs: int, every: int) -> list[int]:
    """Return the epochs, counted from 0, after which a model is tried: each `every` and the last.

    Args:
        epochs: How many epochs it is trained for.
        every: After how many it is tried each time.
    """
    return sorted({*range(every - 1, epochs, every), epochs - 1})
