"""Damaged files of traces."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from benchbuild.fuzzing.judging import fuzz_folders
from benchbuild.fuzzing.outcome import Outcome
from benchquery.search import load, run, save

_FILE = "traces.parquet"


def fuzz(trials: int, seed: int, folder: Path) -> Outcome:
    """Damage files of traces and load them; see `fuzz_folders`."""
    sample = folder / "sample"
    sample.mkdir()
    traces = [
        run(name, "cora", 20, seed=seed) for name in ("random", "evolution") for seed in (0, 1)
    ]
    save(traces, sample / _FILE)
    return fuzz_folders([sample], (_load,), trials, seed, folder)


def _load(folder: Path) -> Any:
    """Return all that the traces of a folder say."""
    return [
        [_plain(getattr(trace, field.name)) for field in dataclasses.fields(trace)]
        for trace in load(folder / _FILE)
    ]


def _plain(value: Any) -> Any:
    """Return an array as bytes, NaN included, and all else as it is."""
    return (str(value.dtype), value.tobytes()) if hasattr(value, "dtype") else value
