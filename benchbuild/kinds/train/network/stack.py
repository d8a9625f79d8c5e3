"""Several networks of one architecture as one, whose weights are stacked."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import nn

from benchbuild.kinds.train.network.cell import CellNetwork


def stack(networks: Sequence[CellNetwork]) -> CellNetwork:
    """Return a network whose parameters and statistics have those of all, one more dimension first.

    It can be run by the fast way alone: PyG's layers don't know of stacks.

    Args:
        networks: The networks, in main memory; they stay as they are.
    """
    together = deepcopy(networks[0])
    with torch.no_grad():
        for name, _ in list(together.named_parameters()):
            values = torch.stack([network.get_parameter(name) for network in networks])
            _put(together, name, nn.Parameter(values))
        for name, _ in list(together.named_buffers()):
            _put(together, name, torch.stack([network.get_buffer(name) for network in networks]))
    return together


def _put(network: nn.Module, name: str, value: torch.Tensor) -> None:
    owner, _, last = name.rpartition(".")
    setattr(network.get_submodule(owner), last, value)
