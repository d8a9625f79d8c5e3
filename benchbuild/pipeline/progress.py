"""How a run is going: a bar on a terminal, plain lines elsewhere, and a log file."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import numpy as np
from tqdm import tqdm

from benchbuild.pipeline.jobs import AnyKind
from benchbuild.pipeline.records import JobRecord

LINE_SECONDS = 30.0
"""Seconds between two plain lines."""


class _QuietFileHandler(logging.FileHandler):
    """A log file that never stops a run: where it can't be written, it is given up."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (logging's name)
        """Write nothing more."""
        self.setLevel(logging.CRITICAL + 1)


@contextmanager
def log_to(path: Path) -> Iterator[logging.Logger]:
    """Give a logger that appends to a file."""
    logger = logging.getLogger(f"benchbuild.run.{path}")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        handler: logging.Handler = _QuietFileHandler(path, encoding="utf-8")
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    try:
        yield logger
    finally:
        logger.removeHandler(handler)
        with suppress(OSError):
            handler.close()


class Progress:
    """Shows done, rate, time left, the best figure so far and failures.

    Args:
        kind: The kind of the jobs.
        total: How many jobs there are.
        done: How many of them were finished before.
        stream: Where to show it; None for standard error.
        show: Whether to show anything.
    """

    def __init__(
        self,
        kind: AnyKind,
        total: int,
        done: int,
        stream: TextIO | None = None,
        *,
        show: bool = True,
    ) -> None:
        self._kind = kind
        self._stream = stream or sys.stderr
        self._best = math.nan
        self._ends: Counter[str] = Counter()
        self._bar = tqdm(
            total=total,
            initial=done,
            unit="job",
            file=self._stream,
            disable=not (show and self._stream.isatty()),
            dynamic_ncols=True,
        )
        self._show = show
        self._total = total
        self._before = done
        self._started = self._shown = time.monotonic()

    def add(self, records: Sequence[JobRecord]) -> None:
        """Count finished records."""
        for record in records:
            self._ends[record.status] += 1
            self._best = float(np.fmax(self._best, self._kind.score(record)))
        self._bar.set_postfix_str(self._details(), refresh=False)
        self._bar.update(len(records))
        now = time.monotonic()
        if self._show and self._bar.disable and now - self._shown >= LINE_SECONDS:
            self._shown = now
            self.say(self.line())

    def line(self) -> str:
        """Return the state in one line."""
        new = self._ends.total()
        done = self._before + new
        seconds = max(time.monotonic() - self._started, 1e-9)
        left = tqdm.format_interval((self._total - done) * seconds / new) if new else "unknown"
        return (
            f"{done:,} of {self._total:,} jobs, {new / seconds * 60:.1f} a minute, "
            f"{left} left, {self._details()}"
        )

    def say(self, text: str) -> None:
        """Show a line without tearing the bar."""
        self._bar.clear()
        print(text, file=self._stream, flush=True)
        self._bar.refresh()

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.close()

    def _details(self) -> str:
        failures = self._ends.total() - self._ends["ok"]
        best = "none" if math.isnan(self._best) else f"{self._best:.4f}"
        return f"best {best}, {failures} not ok"
