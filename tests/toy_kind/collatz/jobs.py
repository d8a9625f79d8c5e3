"""benchbuild's side: a job follows the sequence of one number. It is its own command, too."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from benchbuild.commands.options import add_engine, add_shard
from benchbuild.pipeline.collect import Collection
from benchbuild.pipeline.jobs import Cost, Found, JobKind, Place, Run
from benchbuild.pipeline.records import JobKey, JobRecord, column
from benchbuild.pipeline.settings import JobSettings, RunPart
from benchquery.allowed import Range
from benchquery.table.writer import write_table

NAME = "collatz"
HELP = "follow the sequences of numbers to 1"
EXAMPLE = "benchbuild collatz --upto 20 --out runs/collatz"


class NumberKey(NamedTuple):
    """Where a sequence begins."""

    number: int


@dataclass(frozen=True)
class CollatzSettings(JobSettings):
    """How sequences are followed.

    Attributes:
        most: Give up after so many steps.
        pause: Seconds that each job sleeps.
    """

    most: Annotated[int, Range(least=1, most=1_000_000)]
    pause: Annotated[float, Range(least=0, most=60)]


@dataclass(frozen=True)
class CollatzJobs(RunPart):
    """The numbers from 1 to ``upto``."""

    upto: Annotated[int, Range(least=1, most=1_000_000)]


@dataclass(frozen=True, eq=False)
class CollatzRecord(JobRecord):
    """What following a sequence gave."""

    number: int = column("int64", "key")
    steps: int = column("int64", "figure")
    peak: int = column("int64", "figure")


CollatzRun = Run[CollatzSettings, CollatzJobs]


class CollatzKind(JobKind[CollatzSettings, CollatzJobs, CollatzRecord]):
    """Follow sequences; merges into a table of numbers."""

    name = "collatz"
    settings = CollatzSettings
    jobs = CollatzJobs
    record = CollatzRecord
    table = "numbers"
    rows = "numbers"
    commands = ("collatz.jobs",)

    def keys(self, run: CollatzRun) -> list[JobKey]:
        return [NumberKey(number) for number in range(1, run.jobs.upto + 1)]

    def costs(self, run: CollatzRun, keys: Sequence[JobKey]) -> list[Cost]:
        return [Cost(seconds=0.001 * key[0], memory=1e6) for key in keys]

    def open(self, settings: CollatzSettings, place: Place) -> CollatzWorker:
        return CollatzWorker(settings)

    def problems(self, run: CollatzRun, record: CollatzRecord) -> Iterator[str]:
        if record.status == "ok" and record.peak < record.number:
            yield f"its peak {record.peak} is below the number itself"

    def score(self, record: CollatzRecord) -> float:
        return float(record.steps)

    def write_table(self, collection: Collection, stage: Path) -> None:
        records: list[CollatzRecord] = list(collection.records())
        parity = np.array(["odd" if r.number % 2 else "even" for r in records], dtype=object)
        write_table(
            stage,
            {
                "number": np.array([record.number for record in records]),
                "parity": parity,
                "steps": np.array([record.steps for record in records]),
                "peak": np.array([record.peak for record in records]),
                "status": np.array([record.status for record in records], dtype=object),
                "reason": np.array([record.reason for record in records], dtype=object),
            },
            name=collection.run.settings.dataset,
            space="natural numbers",
            origin="measured",
            metric="steps",
            source={"builder": "collatz"},
            licence="CC0-1.0",
            kind="numbers",
        )


JOB = CollatzKind()


class CollatzWorker:
    """A worker; there is nothing to load."""

    def __init__(self, settings: CollatzSettings) -> None:
        self._settings = settings

    @property
    def found(self) -> Found:
        return Found(facts={}, about={}, devices=0)

    def run(self, key: JobKey) -> CollatzRecord:
        time.sleep(self._settings.pause)
        (number,) = key
        value = peak = number
        steps = 0
        while value != 1 and steps < self._settings.most:
            value = 3 * value + 1 if value % 2 else value // 2
            steps, peak = steps + 1, max(peak, value)
        if value != 1:
            raise ValueError(f"{number} is not at 1 after {steps} steps")
        return CollatzRecord(number=number, steps=steps, peak=peak)

    def recover(self) -> None:
        """Nothing is held."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--upto", type=int, default=20, metavar="N", help="numbers from 1 to N")
    parser.add_argument("--most", type=int, default=1000, metavar="N", help="steps at most")
    parser.add_argument("--pause", type=float, default=0.0, metavar="S", help="sleep before each")
    add_shard(parser)
    add_engine(parser)


def described(args: argparse.Namespace) -> CollatzRun:
    """Return the run that the options describe."""
    settings = CollatzSettings("collatz", args.most, args.pause)
    return Run(JOB.name, settings, CollatzJobs(args.upto))


def run(args: argparse.Namespace) -> int:
    """Follow them."""
    from benchbuild.commands.running import run_or_describe

    return run_or_describe(args, described(args))
