"""Hostile pickles against both readers, in a process that has little memory and time.

Nothing may be run, no process may die, and no file may take over 10 seconds of computing or over 20
times its size plus 50 MB of memory. What is loaded must be plain data. A matrix that passes the
check of datasets is also loaded as torch-geometric does, which must be harmless then.
"""

from __future__ import annotations

import contextlib
import pickle
import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchbuild.datasets.safe_pickles import check_pickle
from benchbuild.errors import BenchBuildError
from benchbuild.fuzzing.hostile_pickles import bench, hostile, matrix
from benchbuild.fuzzing.limits import limited
from benchbuild.fuzzing.outcome import Outcome
from benchquery.errors import BenchQueryError
from benchquery.pickles import load_plain_pickle

SECONDS = 10
"""How long a trial may compute."""
_TIMES, _FREE = 20, 50_000_000
_DENSE = 8 << 27
_HARMLESS = ("open", "builtins.id")
_LOADING = ("pickle.find_class", "import", "os.listdir")


def fuzz(trials: int, seed: int, folder: Path) -> Outcome:
    """Try so many hostile pickles; see `benchbuild.fuzzing.outcome.Fuzzer`."""
    outcome, first = Outcome(0, 0, 0), 0
    while first < trials:
        command = [sys.executable, "-m", __name__, folder, seed, first, trials]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        for trial, line in enumerate(lines, start=first):
            wrong = () if line in ("detected", "harmless") else (f"seed {seed}, {trial}: {line}",)
            outcome += Outcome(1, line == "detected", line == "harmless", wrong)
        first += len(lines)
        if first < trials:
            reason = (done.stderr.splitlines() or ["no message"])[-1]
            died = f"seed {seed}, {first}: ended with {done.returncode}: {reason}"
            outcome += Outcome(1, 0, 0, (died,))
            first += 1
    return outcome


class _Watch:
    """Sees what the interpreter is asked to do during a trial."""

    def __init__(self) -> None:
        self.allowed: tuple[str, ...] | None = None
        self.seen: list[str] = []
        sys.addaudithook(self._see)

    def _see(self, event: str, args: tuple[Any, ...]) -> None:
        if self.allowed is not None and event not in self.allowed:
            self.seen.append(f"{event} {args!r}"[:100])

    @contextlib.contextmanager
    def watching(self, *allowed: str) -> Iterator[None]:
        """Note every event but these."""
        self.allowed = (*_HARMLESS, *allowed)
        try:
            yield
        finally:
            self.allowed = None


def _is_plain(value: Any) -> bool:
    """Tell whether there is nothing but plain data in a value."""
    if isinstance(value, dict):
        return type(value) is dict and all(map(_is_plain, [*value, *value.values()]))
    if isinstance(value, (list, tuple)):
        return type(value) in (list, tuple) and all(map(_is_plain, value))
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "biuf" and bool(np.isfinite(value).sum() >= 0)
    return value is None or type(value) in (bool, int, float, str, bytes)


def _outcome(path: Path, watch: _Watch) -> str:
    """Return what becomes of a file, in one line."""
    said = []
    allowed = _TIMES * path.stat().st_size + _FREE
    try:
        with limited(allowed, SECONDS), watch.watching():
            value = load_plain_pickle(path)
        said.append("harmless" if _is_plain(value) else "it is not plain")
    except BenchQueryError as error:
        said.append("took too much memory" if _ran_out(error) else "detected")
    try:
        with limited(allowed, SECONDS), watch.watching():
            check_pickle(path)
        with limited(allowed + _DENSE, SECONDS), watch.watching(*_LOADING), path.open("rb") as file:
            loaded = pickle.load(file, encoding="latin1")
            if hasattr(loaded, "todense"):
                loaded.todense()
        said.append("harmless")
    except BenchBuildError as error:
        said.append("took too much memory" if _ran_out(error) else "detected")
    if watch.seen:
        return f"it asked for {watch.seen[0]}"
    wrong = set(said) - {"detected", "harmless"}
    return "; ".join(sorted(wrong)) or ("harmless" if "harmless" in said else "detected")


def _ran_out(error: BaseException) -> bool:
    return isinstance(error.__cause__, MemoryError)


def _try(folder: Path, seed: int, first: int, last: int) -> None:
    """Run trials and print a line for each."""
    warnings.simplefilter("ignore")
    watch, path = _Watch(), folder / "some.bench"
    for number in range(6):
        path.write_bytes(bench(random.Random(number), number))
        load_plain_pickle(path)
        path.write_bytes(matrix(random.Random(number)))
        _outcome(path, watch)
        watch.seen.clear()
    for trial in range(first, last):
        path.write_bytes(hostile(random.Random(f"{seed} {trial}")))
        try:
            line = _outcome(path, watch)
        except BaseException as error:
            line = f"{type(error).__name__}: {error}"
        watch.seen.clear()
        print(" ".join(line.split()), flush=True)


if __name__ == "__main__":
    _try(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
