"""Workers on a Ray cluster, or on one that is started here.

A worker is an actor with the dataset in memory. An actor whose process or machine dies is
replaced by a new one wherever there is room, and gets jobs only once it has loaded its data, so
a lost machine delays nothing but the jobs that it was on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import importlib.util
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchbuild.engines.base import (
    WORKER_ENVIRONMENT,
    Refusal,
    Starts,
    WorkerSettings,
    check_facts,
    open_context,
    run_jobs,
)
from benchbuild.engines.knock import why_not
from benchbuild.engines.local import available_cores
from benchbuild.errors import WorkerError
from benchbuild.pipeline.engine import LostJob, Outcome
from benchbuild.pipeline.jobs import AnyRun, Found, Place
from benchbuild.pipeline.records import JobKey, JobRecord
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.settings import JobSettings

NOTICE_SECONDS = 60.0
"""Seconds between two lines that say that no worker has started yet."""


class _Actor:
    """A worker: what Ray runs elsewhere."""

    def __init__(self, kind: str, settings: JobSettings, place: Place) -> None:
        self._kind = kind_of(kind)
        self._context = open_context(self._kind, settings, place)

    def found(self) -> Found | Refusal:
        """Say what was loaded, or why it could not be."""
        return self._context if isinstance(self._context, Refusal) else self._context.found

    def run(self, keys: Sequence[JobKey]) -> list[JobRecord]:
        """Run a job, or several together."""
        assert not isinstance(self._context, Refusal)
        return run_jobs(self._kind, self._context, keys)


@dataclass(frozen=True)
class _Task:
    """What an actor is doing: starting, if it has no jobs.

    Attributes:
        actor: The actor.
        slot: Its number; the one that replaces it has the same.
        keys: The jobs.
    """

    actor: Any
    slot: int
    keys: Sequence[JobKey] = ()


class RayEngine:
    """Runs jobs on Ray.

    Args:
        workers: How many, and where.
        address: The cluster to join; None to start one here.

    Raises:
        WorkerError: If Ray is not installed, or a certain GPU is asked for.
    """

    def __init__(self, workers: WorkerSettings, address: str | None = None) -> None:
        if workers.device.startswith("cuda:"):
            raise WorkerError(
                f"device {workers.device!r}: Ray itself chooses the GPU of a worker; use auto, cpu "
                "or cuda"
            )
        if importlib.util.find_spec("ray") is None:
            raise WorkerError("the engine ray needs the package 'ray': pip install 'graphtab[ray]'")
        self._ray: Any = None
        self._wanted = workers
        self._address = address
        self._tasks: dict[Any, _Task] = {}
        self._free: list[tuple[Any, int]] = []
        self._keeping: list[Any] = []
        self._starts = Starts()
        self._found: Found | None = None

    def start(self, run: AnyRun) -> Found:
        """Join or start a cluster and wait for the first worker."""
        self._run = run
        self._connect()
        resources = self._ray.cluster_resources()
        gpus = 0 if self._wanted.device == "cpu" else int(resources.get("GPU", 0))
        self._actor_class = self._ray.remote(
            num_cpus=1, num_gpus=1 / self._wanted.per_device if gpus else 0, max_restarts=0
        )(_Actor)
        device = "cuda" if gpus else self._wanted.device
        self._place = dataclasses.replace(self._wanted.place(0), device=device, workers=None)
        for slot in range(self._wanted.total(gpus, int(resources.get("CPU", 1)))):
            self._start_actor(slot)
        while self._found is None:
            begun = time.monotonic()
            self._receive(NOTICE_SECONDS)
            if self._found is None and time.monotonic() - begun >= NOTICE_SECONDS:
                print(f"still waiting for Ray to start a worker: {resources}", file=sys.stderr)
        return self._found

    @property
    def room(self) -> int:
        """How many actors have nothing to do."""
        return len(self._free)

    @property
    def warnings(self) -> Sequence[str]:
        """The workers that were given up."""
        return list(self._starts.given_up.values())

    def submit(self, keys: Sequence[JobKey]) -> None:
        """Hand jobs to a free actor."""
        actor, slot = self._free.pop()
        self._tasks[actor.run.remote(keys)] = _Task(actor, slot, keys)

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Return what has finished or was lost."""
        return self._receive(seconds)

    def close(self) -> None:
        """End the actors, and the cluster if it was started here."""
        if self._ray is None:
            return
        free, busy = [actor for actor, _ in self._free], [t.actor for t in self._tasks.values()]
        for actor in [*free, *busy, *self._keeping]:
            self._ray.kill(actor)
        for those in (self._tasks, self._free, self._keeping):
            those.clear()
        if not self._joined_before:
            self._ray.shutdown()

    def _connect(self) -> None:
        if self._address is not None:
            _check_reachable(self._address)
        # Only now: it takes seconds, which an address where no Ray listens need not cost.
        self._ray = importlib.import_module("ray")
        self._joined_before = self._ray.is_initialized()
        # Ray would put its own function in the place of Python's print, for its progress bars.
        os.environ.setdefault("RAY_TQDM_PATCH_PRINT", "0")
        options: dict[str, Any] = {"address": self._address}
        environment: dict[str, Any] = {"env_vars": dict(WORKER_ENVIRONMENT)}
        if self._address is None:
            # Ray hands this to a shell unquoted: a path with a space would start no worker.
            environment["py_executable"] = shlex.quote(sys.executable)
            options = {
                "address": "local",
                "num_cpus": self._wanted.count or available_cores(),
                "include_dashboard": False,
            }
        try:
            with _same_signal_handlers():
                self._ray.init(
                    ignore_reinit_error=True,
                    log_to_driver=False,
                    logging_level="ERROR",
                    runtime_env=environment,
                    **options,
                )
        except (ConnectionError, ImportError, RuntimeError, ValueError) as error:
            raise WorkerError(
                f"can't join the Ray cluster {self._address!r}: {str(error).splitlines()[0]}"
            ) from error

    def _start_actor(self, slot: int) -> None:
        actor = self._actor_class.remote(self._run.kind, self._run.settings, self._place)
        self._tasks[actor.found.remote()] = _Task(actor, slot)

    def _receive(self, seconds: float | None) -> list[Outcome]:
        """Take in what the actors have done."""
        ready, _ = self._ray.wait(list(self._tasks), num_returns=1, timeout=seconds)
        also, _ = self._ray.wait(list(self._tasks), num_returns=len(self._tasks), timeout=0)
        outcomes: list[Outcome] = []
        for reference in dict.fromkeys([*ready, *also]):
            task = self._tasks.pop(reference)
            try:
                result = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                outcomes += self._replace(task, error)
                continue
            if isinstance(result, Refusal):
                self._keep_off(task, result)
                continue
            if task.keys:
                outcomes += zip(task.keys, result, strict=True)
            else:
                self._welcome(task, result)
            self._free.append((task.actor, task.slot))
        return outcomes

    def _welcome(self, task: _Task, found: Found) -> None:
        if self._found is None:
            self._found = found
        check_facts(self._found.facts, found.facts)
        self._starts.succeeded(task.slot)

    def _keep_off(self, task: _Task, refusal: Refusal) -> None:
        """Let an actor keep the GPU that does not work, so that Ray puts no other one there."""
        if not refusal.devices:
            raise WorkerError(refusal.reason)
        self._keeping.append(task.actor)
        self._starts.give_up(task.slot, refusal.reason)
        self._check_workers()

    def _check_workers(self) -> None:
        if not self._tasks and not self._free:
            raise self._starts.nobody()

    def _replace(self, task: _Task, error: Exception) -> list[Outcome]:
        """Start another actor in place of a dead one; says which jobs it was on."""
        reason = f"the Ray worker was lost ({type(error).__name__})"
        if not task.keys and self._starts.failed(task.slot, f"{reason[:-1]}: {error})"):
            self._check_workers()
        else:
            self._start_actor(task.slot)
        return [(key, LostJob(reason)) for key in task.keys]


def _check_reachable(address: str) -> None:
    """Refuse a cluster that does not answer; Ray itself would try for minutes.

    Raises:
        WorkerError: If no cluster answers there.
    """
    reason = why_not(address)
    if reason is not None:
        raise WorkerError(
            f"there is no Ray cluster at {address!r}: {reason.rstrip('.')}. Start one with ray "
            "start, or leave --address out to have one started here"
        )


@contextlib.contextmanager
def _same_signal_handlers() -> Iterator[None]:
    """Keep Ray from replacing this process's own handler of SIGTERM."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
