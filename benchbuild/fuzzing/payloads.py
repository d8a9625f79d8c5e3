"""What tables keep, changed by hand: other arrays in ``graphs.h5``, every checksum fitting.

A trial is *detected* if reading what was changed ends in an error of this project that names the
file, and *harmless* if it reads as just what was written and everything that is done with it ends
well or in an error of this project, within `SECONDS` and `MEMORY`.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from benchbuild.fuzzing.hostile_arrays import changed
from benchbuild.fuzzing.judging import OWN
from benchbuild.fuzzing.limits import limited, told_when_too_long
from benchbuild.fuzzing.outcome import Outcome
from benchbuild.fuzzing.sample_runs import write_tables
from benchbuild.kinds.condense.forms import payload_type
from benchbuild.pipeline.verify import problems_in
from benchquery import condread
from benchquery.explorer.view import TableFiles
from benchquery.kinds.condensed.forms import FORMS, IMAGES
from benchquery.kinds.condensed.graphs import GRAPHS, Graphs, arrays_digest
from benchquery.kinds.condensed.pixels import shown_classes, shown_pixels
from benchquery.kinds.condensed.view import VIEW
from benchquery.table.hdf5 import CHECKED
from benchquery.table.manifest import MANIFEST, describe_file
from benchquery.table.sealed import SEAL, parse_object, seal

SECONDS = 30
"""Seconds of processor time that a trial may take."""
MEMORY = 1 << 30
"""Bytes of memory that it may take beyond what the process has."""
_OTHER_FORM = 0.1
_THRESHOLD = 0.5


def fuzz(trials: int, seed: int, folder: Path) -> Outcome:
    """Change what tables keep; see `benchbuild.fuzzing.outcome.Fuzzer`."""
    samples = list(write_tables(folder / "samples").values())
    outcome = Outcome(0, 0, 0)
    with told_when_too_long(SECONDS):
        for trial in range(trials):
            rng = random.Random(f"{seed}-{trial}")
            sample = rng.choice(samples)
            copy = folder / f"{sample.name}-{trial}"
            shutil.copytree(sample, copy)
            outcome += _judge(copy, rng, f"seed {seed}, trial {trial}: {sample.name}")
            shutil.rmtree(copy)
    return outcome


def _judge(folder: Path, rng: random.Random, what: str) -> Outcome:
    """Change what is kept of a configuration, and do everything with it that is done with one."""
    path = folder / GRAPHS
    before = Graphs(path)
    config = rng.choice(sorted(before.configs))
    form = rng.choice(sorted(FORMS)) if rng.random() < _OTHER_FORM else before.form(config)
    arrays = changed(before.graph(config), rng)
    _rewrite(path, config, form, arrays)
    try:
        with limited(MEMORY, SECONDS):
            refused, found = _read(path, config)
            for use in _USES:
                try:
                    use(folder, config)
                except OWN:
                    continue
    except Exception as error:
        return Outcome(1, 0, 0, (f"{what}: {type(error).__name__}: {error}"[:300],))
    if refused:
        named = str(path) in refused
        return Outcome(1, named, 0, () if named else (f"{what}: no file is named: {refused}",))
    if _plain(found) != _plain(arrays):
        return Outcome(1, 0, 0, (f"{what}: it reads as something else",))
    return Outcome(1, 0, 1)


def _rewrite(path: Path, config: str, form: str, arrays: Mapping[str, Any]) -> None:
    """Write other arrays for a configuration as a new file, and let all checksums fit."""
    copy = path.with_name("copy.h5")
    shutil.copy(path, copy)
    with h5py.File(copy, "r+") as file:
        group = file[config]
        for name in set(group) - {"trace"}:
            del group[name]
        for name, values in arrays.items():
            chunks = {"chunks": values.shape, **CHECKED} if values.size and values.ndim else {}
            group.create_dataset(name, data=values, **chunks)
        group.attrs["form"] = np.bytes_(form)
        group.attrs["sha256"] = np.bytes_(arrays_digest(arrays))
    path.unlink()
    copy.rename(path)
    manifest = path.with_name(MANIFEST)
    body = parse_object(manifest.read_bytes())
    body["files"][GRAPHS] = vars(describe_file(path))
    del body[SEAL]
    manifest.write_text(seal(body))


def _read(path: Path, config: str) -> tuple[str, Mapping[str, Any]]:
    """Return why the arrays of a configuration can't be read, or nothing, and the arrays."""
    try:
        return "", Graphs(path).graph(config)
    except OWN as error:
        return str(error), {}


def _plain(arrays: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return arrays as what can be compared, NaN included."""
    return {name: (str(a.dtype), a.shape, a.tobytes()) for name, a in arrays.items()}


def _verify(folder: Path, config: str) -> object:
    return list(problems_in(folder))


def _show(folder: Path, config: str) -> object:
    """Make what the explorer and the pictures show."""
    table = condread(folder)
    if table.graphs.form(config) == IMAGES:
        return shown_pixels(table.graph(config)), shown_classes(table.graph(config))
    files = VIEW.files["configs"]
    assert isinstance(files, TableFiles)
    return files.make(table, config)


def _compute(folder: Path, config: str) -> object:
    """Do what evaluating does with it, but for the training."""
    table = condread(folder)
    kept = payload_type(table.graphs.form(config)).from_arrays(table.graph(config))
    with np.errstate(all="ignore"):
        return kept.columns(_THRESHOLD), kept.data(_THRESHOLD)


_USES: tuple[Callable[[Path, str], object], ...] = (_verify, _show, _compute)
