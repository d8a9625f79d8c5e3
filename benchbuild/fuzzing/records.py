"""Records of runs, changed by hand: other figures, texts and arrays in a part whose name fits.

A trial is *detected* if verifying or merging the run ends in an error of this project that names
it, and *harmless* if all that is done with it ends well, within `SECONDS` and `MEMORY`: what the
records say is then what jobs could have written.
"""

from __future__ import annotations

import dataclasses
import io
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchbuild.fuzzing import hostile_arrays
from benchbuild.fuzzing.damage import DAMAGES
from benchbuild.fuzzing.hostile_json import TEXTS
from benchbuild.fuzzing.judging import OWN
from benchbuild.fuzzing.limits import limited, told_when_too_long
from benchbuild.fuzzing.outcome import Outcome
from benchbuild.fuzzing.sample_runs import SHARD, write_runs
from benchbuild.kinds.condense.arrays import pack, unpack
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.records import STATUSES, Field, JobRecord
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.pipeline.status import status_of
from benchbuild.pipeline.verify import problems_in

SECONDS = 30
"""Seconds of processor time that a trial may take."""
MEMORY = 1 << 30
"""Bytes of memory that it may take beyond what the process has."""
_PAYLOAD = "payload"
_OF_PAYLOAD = 0.5


def fuzz(trials: int, seed: int, folder: Path) -> Outcome:
    """Change records of runs of every kind; see `benchbuild.fuzzing.outcome.Fuzzer`."""
    samples = write_runs(folder / "samples")
    outcome = Outcome(0, 0, 0)
    with told_when_too_long(SECONDS):
        for trial in range(trials):
            rng = random.Random(f"{seed}-{trial}")
            sample = rng.choice(samples)
            copy = folder / f"{sample.name}-{trial}"
            shutil.copytree(sample, copy)
            changed = _change(copy, rng)
            what = f"seed {seed}, trial {trial}: {sample.name}: {changed}"
            outcome += _judge(copy, what)
            shutil.rmtree(copy)
    return outcome


def _change(folder: Path, rng: random.Random) -> str:
    """Change one field of one record of a run; return its name."""
    parts = RunFolder.open(folder).parts
    records = list(parts.records())
    row = rng.randrange(len(records))
    record: JobRecord = records[row]
    kept = getattr(record, _PAYLOAD, np.empty(0))
    if len(kept) and rng.random() < _OF_PAYLOAD:
        name, value = _PAYLOAD, rng.choice(_PACKED)(kept, rng)
    else:
        field = rng.choice(record.columns())
        name, value = field.name, _value(field, getattr(record, field.name), rng)
    records[row] = dataclasses.replace(record, **{name: value})
    for path in parts.paths():
        path.unlink()
    parts.add(SHARD, records)
    return name


def _value(field: Field, before: Any, rng: random.Random) -> Any:
    """Return another value that part files can hold."""
    if field.is_array:
        one = hostile_arrays.changed({field.name: before}, rng).get(field.name, np.empty(0))
        with np.errstate(all="ignore"):
            return one.astype(field.item).reshape(-1)
    if field.name == "status":
        return rng.choice(STATUSES)
    if field.dtype == "string":
        text = rng.choice(TEXTS).encode(errors="replace").decode()
        return text if field.separator is None else tuple(text.split(field.separator))
    if field.dtype == "float64":
        return rng.choice(hostile_arrays.REAL)
    bounds = np.iinfo(field.dtype)
    return min(max(rng.choice(hostile_arrays.WHOLE), int(bounds.min)), int(bounds.max))


# ---------------------------------------------------------------- payloads


def _others(packed: Any, rng: random.Random) -> Any:
    """Keep other arrays."""
    return pack(hostile_arrays.changed(unpack(packed), rng))


def _damaged(packed: Any, rng: random.Random) -> Any:
    """Keep the bytes of a damaged file."""
    return _bytes(DAMAGES[rng.choice(list(DAMAGES))](packed.tobytes(), rng))


def _compressed(packed: Any, rng: random.Random) -> Any:
    """Keep a small file that unpacks to a large one."""
    buffer = io.BytesIO()
    many = {"x": np.zeros((1 << 24, 1), np.float16)}
    np.savez_compressed(buffer, allow_pickle=False, **{**unpack(packed), **many})
    return _bytes(buffer.getvalue())


def _claiming(packed: Any, rng: random.Random) -> Any:
    """Keep a file whose arrays claim to be larger than they are."""
    buffer = io.BytesIO()
    shape = rng.choice(("(1000000000000, 4)", "(-1, 4)", "(1, 4", "()", "(9," * 900, "None"))
    head = f"{{'descr': '<f2', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    with zipfile.ZipFile(buffer, "w") as file:
        for name in unpack(packed):
            start = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little")
            file.writestr(f"{name}.npy", start + head.encode() + bytes(8))
    return _bytes(buffer.getvalue())


def _objects(packed: Any, rng: random.Random) -> Any:
    """Keep a file that would have to be unpickled."""
    buffer = io.BytesIO()
    objects = {name: np.array([{}, None], object) for name in unpack(packed)}
    np.savez(buffer, allow_pickle=True, **objects)
    return _bytes(buffer.getvalue())


def _bytes(content: bytes) -> Any:
    return np.frombuffer(content, np.uint8)


_PACKED: tuple[Callable[[Any, random.Random], Any], ...] = (
    _others, _others, _others, _others, _damaged, _damaged, _compressed, _claiming, _objects,
)  # fmt: skip


# ---------------------------------------------------------------- judging


def _judge(folder: Path, what: str) -> Outcome:
    """Do everything with a run that is done with a finished one."""
    refused: list[str] = []
    try:
        with limited(MEMORY, SECONDS):
            for use in (_status, _problems, _merge):
                try:
                    refused += use(folder)
                except OWN as error:
                    refused.append(str(error))
    except Exception as error:
        return Outcome(1, 0, 0, (f"{what}: {type(error).__name__}: {error}"[:300],))
    if not refused:
        return Outcome(1, 0, 1)
    named = any(str(folder) in problem for problem in refused)
    return Outcome(1, named, 0, () if named else (f"{what}: nothing is named: {refused[0]}"[:300],))


def _status(folder: Path) -> list[str]:
    return list(status_of(RunFolder.open(folder)).damaged)


def _problems(folder: Path) -> list[str]:
    return list(problems_in(folder))


def _merge(folder: Path) -> list[str]:
    """Merge a run, if its kind makes a table, and verify that."""
    table = folder.with_name(f"{folder.name}-merged")
    if not kind_of(RunFolder.open(folder).run.kind).table:
        return []
    try:
        merge([folder], table, allow_gaps=True)
        return list(problems_in(table))
    finally:
        shutil.rmtree(table, ignore_errors=True)
