"""Worker processes on this machine.

Workers are forked from a server process that has imported torch once, so that starting or
replacing one is quick, and so that neither threads nor a CUDA context of this process are
inherited. A worker that dies takes only its own job with it. When this process dies, however
suddenly, the server ends, and the system kills the workers with it, whatever they are doing.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import multiprocessing.connection
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess

from benchbuild.engines import guard
from benchbuild.engines.base import (
    BROKEN_DEVICE,
    WORKER_ENVIRONMENT,
    Refusal,
    Starts,
    WorkerSettings,
    check_facts,
    open_context,
    run_jobs,
)
from benchbuild.errors import WorkerError
from benchbuild.pipeline.engine import LostJob, Outcome
from benchbuild.pipeline.jobs import AnyRun, Found, Place
from benchbuild.pipeline.records import JobKey, JobRecord
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.settings import JobSettings

_PR_SET_PDEATHSIG = 1


@dataclass
class _Worker:
    """A process, the line to it, why it can't work, and the jobs that it is on."""

    slot: int
    process: ForkServerProcess
    line: Connection
    ready: bool = False
    refusal: Refusal | None = None
    keys: Sequence[JobKey] = ()


class LocalEngine:
    """A pool of processes on this machine.

    Args:
        workers: How many, and where.
    """

    def __init__(self, workers: WorkerSettings) -> None:
        self._wanted = workers
        self._workers: dict[int, _Worker] = {}
        self._starts = Starts()
        self._found: Found | None = None
        self._context = multiprocessing.get_context("forkserver")

    def start(self, run: AnyRun) -> Found:
        """Start the first worker that can, see what it finds, then start the others."""
        self._run = run
        kind = kind_of(run.kind)
        self._context.set_forkserver_preload([guard.__name__, *kind.preload])
        with _environment({**WORKER_ENVIRONMENT, guard.PARENT: str(os.getpid())}):
            forkserver.ensure_running()
        self._start_worker(0)
        while self._found is None:
            self._receive(None)
        for slot in range(max(self._workers) + 1, self._total(self._found.devices)):
            self._start_worker(slot)
        return self._found

    @property
    def warnings(self) -> Sequence[str]:
        """The workers that were given up."""
        return list(self._starts.given_up.values())

    @property
    def room(self) -> int:
        """How many workers are ready and have nothing to do."""
        return sum(worker.ready and not worker.keys for worker in self._workers.values())

    def submit(self, keys: Sequence[JobKey]) -> None:
        """Hand jobs to a free worker."""
        worker = next(w for w in self._workers.values() if w.ready and not w.keys)
        worker.keys = keys
        with contextlib.suppress(OSError):
            worker.line.send(keys)

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Return what has finished or was lost."""
        return self._receive(seconds)

    def close(self) -> None:
        """Kill the workers."""
        for worker in self._workers.values():
            worker.process.kill()
        for worker in self._workers.values():
            worker.process.join()
            worker.line.close()
        self._workers.clear()

    def _start_worker(self, slot: int) -> None:
        ours, theirs = self._context.Pipe()
        arguments = (theirs, self._run.kind, self._run.settings, self._wanted.place(slot))
        process = self._context.Process(target=_serve, args=arguments, daemon=True)
        process.start()
        theirs.close()
        self._workers[slot] = _Worker(slot, process, ours)

    def _receive(self, seconds: float | None) -> list[Outcome]:
        """Take in what the workers say."""
        lines = {worker.line: worker for worker in self._workers.values()}
        outcomes: list[Outcome] = []
        for line in multiprocessing.connection.wait(list(lines), seconds):
            assert isinstance(line, Connection)
            worker = lines[line]
            try:
                message: Found | Refusal | list[JobRecord] = line.recv()
            except (EOFError, OSError):
                outcomes += self._replace(worker)
                continue
            if isinstance(message, Refusal):
                if not message.devices:
                    raise WorkerError(message.reason)
                worker.refusal = message
            elif isinstance(message, Found):
                self._welcome(worker, message)
            elif worker.keys:
                outcomes += zip(worker.keys, message, strict=True)
                worker.keys = ()
        return outcomes

    def _welcome(self, worker: _Worker, found: Found) -> None:
        if self._found is None:
            self._found = found
        check_facts(self._found.facts, found.facts)
        self._starts.succeeded(worker.slot)
        worker.ready = True

    def _replace(self, worker: _Worker) -> list[Outcome]:
        """Start another worker in place of a dead one; says which jobs it was on."""
        worker.process.join()
        worker.line.close()
        reason = _how_it_ended(worker.process.exitcode)
        if worker.refusal is not None:
            reason = worker.refusal.reason
        if not worker.ready and self._starts.failed(worker.slot, reason):
            self._give_up(worker)
        else:
            self._start_worker(worker.slot)
        return [(key, LostJob(reason)) for key in worker.keys]

    def _give_up(self, worker: _Worker) -> None:
        """Go on without a worker; as long as none has started, with the next one."""
        del self._workers[worker.slot]
        devices = 0 if worker.refusal is None else worker.refusal.devices
        if self._found is None and devices and worker.slot + 1 < self._total(devices):
            self._start_worker(worker.slot + 1)
        if not self._workers:
            raise self._starts.nobody()

    def _total(self, devices: int) -> int:
        return self._wanted.total(devices, available_cores())


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def _how_it_ended(exitcode: int | None) -> str:
    if exitcode == BROKEN_DEVICE:
        return "the worker's device no longer worked"
    if exitcode is None or exitcode >= 0:
        return f"the worker ended with exit code {exitcode}"
    name = signal.Signals(-exitcode).name
    hint = ", as the system does when memory runs out" if name == "SIGKILL" else ""
    return f"the worker was killed by {name}{hint}"


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(line: Connection, kind_name: str, settings: JobSettings, place: Place) -> None:
    """Be a worker: load what is needed, then run jobs until the line closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _die_with_server()
    kind = kind_of(kind_name)
    context = open_context(kind, settings, place)
    if isinstance(context, Refusal):
        line.send(context)
        return
    line.send(context.found)
    with contextlib.suppress(EOFError, OSError):
        while True:
            line.send(run_jobs(kind, context, line.recv()))


def _die_with_server() -> None:
    """Have the system kill this process when the fork server ends.

    A thread that waits for that would not do: a job may keep the interpreter for minutes.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    starter = multiprocessing.parent_process()
    if starter is not None and not starter.is_alive():
        os._exit(1)
