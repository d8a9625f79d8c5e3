"""What the runner asks of an engine, wherever that runs jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from benchbuild.pipeline.jobs import AnyRun, Found
from benchbuild.pipeline.records import JobKey, JobRecord


@dataclass(frozen=True)
class LostJob:
    """A job whose worker died on it.

    Attributes:
        reason: How, in one line.
    """

    reason: str


Outcome = tuple[JobKey, JobRecord | LostJob]


class Engine(Protocol):
    """Runs jobs somewhere.

    Workers that die are replaced; what becomes of their jobs is the runner's business. One that
    can't start, as on a broken device, is given up in the end, and the others go on.
    """

    def start(self, run: AnyRun) -> Found:
        """Start workers for the jobs of a run.

        Returns:
            What the first worker found.

        Raises:
            WorkerError: If none can start, for example for want of the dataset.
        """

    @property
    def room(self) -> int:
        """How often can be submitted now."""

    @property
    def warnings(self) -> Sequence[str]:
        """What went wrong with workers so far that the others made good, a sentence each."""

    def submit(self, keys: Sequence[JobKey]) -> None:
        """Hand a job to a free worker, or several that it shall run together."""

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Return what has finished or was lost; waits for the first such event, at most so long.

        Raises:
            WorkerError: If workers can't be replaced, or found other data than the first.
        """

    def close(self) -> None:
        """End the workers at once; jobs under way are given up."""
