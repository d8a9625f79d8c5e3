"""Nothing is ever lost: kills at random points, signals, full disks, two at once."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.pipeline.status import status_of
from benchbuild.testing import synthetic_run
from benchquery import lightread
from tests.benchbuild.pages import ROOT, install
from tests.benchbuild.runs import (
    alongside,
    benchbuild,
    endless,
    figures,
    finish,
    rows,
    start,
    times,
    train,
    wait_for_parts,
    workers_of,
)

ROUNDS = int(os.environ.get("GRAPHTAB_KILL_ROUNDS", "2"))
"""Kills of a whole training run; each takes some seconds."""

WRITER_ROUNDS = 10 * ROUNDS
"""Kills of a process that only writes records."""

WRITER = """
import sys
from pathlib import Path
from benchbuild.pipeline import parts
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.testing import synthetic_record

parts.SMALL_PARTS, parts.PART_ROWS = 9, 40
folder = RunFolder.open(Path(sys.argv[1]))
with folder.lock(Shard()):
    store = folder.parts
    done, damaged = store.resume(Shard())
    assert not damaged, damaged
    print("begun", flush=True)
    for key in kind_of("train").keys(folder.run):
        if key not in done:
            store.add(Shard(), [synthetic_record(folder.run, key)])
            print(*key, flush=True)
    store.gather(Shard())
"""


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing happened to, with one worker."""
    out = tmp_path_factory.mktemp("whole") / "run"
    assert benchbuild(*train(out, workers=1)) == 0
    return out


@pytest.mark.slow
def test_a_writer_killed_at_random_points_loses_nothing(tmp_path: Path) -> None:
    run = synthetic_run(sample=150, seeds=[0, 1, 2], epochs=4)
    folder = RunFolder.begin(tmp_path / "run", run)
    dice = random.Random(1)
    safe: set[tuple[int, ...]] = set()
    kills = 0
    while len(safe) < 450:
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder.path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        if kills < WRITER_ROUNDS:
            time.sleep(dice.uniform(0.0, 0.15))
            process.kill()
            kills += 1
        told = [tuple(map(int, line.split())) for line in process.stdout if line.endswith("\n")]
        process.wait()
        assert not safe & set(told), "a finished job ran again"
        safe |= set(told)
        there = {(row["hash"], row["seed"]) for row in rows(folder.path)}
        assert safe <= there, "an acknowledged record is gone"
        safe |= there
    assert safe == set(kind_of("train").keys(run))
    assert kills >= ROUNDS
    merge([folder.path], tmp_path / "killed")
    whole = RunFolder.begin(tmp_path / "whole", run)
    subprocess.run([sys.executable, "-c", WRITER, str(whole.path)], check=True, text=True)
    merge([whole.path], tmp_path / "unharmed")
    for name in ("summary.parquet", "curves.h5", "manifest.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (
            tmp_path / "unharmed" / name
        ).read_bytes()


@pytest.mark.slow
def test_a_run_killed_at_random_points_resumes_to_the_same_records(
    tmp_path: Path, uninterrupted: Path
) -> None:
    dice = random.Random(2)
    for number in range(ROUNDS):
        out = tmp_path / str(number)
        process = start(*train(out))
        wait_for_parts(out, process)
        time.sleep(dice.uniform(0.0, 0.4))
        process.kill()
        finish(process)
        kept = times(out)
        assert benchbuild(*train(out)) == 0
        after = times(out)
        assert {key: after[key] for key in kept} == kept, "a finished job ran again"
        assert figures(out) == figures(uninterrupted)
        assert not list(out.glob("parts/*.aside"))


