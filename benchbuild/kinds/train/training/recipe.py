"""The recipe that cell networks are trained by: the optimiser and the loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from benchbuild.compute.capture import CapturedEpoch, side_stream
from benchbuild.compute.devices import accelerates
from benchbuild.compute.loop import Epoch, History, Learner, learn
from benchbuild.compute.objective import Objective
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.network.cell import CellNetwork


class Runner(Learner, Protocol):
    """A way to run a cell network on a graph: the plain one or the fast one."""

    network: CellNetwork

    @property
    def generators(self) -> Sequence[torch.Generator]:
        """All that it draws from, but for torch's own."""


def make_optimizer(
    network: CellNetwork, hp: HyperParameters, *, capture: bool = False
) -> torch.optim.Optimizer:
    """Return the optimiser of the recipe: plain SGD or Adam, weight decay on all parameters.

    On a CPU the fused kernel copies parameters that are not contiguous, so it is used only if none
    is. On a GPU it takes gradients and parameters that lie in memory alike, as torch makes them.
    The last few entries of a tensor are rounded otherwise on a CPU than those before them, so that
    a stack of networks is handed to it as their own parameters.

    Args:
        network: What it trains.
        hp: Hyper-parameters.
        capture: Whether its steps are captured. Adam wants to be told; the kernel is the same.
    """
    parameters = stacked = list(network.parameters())
    on_gpu = any(accelerates(parameter.device) for parameter in parameters)
    if network.count > 1:
        parameters = [nn.Parameter(own) for whole in stacked for own in whole.detach().unbind()]
    fused = on_gpu or all(parameter.is_contiguous() for parameter in parameters)
    optimizer: torch.optim.Optimizer
    if hp.optimizer == "sgd":
        optimizer = torch.optim.SGD(parameters, lr=hp.lr, weight_decay=hp.weight_decay, fused=fused)
    else:
        optimizer = torch.optim.Adam(
            parameters, lr=hp.lr, weight_decay=hp.weight_decay, fused=fused, capturable=capture
        )
    if network.count > 1:
        optimizer.register_step_pre_hook(lambda *_: _hand_out(stacked, parameters))
    return optimizer


def _hand_out(stacked: Sequence[Tensor], parameters: Sequence[Tensor]) -> None:
    """Give every network its part of the gradients of a stack."""
    count = len(parameters) // len(stacked)
    for place, whole in enumerate(stacked):
        if whole.grad is not None:
            for number, gradient in enumerate(whole.grad.unbind()):
                parameters[place * count + number].grad = gradient
        whole.grad = None


def run_epochs(
    runner: Runner,
    objective: Objective,
    hp: HyperParameters,
    history: History,
    *,
    capture: bool = False,
) -> None:
    """Train a cell network by its recipe until the last epoch, or until soon after divergence.

    Args:
        runner: The network on its graph.
        objective: Loss and metric.
        hp: Hyper-parameters.
        history: Where every epoch is written to.
        capture: Whether an epoch is recorded and started as a whole; see `CapturedEpoch`.
    """
    epoch = Epoch(runner, objective, make_optimizer(runner.network, hp, capture=capture))
    if not capture:
        learn(epoch, history)
        return
    device = history.values.device
    with side_stream(device):
        learn(CapturedEpoch(epoch, runner.generators, device), history)
