"""Ends the fork server when the process that started it is gone; imported there before all else.

The server itself notices that only when it has imported all that workers need, which takes many
seconds on a busy machine. A timer is used and no thread, because the server forks.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

PARENT = "GRAPHTAB_PARENT_PID"
"""The environment variable that tells the server who started it; nobody else has it."""
SECONDS = 0.5
"""Seconds between two looks."""


def _watch(parent: int) -> None:
    """End this process soon after its parent."""

    def look(number: int, frame: FrameType | None) -> None:
        if os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, SECONDS, SECONDS)


if PARENT in os.environ:
    _watch(int(os.environ.pop(PARENT)))
