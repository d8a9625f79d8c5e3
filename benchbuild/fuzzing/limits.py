"""What a trial may take: more is an error, or the end of the process."""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def limited(memory: int, seconds: float) -> Iterator[None]:
    """Let the process take so much more memory, and compute for a while.

    Args:
        memory: How many bytes; where there are no more, Python raises a MemoryError.
        seconds: How long in seconds of processor time; then there is a SIGPROF, which ends the
            process unless it has a handler.
    """
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    used = pages * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + memory, most))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


class TimeError(Exception):
    """A trial took more processor time than it may."""


@contextlib.contextmanager
def told_when_too_long(seconds: float) -> Iterator[None]:
    """Let a trial that takes longer than `limited` allows end in a `TimeError`.

    Args:
        seconds: What is allowed.
    """

    def tell(number: int, frame: object) -> None:
        raise TimeError(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, tell)
    try:
        yield
    finally:
        signal.signal(signal.SIGPROF, before)
