"""Which choice did best: the mean over all that each was tried on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from benchbuild.pipeline.records import DETERMINED, OK, JobKey


class Tried(Protocol):
    """A record of a search: one choice on one of the things that all are tried on."""

    @property
    def trial(self) -> int:
        """The number of the choice."""

    @property
    def status(self) -> str:
        """How the job ended."""

    @property
    def valid_perf(self) -> float:
        """The validation metric."""

    @property
    def key(self) -> JobKey:
        """What identifies the job."""


@dataclass(frozen=True)
class Trial:
    """A choice of hyper-parameters and how it did.

    Attributes:
        number: Its number.
        hp: The hyper-parameters.
        valid_perf: Mean validation metric over all that it was tried on; a job without a figure
            counts as 0.
        failures: How many of its jobs are not ok.
    """

    number: int
    hp: Mapping[str, Any]
    valid_perf: float
    failures: int


def rank(
    records: Iterable[Any], whole: int, choice: Callable[[int], Mapping[str, Any]]
) -> list[Trial]:
    """Return the trials that are complete, the best first; ties in the order of their numbers.

    Args:
        records: The records of a search; see `Tried`.
        whole: How many jobs a complete trial has.
        choice: Gives the hyper-parameters of a trial.
    """
    jobs: dict[int, dict[JobKey, Tried]] = {}
    for record in sorted(records, key=lambda one: one.status in DETERMINED):
        jobs.setdefault(record.trial, {})[record.key] = record
    trials = []
    for number, found in jobs.items():
        if len(found) == whole:
            scores = [_score(record) for record in found.values()]
            failures = sum(record.status != OK for record in found.values())
            mean = math.fsum(scores) / whole
            trials.append(Trial(number, choice(number), mean, failures))
    return sorted(trials, key=lambda trial: (-trial.valid_perf, trial.number))


def _score(record: Tried) -> float:
    known = record.status in DETERMINED and not math.isnan(record.valid_perf)
    return record.valid_perf if known else 0.0
