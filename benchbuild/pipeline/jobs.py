"""What a job is: the contract that every stage of the pipeline is written against.

A *kind* of job (train an architecture, try hyper-parameters, condense a graph) is one folder in
`benchbuild.kinds`, or a package of its own. It says what identifies a job, what a job costs, how
one is run, and what a record holds. Planning, sharding, running, part files, resuming, merging,
verifying and the engines know nothing else, so they serve every kind alike.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from benchbuild.errors import MergeError, PlanError
from benchbuild.pipeline.records import JobKey, JobRecord
from benchbuild.pipeline.settings import JobSettings, Json, RunPart
from benchbuild.typed import Typed, misfit, short

if TYPE_CHECKING:
    from benchbuild.pipeline.collect import Collection as Collected
    from benchquery.table.manifest import Manifest


@dataclass(frozen=True)
class Cost:
    """What a job is expected to take.

    Attributes:
        seconds: Time on one CPU core. Only the proportions matter for the shards.
        memory: Peak of main memory in bytes where the job runs on a CPU.
        gpu_memory: Peak of the bytes of tensors on a GPU where it runs there; None if the kind does
            not predict it.
        host_memory: Peak of main memory then; None likewise.
    """

    seconds: float
    memory: float
    gpu_memory: float | None = None
    host_memory: float | None = None


MOST_JOBS = 1_000_000
"""How many jobs a run may have: all are held in memory. Every architecture with 38 seeds."""

SettingsT = TypeVar("SettingsT", bound=JobSettings)
JobsT = TypeVar("JobsT", bound=RunPart)
RecordT = TypeVar("RecordT", bound=JobRecord)


@dataclass(frozen=True)
class Run(Generic[SettingsT, JobsT]):
    """What is run: the content of ``run.json``.

    Attributes:
        kind: The kind of its jobs.
        settings: What every job shares and what decides its figures.
        jobs: Which jobs there are, in a form that `JobKind.keys` expands.
        facts: What a worker found where the data is, such as its checksum; part of what
            decides the figures. Empty as long as no worker has looked.
        about: What else it found that readers of a table want to know; never compared.
        joined: Whether jobs that can be run as one computation are in the same shard. It says how
            jobs are dealt and nothing of their figures: whoever begins a folder decides, and the
            shards in it follow. Never compared.
    """

    kind: str
    settings: SettingsT
    jobs: JobsT
    facts: Json = field(default_factory=dict)
    about: Json = field(default_factory=dict)
    joined: bool = False

    def __post_init__(self) -> None:
        """Check the types of both parts, also where a kind's own check forgets to.

        Raises:
            BenchBuildError: If a value is not allowed.
        """
        Typed.__post_init__(self.settings)
        Typed.__post_init__(self.jobs)

    @property
    def body(self) -> dict[str, Any]:
        """The run in plain JSON values, as ``run.json`` has it; older ones know no joined jobs."""
        settings, jobs = self.settings.to_json(), self.jobs.to_json()
        body: dict[str, Any] = json.loads(
            canonical({**vars(self), "settings": settings, "jobs": jobs})
        )
        if not self.joined:
            del body["joined"]
        return body

    @property
    def in_full(self) -> dict[str, Any]:
        """The same with every setting that counts spelt out, for comparing two runs."""
        settings: Json = json.loads(canonical(self.settings.in_full()))
        return {**replace(self, joined=False).body, "settings": settings}

    @property
    def digest(self) -> str:
        """Identity of everything that decides a figure beside the key; every part has it."""
        settings = self.settings.to_json()
        return digest({"kind": self.kind, "settings": settings, "facts": self.facts})


AnyRun = Run[Any, Any]
"""A run of whatever kind."""


@dataclass(frozen=True)
class Found:
    """What a worker found when it loaded what its jobs share.

    Attributes:
        facts: See `Run`.
        about: See `Run`.
        devices: How many accelerators its machine offers to these jobs; 0 if they run on CPUs.
        capacity: Bytes of memory that its accelerator has; 0 if that is not known.
    """

    facts: Json
    about: Json
    devices: int
    capacity: int = 0


@dataclass(frozen=True)
class Place:
    """Where a worker runs: never what it computes.

    Attributes:
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:i``.
        slot: Number of the worker, counted from 0; spreads workers over devices.
        data_root: Folder of the datasets; None for the default.
        scratch: Folder for large intermediate results that jobs may share; None if there is none.
        workers: How many workers there are in all; None if there are `per_device`.
        per_device: How many share an accelerator.
        capture: Whether trainings record an epoch and start it as a whole.
    """

    device: str = "auto"
    slot: int = 0
    data_root: str | None = None
    scratch: str | None = None
    workers: int | None = None
    per_device: int = 1
    capture: bool = False

    def sharing(self, devices: int) -> int:
        """Return how many workers share an accelerator, of which there are so many."""
        if self.workers is None:
            return self.per_device
        return math.ceil(self.workers / (1 if ":" in self.device else devices))


class Context(Protocol):
    """A worker that has loaded what its jobs share."""

    @property
    def found(self) -> Found:
        """What it found."""

    def run(self, key: JobKey) -> JobRecord:
        """Run one job; when and where it was finished is filled in later."""

    def recover(self) -> None:
        """Make ready for the next job after one that failed; raises if there can't be one."""