def test_the_workers_of_a_killed_run_go_too(tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = start(*endless(out))
    while process.poll() is None and not out.exists():
        time.sleep(0.05)
    workers = workers_of(process.pid)
    assert workers
    process.kill()
    finish(process)
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert not alive


def test_a_worker_that_dies_takes_nothing_with_it(tmp_path: Path, uninterrupted: Path) -> None:
    out = tmp_path / "run"
    killed: list[int] = []

    def kill_two() -> None:
        wait_for_parts(out)
        for worker in workers_of(os.getpid()):
            worker.kill()
            killed.append(worker.pid)

    thread = alongside(kill_two)
    assert benchbuild(*train(out)) == 0
    thread.join()
    assert len(killed) == 2
    assert "SIGKILL" in RunFolder.open(out).log_path(Shard()).read_text()
    assert figures(out) == figures(uninterrupted)


def test_a_job_that_kills_its_workers_becomes_a_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"

    def kill_all() -> None:
        while not (out / "parts").exists():
            time.sleep(0.05)
        while not list(out.glob("parts/*.parquet")):
            for worker in workers_of(os.getpid()):
                worker.kill()
            time.sleep(1.0)

    thread = alongside(kill_all)
    assert benchbuild(*endless(out)) == 1, "no job of the run has a result"
    thread.join()
    (row,) = rows(out)
    assert (row["hash"], row["seed"], row["status"]) == (10000, 0, "failed")
    assert "SIGKILL" in row["reason"]
    assert "1 failed" in capsys.readouterr().out


def test_sigterm_ends_a_run_with_a_message(
    tmp_path: Path, uninterrupted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"

    def stop() -> None:
        wait_for_parts(out)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = alongside(stop)
    assert benchbuild(*train(out)) == 143
    thread.join()
    told = capsys.readouterr().err
    assert "SIGTERM" in told
    assert "run the same command again" in told
    kept = times(out)
    assert kept
    assert benchbuild(*train(out)) == 0
    assert {key: times(out)[key] for key in kept} == kept
    assert figures(out) == figures(uninterrupted)


def test_ctrl_c_ends_a_run_with_a_message(tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = start(*train(out), start_new_session=True)
    wait_for_parts(out, process)
    os.killpg(process.pid, signal.SIGINT)
    _, told = finish(process)
    assert process.returncode == 130
    assert "SIGINT" in told
    assert "Traceback" not in told
    assert times(out)


@pytest.mark.slow
def test_processes_on_one_shard_or_overlapping_ones_do_no_harm(
    tmp_path: Path, uninterrupted: Path
) -> None:
    out = tmp_path / "run"
    shards = ("1/1", "1/1", "1/2")
    processes = [start(*train(out, "--shard", shard, workers=1)) for shard in shards]
    told = [finish(process)[1] for process in processes]
    codes = [process.returncode for process in processes]
    assert 0 in codes[:2]
    assert codes[2] == 0
    for code, text in zip(codes, told, strict=True):
        assert code == 0 or (code == 2 and "being run by another process" in text)
    assert set(figures(out)) == set(figures(uninterrupted))
    merge([out], tmp_path / "table")


SLOW = """
import time

def load_slowly(root):
    (root / "begun").touch()
    time.sleep(600)
"""


def test_a_run_that_is_still_loading_stops_at_once(tmp_path: Path) -> None:
    install(tmp_path, "slow", SLOW, "graphtab.datasets", {"slow": "slow:load_slowly"})
    words = ["train", "--dataset", "slow", "--workers", "1", "--device", "cpu"]
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    process = start(*words, "--data-root", tmp_path, "--out", tmp_path / "run", env=environment)
    while not (tmp_path / "begun").exists():
        assert process.poll() is None, finish(process)
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, told = finish(process, timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert told == "benchbuild: stopped by SIGTERM\n"
    assert not (tmp_path / "run").exists()


def test_a_full_disk_is_a_clear_error_and_harms_nothing(
    tmp_path: Path, uninterrupted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert benchbuild(*train(out, "--shard", "1/2")) == 0
    before = times(out)
    capsys.readouterr()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, limits[1]))
    try:
        code = benchbuild(*train(out, "--shard", "2/2"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    told = capsys.readouterr().err
    assert code == 2
    assert told.count("\n") == 1
    assert f"can't write {out}" in told
    assert times(out) == before
    assert not list(out.glob("parts/*.aside"))
    assert benchbuild(*train(out, "--shard", "2/2")) == 0
    assert figures(out) == figures(uninterrupted)


def test_shards_make_the_same_records_as_the_whole(tmp_path: Path, uninterrupted: Path) -> None:
    folders = [tmp_path / str(index) for index in (1, 2, 3)]
    for index, out in enumerate(folders, start=1):
        assert benchbuild(*train(out, "--shard", f"{index}/3", workers=1)) == 0
    assert sorted(row for out in folders for row in figures(out)) == figures(uninterrupted)
    merge(folders, tmp_path / "shards")
    merge([uninterrupted], tmp_path / "whole")
    names = ("hash", "perf", "valid_perf", "params", "best_epoch", "status")
    shards, whole = (lightread("karate", source=tmp_path / name) for name in ("shards", "whole"))
    for name in names:
        assert shards.column(name).tolist() == whole.column(name).tolist()


def test_a_failed_job_is_run_again_on_demand(tmp_path: Path, uninterrupted: Path) -> None:
    run = RunFolder.open(uninterrupted).run
    kind = kind_of("train")
    folder = RunFolder.begin(tmp_path / "run", run)
    failed = [kind.record.without_result(key, "out of luck") for key in kind.keys(run)[:3]]
    folder.parts.add(Shard(), failed)
    assert benchbuild(*train(folder.path)) == 0
    assert status_of(folder).failed == 3
    assert benchbuild(*train(folder.path, "--retry-failed")) == 0
    assert status_of(folder).failed == 0
    merge([folder.path], tmp_path / "table")
