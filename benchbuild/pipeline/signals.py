"""Requests to stop: SIGTERM and Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


class Stopped(KeyboardInterrupt):
    """The end of a command that was asked to stop.

    Attributes:
        signal: How it was asked.
    """

    def __init__(self, asked: signal.Signals) -> None:
        """Keep the signal."""
        super().__init__(asked.name)
        self.signal = asked


class Stop:
    """Remembers a request to stop, until there is a good moment; a second one interrupts at once.

    Attributes:
        signal: The request; None as long as there is none.
    """

    def __init__(self) -> None:
        """Begins without one."""
        self.signal: signal.Signals | None = None
        self._at_once = False

    @contextlib.contextmanager
    def listening(self) -> Iterator[Stop]:
        """Catch the signals for a while; in the main thread only."""
        caught = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._note) for number in caught}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Let a request interrupt what is done meanwhile: there is nothing to lose yet."""
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    def check(self) -> None:
        """Stop here, if that was asked for.

        Raises:
            Stopped: If it was.
        """
        if self.signal is not None:
            raise Stopped(self.signal)

    def _note(self, number: int, frame: FrameType | None) -> None:
        again, self.signal = self.signal is not None, signal.Signals(number)
        if again or self._at_once:
            raise Stopped(self.signal)