class TogetherContext(Context, Protocol):
    """A worker that can run several jobs as one computation; see `JobKind.together`."""

    def run_together(self, keys: Sequence[JobKey]) -> Sequence[JobRecord]:
        """Run some jobs at once; their records, in the same order."""


class JobKind(ABC, Generic[SettingsT, JobsT, RecordT]):
    """A kind of job: what it tells the pipeline, the engines and the command line.

    Attributes:
        name: Its name, in ``run.json``.
        settings: The type of what its jobs share.
        jobs: The type of a choice of jobs.
        record: The type of what a job leaves behind.
        facts: The type of `Run.facts` once a worker has looked, such as a typed dictionary.
        about: The type of `Run.about` then.
        preload: Modules that workers need and that are slow to import.
        table: The kind of table that its records make, as benchquery calls it; None if none.
        rows: What the rows of that table are, in words.
        commands: Where its subcommands are, as names of modules; see `benchbuild.commands`.
    """

    name: ClassVar[str]
    settings: type[SettingsT]
    jobs: type[JobsT]
    record: type[RecordT]
    facts: ClassVar[Any] = Mapping[str, Any]
    about: ClassVar[Any] = Mapping[str, Any]
    preload: ClassVar[tuple[str, ...]] = ()
    table: ClassVar[str | None] = None
    rows: ClassVar[str] = "rows"
    commands: ClassVar[tuple[str, ...]] = ()

    def check_found(self, run: Run[SettingsT, JobsT], *, whole: bool) -> None:
        """Refuse a run that does not say what a worker of this kind finds.

        Args:
            run: The run.
            whole: Whether both must be there: runs that nobody has looked into yet have neither.

        Raises:
            PlanError: If its facts, or what is told about them, are not what they have to be.
        """
        for name, hint in (("facts", self.facts), ("about", self.about)):
            found = getattr(run, name)
            if (found or whole) and (said := misfit(hint, found)):
                raise PlanError(f"{name}={short(found)} must be {said}")

    @abstractmethod
    def keys(self, run: Run[SettingsT, JobsT]) -> Sequence[JobKey]:
        """List the jobs of a run in one fixed order; see `combinations`."""

    def expected(self, runs: Sequence[Run[SettingsT, JobsT]]) -> set[JobKey]:
        """List the jobs that a table made of several runs should have."""
        return {key for run in runs for key in self.keys(run)}

    @abstractmethod
    def costs(self, run: Run[SettingsT, JobsT], keys: Sequence[JobKey]) -> list[Cost]:
        """Predict what jobs take; the same on every machine."""

    def together(self, keys: Sequence[JobKey], most: int) -> list[tuple[JobKey, ...]]:
        """Say which jobs a worker may run as one computation; here none.

        Workers of a kind that joins some have `TogetherContext.run_together`. Every job is in one
        group. Where a run is `joined`, shards are made of the groups of all its jobs.

        Args:
            keys: All jobs that are to be run, in the order of the plan.
            most: How many may be joined.
        """
        return [(key,) for key in keys]

    @abstractmethod
    def open(self, settings: SettingsT, place: Place) -> Context:
        """Load what the jobs share; called once in every worker."""

    def problems(self, run: Run[SettingsT, JobsT], record: RecordT) -> Iterator[str]:
        """Say what in a record contradicts itself; for `benchbuild verify`."""
        yield from ()

    def table_problems(self, folder: Path) -> Iterator[str]:
        """Say what is wrong with a table of this kind whose files and rows are in order."""
        yield from ()

    @abstractmethod
    def score(self, record: RecordT) -> float:
        """Return what makes a record good, for the progress bar; NaN if it has none."""

    def write_table(self, collection: Collected, stage: Path) -> None:
        """Write the merged records as the files of a table.

        Raises:
            MergeError: If records of this kind make no table.
        """
        raise MergeError(
            f"runs of benchbuild {self.name} make no table; repeat the command to see what they "
            "found"
        )

    def contents(self, manifest: Manifest, folder: Path) -> str:
        """Say what a table that was just written holds: so many rows of what."""
        return f"{manifest.rows:,} {self.rows}"


AnyKind = JobKind[Any, Any, Any]
"""A kind of whatever settings, jobs and records."""


def combinations(*parts: Collection[Any]) -> Iterator[tuple[Any, ...]]:
    """Combine the parts of keys, such as architectures and seeds; the last part goes fastest.

    Raises:
        PlanError: If there are more than `MOST_JOBS`.
    """
    count = math.prod(map(len, parts))
    if count > MOST_JOBS:
        raise PlanError(f"a run of {count:,} jobs is not allowed: must be at most {MOST_JOBS:,}")
    return product(*parts)


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: sorted names, no spaces; a key's fields by name."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    """Let JSON see read-only mappings."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r} has no JSON form")


def digest(value: Any) -> str:
    """Return the SHA-256 of a value's canonical text: stable across machines and versions."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def label(record: type[JobRecord], key: JobKey) -> str:
    """Name a job in a message: ``hash=10000 seed=0``."""
    return " ".join(f"{name}={value}" for name, value in zip(record.key_names(), key, strict=True))
