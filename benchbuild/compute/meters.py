"""Meters of cost: how long a forward pass takes, and how much memory a job needed."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchbuild.compute.devices import accelerates, synchronize

WARM_UPS = 2
TIMED_RUNS = 7


class Stopwatch:
    """Seconds of work since it was made, without those while it was paused.

    On one CPU thread that is the processor time of this process, so that others on the same
    machine don't count. On several threads or another device it is the time on the wall.
    """

    def __init__(self, device: torch.device) -> None:
        """Start when the device has done what it was given before."""
        alone = device.type == "cpu" and torch.get_num_threads() == 1
        self._clock = time.process_time if alone else time.perf_counter
        self._device = device
        self._before = 0.0
        self._start: float | None = None
        self.resume()

    def pause(self) -> None:
        """Stop, when the device has done all it was given."""
        self._before, self._start = self.seconds(), None

    def resume(self) -> None:
        """Go on."""
        synchronize(self._device)
        self._start = self._clock()

    def seconds(self) -> float:
        """Return the time until now, when the device has done all it was given."""
        if self._start is None:
            return self._before
        synchronize(self._device)
        return self._before + self._clock() - self._start


def latency(forward: Callable[[], object], device: torch.device) -> float:
    """Return the seconds of one call: the median of repeated ones after a few that do not count."""
    for _ in range(WARM_UPS):
        forward()
    seconds = []
    for _ in range(TIMED_RUNS):
        watch = Stopwatch(device)
        forward()
        seconds.append(watch.seconds())
    return statistics.median(seconds)


class MemoryMeter:
    """The highest memory since it was made, without that while it was paused.

    On CUDA that is what torch had allocated on the device: the dataset and what earlier jobs of
    the process made of it count. On the CPU it is the resident memory of the whole process,
    libraries and dataset included; where the system can't reset that figure (anything but Linux),
    it is the highest since the process started.
    """

    def __init__(self, device: torch.device) -> None:
        """Start measuring."""
        self._device = device
        self._before = 0
        self._paused = False
        self.resume()

    def pause(self) -> None:
        """Stop looking."""
        self._before, self._paused = self.peak(), True

    def resume(self) -> None:
        """Go on."""
        self._paused = False
        if accelerates(self._device):
            synchronize(self._device)
            torch.get_device_module(self._device).reset_peak_memory_stats(self._device)
        else:
            _reset_resident_peak()

    def peak(self) -> int:
        """Return the highest memory in bytes."""
        if self._paused:
            return self._before
        if accelerates(self._device):
            module = torch.get_device_module(self._device)
            return max(self._before, int(module.max_memory_allocated(self._device)))
        return max(self._before, _resident_peak())


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
