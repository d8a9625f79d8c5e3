"""The recipe that cell networks are trained by: the optimiser and the loop."""

from __future__ import annotations

from typing import Protocol

import torch

from benchbuild.compute.devices import accelerates
from benchbuild.compute.loop import History, Learner, learn
from benchbuild.compute.objective import Objective
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.network.cell import CellNetwork


class Runner(Learner, Protocol):
    """A way to run a cell network on a graph: the plain one or the fast one."""

    network: CellNetwork


def make_optimizer(network: CellNetwork, hp: HyperParameters) -> torch.optim.Optimizer:
    """Return the optimiser of the recipe: plain SGD or Adam, weight decay on all parameters.

    On a CPU the fused kernel copies parameters that are not contiguous, so it is used only if none
    is. On a GPU it takes gradients and parameters that lie in memory alike, as torch makes them.
    """
    parameters = list(network.parameters())
    on_gpu = any(accelerates(parameter.device) for parameter in parameters)
    fused = on_gpu or all(parameter.is_contiguous() for parameter in parameters)
    kind = torch.optim.SGD if hp.optimizer == "sgd" else torch.optim.Adam
    return kind(parameters, lr=hp.lr, weight_decay=hp.weight_decay, fused=fused)


def run_epochs(runner: Runner, objective: Objective, hp: HyperParameters, history: History) -> None:
    """Train a cell network by its recipe until the last epoch, or until soon after divergence.

    Args:
        runner: The network on its graph.
        objective: Loss and metric.
        hp: Hyper-parameters.
        history: Where every epoch is written to.
    """
    learn(runner, objective, make_optimizer(runner.network, hp), history)
