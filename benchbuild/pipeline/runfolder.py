"""The folder of a run: what is run, which shards were begun, and their parts.

::

    run.json            what is run, with a checksum; a command with other settings is refused
    parts/*.parquet     the records
    shards/3-of-32.json who runs or ran a shard; locked while it runs
    logs/3-of-32.log    what happened
    scratch/            what jobs share, where they share something; may go when all have ended

Several shards, on several machines, may share one folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import platform
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchbuild.errors import BenchBuildError, KindError, PlanError, RunFolderError
from benchbuild.pipeline.files import (
    cannot_write,
    files_in,
    is_there,
    locked,
    make_folder,
    write_whole,
)
from benchbuild.pipeline.jobs import AnyRun, Cost, Run
from benchbuild.pipeline.parts import Parts
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.records import JobKey
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.settings import Json
from benchquery.errors import BenchQueryError
from benchquery.table.files import read_regular
from benchquery.table.sealed import parse_object, seal, unseal

RUN = "run.json"
SCRATCH = "scratch"
_FORMAT = "graphtab-run"
_VERSION = 2
_UNSEALED = 1
"""The version of files without a checksum of their own."""
_OBJECTS = ("settings", "jobs", "facts", "about")
_JOINED = "joined"
"""What only runs have whose jobs are dealt together."""
_SHOWN = 40
_LONGEST = 200
_LARGEST = 1 << 24
"""How many bytes a ``run.json`` may have."""
_UNREADABLE = (OSError, ValueError, LookupError, ArithmeticError, TypeError, AttributeError)
"""What reading a file that is no ``run.json`` may raise, also in kinds of other packages."""


@dataclasses.dataclass(frozen=True)
class RunFolder:
    """A folder with a run in it.

    Attributes:
        path: The folder.
        run: What is run.
    """

    path: Path
    run: AnyRun

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open the folder of a run that was begun.

        Raises:
            RunFolderError: If it is not the folder of a run.
            KindError: If its kind of job is not known here.
        """
        try:
            body = _read(path / RUN)
            kind = kind_of(body["kind"])
            settings = kind.settings.from_json(body["settings"])
            jobs = kind.jobs.from_json(body["jobs"])
            joined = body.get(_JOINED, False)
            run = Run(kind.name, settings, jobs, body["facts"], body["about"], joined)
            kind.check_found(run, whole=False)
            return cls(path, run)
        except KindError as error:
            raise KindError(f"{path / RUN}: {error}") from error
        except (*_UNREADABLE, BenchBuildError, BenchQueryError) as error:
            said = getattr(error, "strerror", None) or error
            raise RunFolderError(
                f"{path} is not the folder of a run: can't read its {RUN} "
                f"({type(error).__name__}: {said})"
            ) from error

    @classmethod
    def check(cls, path: Path, run: AnyRun) -> None:
        """Refuse to go on in the folder of another run; a folder without a run is fine.

        Args:
            path: The folder, which need not exist.
            run: What is to be run; as long as it has no facts, those are not compared.

        Raises:
            RunFolderError: If another run is in it; the differences are named.
        """
        if not is_there(path / RUN):
            return
        there = cls.open(path).run
        ours = dataclasses.replace(run, facts=run.facts or there.facts, about=there.about)
        found = list(differences(there.in_full, ours.in_full))
        if found:
            raise RunFolderError(
                f"{path} holds another run: {'; '.join(found)}. Repeat the command that began "
                "it, or name another folder"
            )

    @classmethod
    def dealing(cls, path: Path, run: AnyRun) -> AnyRun:
        """Return a run with its jobs dealt as in its folder; where that has no run, as it is.

        Raises:
            RunFolderError: If the folder's run can't be read.
            KindError: If its kind of job is not known here.
        """
        if not is_there(path / RUN):
            return run
        return dataclasses.replace(run, joined=cls.open(path).run.joined)

    @classmethod
    def begin(cls, path: Path, run: AnyRun) -> RunFolder:
        """Begin a run in a folder, or go on with the same one, its jobs dealt as they were.

        Raises:
            RunFolderError: If another run is in it.
            WriteError: If the folder can't be written to.
        """
        make_folder(path / "parts")
        make_folder(path / "shards")
        make_folder(path / "logs")
        with locked(path / "shards" / "begin.lock", wait=True):
            cls.check(path, run)
            if not is_there(path / RUN):
                body = {"format": _FORMAT, "version": _VERSION, **run.body}
                write_whole(path / RUN, seal(body).encode())
        return cls.open(path)

    def job_keys(self) -> Sequence[JobKey]:
        """List the jobs of the run.

        Raises:
            RunFolderError: If its settings and its choice of jobs don't go together.
        """
        with self._reading():
            return kind_of(self.run.kind).keys(self.run)

    def costs(self, keys: Sequence[JobKey]) -> list[Cost]:
        """Predict what jobs of the run take.

        Raises:
            RunFolderError: If that can't be known, as when its dataset is not known here.
        """
        with self._reading():
            return kind_of(self.run.kind).costs(self.run, keys)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Name the file that an error comes from."""
        try:
            yield
        except (BenchBuildError, BenchQueryError) as error:
            raise RunFolderError(f"{self.path / RUN}: {error}") from error

    @property
    def parts(self) -> Parts:
        """The part files."""
        return Parts(self.path / "parts", kind_of(self.run.kind), self.run.digest)

    def log_path(self, shard: Shard) -> Path:
        """Return the log file of a shard."""
        return self.path / "logs" / f"{shard.slug}.log"

    def shards(self) -> list[Shard]:
        """List the shards that were begun here; files of other names are none."""
        shards = []
        for path in files_in(self.path / "shards", "*-of-*.json"):
            with contextlib.suppress(PlanError):
                shards.append(Shard.parse(path.stem.replace("-of-", "/")))
        return sorted(shards, key=lambda shard: (shard.count, shard.index))

    @contextlib.contextmanager
    def lock(self, shard: Shard) -> Iterator[None]:
        """Keep a shard to this process; a killed process's lock is gone with it.

        Raises:
            RunFolderError: If another process runs it.
            WriteError: If the folder can't be written to.
        """
        path = self.path / "shards" / f"{shard.slug}.json"
        with locked(path, wait=False) as file:
            if file is None:
                raise RunFolderError(
                    f"shard {shard} in {self.path} is being run by another process "
                    f"({_who(path)}). Let it finish, or take another shard"
                )
            who = {"host": platform.node(), "pid": os.getpid(), "started": time.time()}
            try:
                os.truncate(file.fileno(), 0)
                os.write(file.fileno(), json.dumps(who).encode() + b"\n")
            except OSError as error:
                raise cannot_write(path, error) from error
            yield


def _read(path: Path) -> dict[str, Any]:
    """Return what a ``run.json`` says, checked; one of version 1 has no checksum of its own.

    Raises:
        OSError: If it can't be read.
        ValueError: If it is damaged, or no such file.
    """
    body = parse_object(read_regular(path, follow=True, at_most=_LARGEST))
    version = body.get("version")
    known = type(version) is int and version in (_UNSEALED, _VERSION)
    if body.get("format") != _FORMAT or not known:
        raise ValueError(f"it is not of the format {_FORMAT} {_UNSEALED} or {_VERSION}")
    if version != _UNSEALED:
        body = unseal(body)
    names = {"format", "version", *(field.name for field in dataclasses.fields(Run))}
    if odd := sorted((body.keys() ^ names) - {_JOINED}):
        raise ValueError(f"it lacks or does not know: {', '.join(odd)}")
    if wrong := [name for name in _OBJECTS if not isinstance(body[name], dict)]:
        raise ValueError(f"{', '.join(wrong)}: not an object")
    if not isinstance(body["kind"], str):
        raise ValueError("kind: not a text")
    if not isinstance(body.get(_JOINED, False), bool):
        raise ValueError(f"{_JOINED}: neither true nor false")
    return body


def _who(path: Path) -> str:
    """Return what the process that holds a lock says of itself."""
    return " ".join(path.read_text(errors="replace")[:_LONGEST].split())


def differences(there: Json, asked: Json, prefix: str = "") -> Iterator[str]:
    """Name what differs between two nested mappings."""
    for name in dict.fromkeys([*there, *asked]):
        mine, other = there.get(name), asked.get(name)
        if isinstance(mine, dict) and isinstance(other, dict):
            yield from differences(mine, other, f"{prefix}{name}.")
        elif mine != other:
            yield f"{prefix}{name} is {_short(mine)} there, {_short(other)} here"


def _short(value: Any) -> str:
    text = json.dumps(value)
    if len(text) <= _SHOWN:
        return text
    return f"a list of {len(value)}" if isinstance(value, list) else text[:_SHOWN] + "..."
