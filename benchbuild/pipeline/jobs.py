"""What a job is: the contract that every stage of the pipeline is written against.

A *kind* of job (train an architecture, try hyper-parameters, condense a graph) is one file in
`benchbuild.kinds`. It says what identifies a job, what a job costs, how one is run, and what a
record holds. Planning, sharding, running, part files, resuming, merging, verifying and the
engines know nothing else, so they serve every kind alike.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from benchbuild.pipeline.collect import Collection

Role = Literal["key", "figure", "measurement"]
Key = tuple[Any, ...]
"""A job's identity: a NamedTuple of plain values, so it is frozen, ordered and hashable."""
Record = Mapping[str, Any]
Json = Mapping[str, Any]

OK, DIVERGED, OOM, FAILED = "ok", "diverged", "oom", "failed"
STATUSES = (OK, DIVERGED, OOM, FAILED)
"""How a job can end, the best first."""

DETERMINED = (OK, DIVERGED)
"""The ends that the job alone decides. The others depend on the machine: a job may run out of
memory here and end well elsewhere, so a determined record replaces one of those."""


@dataclass(frozen=True)
class Field:
    """One column of the part files.

    Attributes:
        name: Its name.
        dtype: An Arrow type name, or ``float32[]`` for an array of any length.
        role: ``key`` if it identifies the job; ``figure`` if the job decides it, so that two
            records of one job must agree; ``measurement`` if it differs from run to run.
    """

    name: str
    dtype: str
    role: Role


COMMON_FIELDS = (
    Field("status", "string", "figure"),
    Field("reason", "string", "measurement"),
    Field("finished", "float64", "measurement"),
    Field("host", "string", "measurement"),
)
"""What every record has beside the fields of its kind: `finished` is a Unix time."""


@dataclass(frozen=True)
class Cost:
    """What a job is expected to take.

    Attributes:
        seconds: Time on one CPU core. Only the proportions matter for the shards.
        memory: Peak memory in bytes.
    """

    seconds: float
    memory: float


@dataclass(frozen=True)
class Run:
    """What is run: the content of ``run.json``.

    Attributes:
        kind: The kind of its jobs.
        settings: What every job shares and what decides its figures.
        jobs: Which jobs there are, in a form that `Kind.keys` expands.
        facts: What a worker found where the data is, such as its checksum; part of what
            decides the figures. Empty as long as no worker has looked.
        about: What else it found that readers of a table want to know; never compared.
    """

    kind: str
    settings: Json
    jobs: Json
    facts: Json = field(default_factory=dict)
    about: Json = field(default_factory=dict)

    @property
    def body(self) -> dict[str, Any]:
        """The run in plain JSON values."""
        body: dict[str, Any] = json.loads(canonical(vars(self)))
        return body

    @property
    def digest(self) -> str:
        """Identity of everything that decides a figure beside the key; every part has it."""
        return digest({"kind": self.kind, "settings": self.settings, "facts": self.facts})


@dataclass(frozen=True)
class Found:
    """What a worker found when it loaded what its jobs share.

    Attributes:
        facts: See `Run`.
        about: See `Run`.
        devices: How many accelerators its machine offers to these jobs; 0 if they run on CPUs.
    """

    facts: Json
    about: Json
    devices: int


@dataclass(frozen=True)
class Place:
    """Where a worker runs: never what it computes.

    Attributes:
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:i``.
        slot: Number of the worker, counted from 0; spreads workers over devices.
        data_root: Folder of the datasets; None for the default.
        scratch: Folder for large intermediate results that jobs may share; None if there is none.
    """

    device: str = "auto"
    slot: int = 0
    data_root: str | None = None
    scratch: str | None = None


class Context(Protocol):
    """A worker that has loaded what its jobs share."""

    @property
    def found(self) -> Found:
        """What it found."""

    def run(self, key: Key) -> Record:
        """Run one job; the record lacks only `COMMON_FIELDS` other than status and reason."""

    def recover(self) -> None:
        """Make ready for the next job after one that failed; raises if there can't be one."""


class Kind(Protocol):
    """A kind of job."""

    @property
    def name(self) -> str:
        """Its name, in ``run.json`` and on the command line."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of a record beside `COMMON_FIELDS`, the key's first."""

    @property
    def preload(self) -> tuple[str, ...]:
        """Modules that workers need and that are slow to import."""

    def keys(self, run: Run) -> Sequence[Key]:
        """List the jobs of a run in one fixed order."""

    def expected(self, runs: Sequence[Run]) -> set[Key]:
        """List the jobs that a table made of several runs should have."""

    def costs(self, run: Run, keys: Sequence[Key]) -> list[Cost]:
        """Predict what jobs take; the same on every machine."""

    def open(self, settings: Json, place: Place) -> Context:
        """Load what the jobs share; called once in every worker."""

    def problems(self, run: Run, record: Record) -> Iterator[str]:
        """Say what in a record contradicts itself; for `benchbuild verify`."""

    def score(self, record: Record) -> float:
        """Return what makes a record good, for the progress bar; NaN if it has none."""

    def write_table(self, collection: Collection, stage: Path) -> None:
        """Write the merged records as the files of a table."""


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


def key_names(kind: Kind) -> list[str]:
    """Return the names of the fields that identify a job."""
    return [column.name for column in kind.fields if column.role == "key"]


def label(kind: Kind, key: Key) -> str:
    """Name a job in a message: ``hash=10000 seed=0``."""
    return " ".join(f"{name}={value}" for name, value in zip(key_names(kind), key, strict=True))
