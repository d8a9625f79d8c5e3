"""An epoch as a CUDA graph: recorded once, then started as a whole by the device.

A small graph keeps a GPU waiting for the host, which starts some hundred operations an epoch. What
is recorded reads and writes the same memory every time, so an epoch may neither wait for the device
nor make tensors of data in main memory. The first epochs are computed as always: they make what
stays, such as the state of the optimiser, and count as epochs. Recording computes nothing, so the
figures are those of the same operations, started one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from benchbuild.compute.devices import accelerates
from benchbuild.compute.loop import Epoch
from benchbuild.errors import DeviceError

WARM_UPS = 3
"""Epochs that are computed before one is recorded."""


def check_capture(device: torch.device) -> None:
    """Refuse a device that can't record.

    Raises:
        DeviceError: If it is none of CUDA's.
    """
    if not accelerates(device):
        raise DeviceError(
            f"epochs can be captured as CUDA graphs on CUDA devices only, not on {str(device)!r}; "
            "leave --capture out there"
        )


class CapturedEpoch:
    """An epoch that is recorded when it has been computed a few times.

    Args:
        epoch: The epoch.
        generators: All generators that it draws from.
        device: Where it is computed.
    """

    def __init__(
        self, epoch: Epoch, generators: Sequence[torch.Generator], device: torch.device
    ) -> None:
        self._epoch, self._generators = epoch, generators
        self._module: Any = torch.get_device_module(device)
        self._done = 0
        self._graph: Any = None
        self._measured = torch.empty(0)

    def __call__(self) -> Tensor:
        """Compute an epoch; what it returns is written over by the next one."""
        if self._done < WARM_UPS:
            self._done += 1
            return self._epoch()
        if self._graph is None:
            self._graph = self._record()
        self._graph.replay()
        return self._measured

    def _record(self) -> Any:
        graph = self._module.CUDAGraph()
        for generator in self._generators:
            graph.register_generator_state(generator)
        self._epoch.optimizer.zero_grad(set_to_none=True)
        with self._module.graph(graph):
            self._measured = self._epoch()
        return graph


@contextmanager
def side_stream(device: torch.device) -> Iterator[None]:
    """Compute beside the default stream, as what comes before a recording must."""
    module: Any = torch.get_device_module(device)
    stream = module.Stream()
    stream.wait_stream(module.current_stream())
    with module.stream(stream):
        yield
    module.current_stream().wait_stream(stream)
