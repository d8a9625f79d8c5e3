"""What every worker does with a job, whatever engine it is of."""

from __future__ import annotations

import contextlib
import gc
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import cast

from benchbuild.errors import BenchBuildError, BrokenDeviceError, WorkerError
from benchbuild.pipeline.failures import failure
from benchbuild.pipeline.jobs import AnyKind, Context, Place, TogetherContext
from benchbuild.pipeline.records import DETERMINED, OOM, JobKey, JobRecord, finished_now
from benchbuild.pipeline.settings import JobSettings, Json
from benchquery.errors import BenchQueryError
from benchquery.units import readable_bytes

BROKEN_DEVICE = 70
"""Exit code of a worker whose device no longer works."""

STARTS = 3
"""How often in a row a worker may die before its first job until it is given up."""

WORKER_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
        "GLIBC_TUNABLES": ":".join(
            (
                "glibc.malloc.hugetlb=1",
                f"glibc.malloc.mmap_threshold={2**25}",
                f"glibc.malloc.trim_threshold={2**27}",
            )
        ),
    }
)
"""Environment of the workers.

One thread each, so that records do not depend on the machine's load; and, where the C library is
glibc, memory in large pages: about five percent less time for a training on cora. What a step has
freed is kept for the next one, since memory that is new to a process takes time: condensing images
allocates all the time, and trainings on cora take as long either way.
"""


@dataclass(frozen=True)
class WorkerSettings:
    """How many workers there shall be, and where.

    Attributes:
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:i``.
        count: How many in all; None for one a core, or `per_device` on each accelerator.
        per_device: How many share an accelerator.
        data_root: Folder of the datasets; None for the default.
        scratch: Folder for large intermediate results; None if there is none.
        capture: Whether trainings record an epoch and start it as a whole.
    """

    device: str = "auto"
    count: int | None = None
    per_device: int = 1
    data_root: str | None = None
    scratch: str | None = None
    capture: bool = False

    def place(self, slot: int) -> Place:
        """Return where a worker runs."""
        return Place(
            self.device,
            slot,
            self.data_root,
            self.scratch,
            self.count,
            self.per_device,
            self.capture,
        )

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
class Refusal:
    """A worker that can't do these jobs at all, for example for want of the dataset.

    Attributes:
        reason: Why, as the user shall read it.
        devices: How many accelerators there are if only its own one is at fault, so that others
            can; 0 if nobody can.
    """

    reason: str
    devices: int = 0


def open_context(kind: AnyKind, settings: JobSettings, place: Place) -> Context | Refusal:
    """Load what the jobs share, in a worker.

    The garbage collector then leaves what is there alone: on Cora, walking torch's many objects
    again and again took 6% of a training.
    """
    try:
        context = kind.open(settings, place)
        context.found  # noqa: B018  (worked out here, so that it can refuse too)
    except BrokenDeviceError as error:
        return Refusal(str(error), error.devices)
    except (BenchBuildError, BenchQueryError, ImportError) as error:
        return Refusal(str(error))
    gc.freeze()
    return context


def run_jobs(kind: AnyKind, context: Context, keys: Sequence[JobKey]) -> list[JobRecord]:
    """Run some jobs in a worker, several at once if there are several.

    If that goes wrong, for example for want of memory, each is run alone.
    """
    if len(keys) > 1:
        with contextlib.suppress(Exception):
            records = cast(TogetherContext, context).run_together(keys)
            if all(record.status in DETERMINED for record in records):
                return [finished_now(record) for record in records]
        _recover(context)
    return [run_job(kind, context, key) for key in keys]


def run_job(kind: AnyKind, context: Context, key: JobKey) -> JobRecord:
    """Run a job in a worker. Whatever goes wrong becomes a record.

    A job that runs out of memory runs once more when all that earlier jobs left there is gone, so
    that it does not depend on them; then the record says how much memory there was.

    A job can break the device, as an illegal access breaks a CUDA context: all later jobs of the
    process would fail at once. The process then ends without a record, so that the job is lost
    and goes to a new worker.
    """
    record = _attempt(kind, context, key)
    if record.status == OOM:
        _recover(context)
        record = _attempt(kind, context, key)
        if record.status == OOM and (room := context.found.capacity):
            reason = f"{record.reason} (the device has {readable_bytes(room)})"
            record = replace(record, reason=reason)
    if record.status not in DETERMINED:
        _recover(context)
    return record


def _recover(context: Context) -> None:
    """Free what a failed job used; its error is gone by now, and with it what that held."""
    try:
        context.recover()
    except Exception:
        os._exit(BROKEN_DEVICE)


def _attempt(kind: AnyKind, context: Context, key: JobKey) -> JobRecord:
    try:
        record = context.run(key)
    except Exception as error:
        status, reason = failure(error)
        record = kind.record.without_result(key, reason, status)
    return finished_now(record)


class Starts:
    """Counts the starts of every worker that failed in a row, and gives up those that fail on.

    Attributes:
        given_up: Those workers, with a sentence each.
    """

    def __init__(self) -> None:
        self.given_up: dict[int, str] = {}
        self._failed: Counter[int] = Counter()

    def succeeded(self, slot: int) -> None:
        """Note that a worker is there."""
        self._failed[slot] = 0

    def failed(self, slot: int, reason: str) -> bool:
        """Note that a worker did not start; tells whether it is given up.

        Args:
            slot: Which one.
            reason: Why, in one line.
        """
        self._failed[slot] += 1
        if self._failed[slot] < STARTS:
            return False
        self.give_up(slot, reason)
        return True

    def give_up(self, slot: int, reason: str) -> None:
        """Note that a worker shall not be started again."""
        self.given_up[slot] = f"worker {slot + 1} was given up: {reason}"

    def nobody(self) -> WorkerError:
        """Return the error of an engine whose workers were all given up, with a reason of each."""
        return WorkerError(f"no worker can start: {'; '.join(self.given_up.values())}")


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
