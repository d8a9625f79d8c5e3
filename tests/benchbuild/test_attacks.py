"""Seeded attacks on the folder of a run: what lies there is lost or damaged, the disk is full.

Records are made up, so that many rounds take a moment; `tests/benchbuild/test_crash.py` and
its neighbours do a few of the same with real trainings.
"""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchbuild.errors import BenchBuildError
from benchbuild.fuzzing.damage import DAMAGES
from benchbuild.kinds.train.kind import TrainRun
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.pipeline.status import status_of
from benchbuild.testing import synthetic_record, synthetic_run
from tests.benchbuild.test_crash import WRITER
from tests.benchbuild.test_merge import content

ROUNDS = 12
SHARDS = (Shard(1, 2), Shard(2, 2))


def go_on(folder: RunFolder, shard: Shard) -> list[str]:
    """Do the jobs of a shard that are not done yet; returns what was found damaged."""
    with folder.lock(shard):
        parts = folder.parts
        done, damaged = parts.resume(shard)
        keys = [key for key in kind_of("train").keys(folder.run) if key not in done]
        for start in range(0, len(keys), 5):
            parts.add(shard, [synthetic_record(folder.run, key) for key in keys[start : start + 5]])
        return damaged


@pytest.fixture(scope="module")
def run() -> TrainRun:
    return synthetic_run(sample=12, seeds=[0, 1], epochs=3)


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory, run: TrainRun) -> Path:
    """A finished run in five parts, and its table beside it."""
    folder = RunFolder.begin(tmp_path_factory.mktemp("unharmed") / "run", run)
    assert not go_on(folder, SHARDS[0])
    assert len(folder.parts.paths()) == 5
    merge([folder.path], folder.path.with_name("table"))
    return folder.path


def harm(paths: list[Path], rng: random.Random) -> tuple[set[Path], set[Path]]:
    """Delete some parts and damage others; returns which."""
    gone, damaged = set(), set()
    for path in rng.sample(paths, rng.randint(1, len(paths))):
        way = rng.choice([None, *DAMAGES])
        before = path.read_bytes()
        after = b"" if way is None else DAMAGES[way](before, rng)
        if way is None and rng.random() < 0.5:
            path.unlink()
            gone.add(path)
        elif after != before:
            path.write_bytes(after)
            damaged.add(path)
    return gone, damaged


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_parts_lost_and_damaged_between_two_runs_are_made_again(
    unharmed: Path, tmp_path: Path, seed: int
) -> None:
    folder = RunFolder.open(shutil.copytree(unharmed, tmp_path / "run"))
    rng = random.Random(f"parts {seed}")
    gone, damaged = harm(folder.parts.paths(), rng)
    if gone or damaged:
        assert len(status_of(folder).damaged) == len(damaged)
        with pytest.raises(BenchBuildError, match=str(folder.path)):
            merge([folder.path], tmp_path / "early")
        assert not (tmp_path / "early").exists()
    told = go_on(folder, rng.choice(SHARDS))
    assert {path for path in damaged if any(str(path) in line for line in told)} == damaged
    assert len(told) == len(damaged)
    merge([folder.path], tmp_path / "table")
    assert content(tmp_path / "table") == content(unharmed.with_name("table"))


@contextmanager
def full_disk(at: int) -> Iterator[None]:
    """Let no file get longer than so many bytes, as on a disk that is full then."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (at, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_disk_that_is_full_at_any_byte_costs_nothing(
    unharmed: Path, tmp_path: Path, run: TrainRun
) -> None:
    rng = random.Random("full")
    folder = RunFolder.begin(tmp_path / "run", run)
    longest = max(path.stat().st_size for path in unharmed.rglob("*.parquet"))
    refused: list[str] = []
    for _ in range(ROUNDS):
        before = set(folder.parts.paths())
        try:
            with full_disk(rng.randrange(longest + 200)):
                go_on(folder, SHARDS[0])
        except BenchBuildError as error:
            refused.append(str(error))
        assert before <= set(folder.parts.paths())
        assert not status_of(folder).damaged
        assert not list(folder.path.glob("parts/*.aside"))
        rng.choice(folder.parts.paths() or [tmp_path / "none"]).unlink(missing_ok=True)
    assert 0 < len(refused) < ROUNDS
    assert all(f"can't write {folder.path}" in line for line in refused)
    go_on(folder, SHARDS[0])
    merge([folder.path], tmp_path / "table")
    assert content(tmp_path / "table") == content(unharmed.with_name("table"))


def test_of_two_processes_on_one_shard_one_does_each_job(
    unharmed: Path, tmp_path: Path, run: TrainRun
) -> None:
    folder = RunFolder.begin(tmp_path / "run", run)
    words = [sys.executable, "-c", WRITER, str(folder.path)]
    both = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [one.communicate() for one in both]
    codes = [one.returncode for one in both]
    assert 0 in codes
    for code, (_, errors) in zip(codes, told, strict=True):
        assert code == 0 or "is being run by another process" in errors
    said = [line for lines, _ in told for line in lines.splitlines() if line != "begun"]
    assert len(said) == len(set(said)) == len(kind_of("train").keys(run)), "a job ran twice"
    merge([folder.path], tmp_path / "table")
    assert content(tmp_path / "table") == content(unharmed.with_name("table"))
