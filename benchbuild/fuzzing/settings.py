"""Run folders whose ``run.json`` was changed by hand: it says something else, its checksum fits.

A trial is *detected* if opening the folder ends in an error of this project that names it, and
*harmless* if what is read is just what the file says, and everything that is done with the folder
ends well or in an error of this project, within `SECONDS` and `MEMORY`.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchbuild.fuzzing.hostile_json import changed
from benchbuild.fuzzing.judging import OWN
from benchbuild.fuzzing.limits import limited, told_when_too_long
from benchbuild.fuzzing.outcome import Outcome
from benchbuild.fuzzing.sample_runs import SHARD, write_runs
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.runfolder import RUN, RunFolder
from benchbuild.pipeline.runner import shard_keys
from benchbuild.pipeline.status import status_of
from benchbuild.pipeline.verify import problems_in
from benchquery.table.sealed import SEAL

SECONDS = 30
"""Seconds of processor time that a trial may take."""
MEMORY = 1 << 30
"""Bytes of memory that it may take beyond what the process has."""
_UNSEALED = 0.1


def fuzz(trials: int, seed: int, folder: Path) -> Outcome:
    """Change what runs of every kind say; see `benchbuild.fuzzing.outcome.Fuzzer`."""
    samples = write_runs(folder / "samples")
    bodies = {sample: json.loads((sample / RUN).read_text()) for sample in samples}
    outcome = Outcome(0, 0, 0)
    with told_when_too_long(SECONDS):
        for trial in range(trials):
            rng = random.Random(f"{seed}-{trial}")
            sample = rng.choice(samples)
            body = {name: value for name, value in bodies[sample].items() if name != SEAL}
            if rng.random() < _UNSEALED:
                body["version"] = 1
            copy = folder / f"{sample.name}-{trial}"
            shutil.copytree(sample, copy)
            (copy / RUN).write_text(changed(body, rng))
            what = f"seed {seed}, trial {trial}: {sample.name}"
            outcome += _judge(copy, RunFolder.open(sample), what)
            shutil.rmtree(copy)
    return outcome


def _judge(folder: Path, before: RunFolder, what: str) -> Outcome:
    """Do everything with a folder that is done with one."""
    try:
        with limited(MEMORY, SECONDS):
            opened = _open(folder)
            for use in _USES:
                try:
                    use(folder, before)
                except OWN:
                    continue
    except Exception as error:
        return Outcome(1, 0, 0, (f"{what}: {type(error).__name__}: {error}"[:300],))
    if isinstance(opened, str):
        named = str(folder) in opened
        return Outcome(1, named, 0, () if named else (f"{what}: no file is named: {opened}",))
    said = json.loads((folder / RUN).read_text())
    found = {
        **opened.run.body,
        "settings": {**opened.run.body["settings"], **opened.run.in_full["settings"]},
    }
    if all(_says(found[name], said[name]) for name in found):
        return Outcome(1, 0, 1)
    return Outcome(1, 0, 0, (f"{what}: it reads as something else",))


def _open(folder: Path) -> RunFolder | str:
    """Open a folder, or return why that can't be."""
    try:
        return RunFolder.open(folder)
    except OWN as error:
        return str(error)


def _says(found: Any, said: Any) -> bool:
    """Tell whether all that a file says is what was found; a default may be found beside it."""
    if isinstance(said, dict) and isinstance(found, dict):
        return all(name in found and _says(found[name], said[name]) for name in said)
    return json.dumps(found) == json.dumps(said)


def _status(folder: Path, before: RunFolder) -> object:
    return status_of(RunFolder.open(folder))


def _verify(folder: Path, before: RunFolder) -> object:
    return list(problems_in(folder))


def _merge(folder: Path, before: RunFolder) -> object:
    return merge([folder], folder / "merged", allow_gaps=True)


def _merge_with_another(folder: Path, before: RunFolder) -> object:
    return merge([before.path, folder], folder / "together")


def _go_on(folder: Path, before: RunFolder) -> object:
    """Go on with the run that it was, as repeating its command does, and with the one it is."""
    opened = RunFolder.open(folder)
    shard_keys(opened.run, SHARD)
    opened.parts.resume(SHARD)
    RunFolder.check(folder, before.run)
    return RunFolder.begin(folder, before.run)


_USES: tuple[Callable[[Path, RunFolder], object], ...] = (
    _status, _verify, _merge, _merge_with_another, _go_on,
)  # fmt: skip
