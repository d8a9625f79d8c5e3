"""What every engine offers, and what every worker does with a job."""

from __future__ import annotations

import gc
import math
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from benchbuild.errors import BenchBuildError, WorkerError
from benchbuild.pipeline.failures import failure
from benchbuild.pipeline.jobs import (
    DETERMINED,
    FAILED,
    Context,
    Found,
    Json,
    Key,
    Kind,
    Place,
    Record,
    Run,
    key_names,
)
from benchquery.errors import BenchQueryError

BROKEN_DEVICE = 70
"""Exit code of a worker whose device no longer works."""

WORKER_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }
)
"""Environment of the workers.

One thread each, so that records do not depend on the machine's load; and, where the C library is
glibc, memory in large pages: about five percent less time for a training on cora.
"""


@dataclass(frozen=True)
class Workers:
    """How many workers there shall be, and where.

    Attributes:
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:i``.
        count: How many in all; None for one a core, or `per_device` on each accelerator.
        per_device: How many share an accelerator.
        data_root: Folder of the datasets; None for the default.
        scratch: Folder for large intermediate results; None if there is none.
    """

    device: str = "auto"
    count: int | None = None
    per_device: int = 1
    data_root: str | None = None
    scratch: str | None = None

    def place(self, slot: int) -> Place:
        """Return where a worker runs."""
        return Place(self.device, slot, self.data_root, self.scratch)

    def total(self, devices: int, cores: int) -> int:
        """Return how many workers that makes.

        Args:
            devices: How many accelerators there are; 0 if jobs run on CPUs.
            cores: How many cores there are.
        """
        if self.count is not None:
            return self.count
        if not devices:
            return cores
        one_device = self.device.startswith("cuda:")
        return self.per_device * (1 if one_device else devices)


@dataclass(frozen=True)
class Loss:
    """A worker that died on a job.

    Attributes:
        reason: How, in one line.
    """

    reason: str


@dataclass(frozen=True)
class Refusal:
    """A worker that can't do these jobs at all, for example for want of the dataset.

    Attributes:
        reason: Why, as the user shall read it.
    """

    reason: str


Outcome = tuple[Key, Record | Loss]


def open_context(kind: Kind, settings: Json, place: Place) -> Context | Refusal:
    """Load what the jobs share, in a worker.

    The garbage collector then leaves what is there alone: on Cora, walking torch's many objects
    again and again took 6% of a training.
    """
    try:
        context = kind.open(settings, place)
        context.found  # noqa: B018  (worked out here, so that it can refuse too)
    except (BenchBuildError, BenchQueryError, ImportError) as error:
        return Refusal(str(error))
    gc.freeze()
    return context


class Engine(Protocol):
    """Runs jobs somewhere.

    Workers that die are replaced; what becomes of their jobs is the runner's business.
    """

    def start(self, run: Run) -> Found:
        """Start workers for the jobs of a run.

        Returns:
            What the first worker found.

        Raises:
            WorkerError: If none can start, for example for want of the dataset.
        """

    @property
    def room(self) -> int:
        """How many jobs can be submitted now."""

    def submit(self, key: Key) -> None:
        """Hand a job to a free worker."""

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Return what has finished or was lost; waits for the first such event, at most so long.

        Raises:
            WorkerError: If workers can't be replaced, or found other data than the first.
        """

    def close(self) -> None:
        """End the workers at once; jobs under way are given up."""


def run_job(kind: Kind, context: Context, key: Key) -> Record:
    """Run a job in a worker. Whatever goes wrong becomes a record.

    A job can break the device, as an illegal access breaks a CUDA context: all later jobs of the
    process would fail at once. The process then ends without a record, so that the job is lost
    and goes to a new worker.
    """
    record = _attempt(kind, context, key)
    if record["status"] not in DETERMINED:
        # The error is gone by now, and with it what its traceback held in memory.
        try:
            context.recover()
        except Exception:
            os._exit(BROKEN_DEVICE)
    return record


def _attempt(kind: Kind, context: Context, key: Key) -> Record:
    try:
        record = context.run(key)
    except Exception as error:
        status, reason = failure(error)
        return failed_record(kind, key, reason, status)
    return {**record, "finished": time.time(), "host": platform.node()}


_BLANK: dict[str, Any] = {"int32": -1, "int64": -1, "float64": math.nan, "string": ""}


def failed_record(kind: Kind, key: Key, reason: str, status: str = FAILED) -> Record:
    """Return the record of a job that gave no result."""
    blank = {
        field.name: np.empty(0, field.dtype[:-2])
        if field.dtype.endswith("[]")
        else _BLANK[field.dtype]
        for field in kind.fields
    }
    return {
        **blank,
        **dict(zip(key_names(kind), key, strict=True)),
        "status": status,
        "reason": reason,
        "finished": time.time(),
        "host": platform.node(),
    }


def check_facts(expected: Json, found: Json) -> None:
    """Refuse a worker that found other data than the first one.

    Raises:
        WorkerError: If the facts differ.
    """
    for name in expected:
        if found.get(name) != expected[name]:
            raise WorkerError(
                f"workers see different data: {name} is {expected[name]!r} for one and "
                f"{found.get(name)!r} for another. Give all of them the same data root"
            )
