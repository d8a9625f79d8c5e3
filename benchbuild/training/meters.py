"""Meters of cost: how long a forward pass takes, and how much memory a job needed."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchbuild.training.devices import synchronize

WARM_UPS = 2
TIMED_RUNS = 7


class Stopwatch:
    """Seconds of work since it was made.

    On one CPU thread that is the processor time of this process, so that others on the same
    machine don't count. On several threads or another device it is the time on the wall.
    """

    def __init__(self, device: torch.device) -> None:
        """Starts when the device has done what it was given before."""
        alone = device.type == "cpu" and torch.get_num_threads() == 1
        self._clock = time.process_time if alone else time.perf_counter
        self._device = device
        synchronize(device)
        self._start = self._clock()

    def seconds(self) -> float:
        """The time until now, when the device has done all it was given."""
        synchronize(self._device)
        return self._clock() - self._start


def latency(forward: Callable[[], object], device: torch.device) -> float:
    """Seconds of one call: the median of repeated calls after a few that do not count."""
    for _ in range(WARM_UPS):
        forward()
    seconds = []
    for _ in range(TIMED_RUNS):
        watch = Stopwatch(device)
        forward()
        seconds.append(watch.seconds())
    return statistics.median(seconds)


class MemoryMeter:
    """The highest memory since it was made.

    On CUDA that is what torch had allocated on the device. On the CPU it is the resident memory of
    the whole process, libraries and dataset included; where the system can't reset that figure
    (anything but Linux), it is the highest since the process started.
    """

    def __init__(self, device: torch.device) -> None:
        """Starts measuring."""
        self._device = device
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        else:
            _reset_resident_peak()

    def peak(self) -> int:
        """The highest memory in bytes."""
        if self._device.type == "cuda":
            return torch.cuda.max_memory_allocated(self._device)
        return _resident_peak()


def _reset_resident_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _resident_peak() -> int:
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
