"""Shards of runs with ``--batch``: seeds that can be joined are in the same one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from benchbuild import api
from benchbuild.errors import MergeError, RunFolderError
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.runfolder import RUN, RunFolder
from benchbuild.pipeline.runner import shard_keys
from benchquery import lightread
from benchquery.table.sealed import seal
from tests.benchbuild.runs import benchbuild, figures, finish, rows, start, times, wait_for_parts
from tests.benchbuild.test_old_runs import FOLDER, LOCAL, TRAIN

JOBS = ["train", "--dataset", "karate", "--sample", "7", "--seeds", "3", "--epochs", "40", *LOCAL]
"""Twenty-one jobs: three seeds of seven architectures."""


def shard(out: Path, index: int, *options: str) -> list[str]:
    """Return the command of a shard of three."""
    return [*JOBS, "--shard", f"{index}/3", "--out", str(out), *options]


def jobs(out: Path) -> set[tuple[int, int]]:
    """Return the jobs that have a record."""
    return {(row["hash"], row["seed"]) for row in rows(out)}


def batches(out: Path) -> set[str | None]:
    """Return how many jobs of a run were trained together."""
    return {json.loads(row["environment"]).get("batch") for row in rows(out)}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the whole run, its jobs trained one by one."""
    out = tmp_path_factory.mktemp("whole") / "run"
    assert benchbuild(*JOBS, "--out", out) == 0
    return out


def test_shards_of_batches_make_the_table_of_a_run_without(
    alone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each in a folder of its own; the first is killed and resumed."""
    nodes = [tmp_path / f"node-{index}" for index in (1, 2, 3)]
    killed = start(*shard(nodes[0], 1, "--batch", "3"))
    wait_for_parts(nodes[0], killed)
    killed.kill()
    finish(killed)
    kept = times(nodes[0])
    for index, node in enumerate(nodes, start=1):
        if index == 3:
            with pytest.raises(MergeError, match="jobs missing"):
                api.merge(nodes[:2], tmp_path / "gaps")
        assert benchbuild(*shard(node, index, "--batch", "3")) == 0
        assert batches(node) == {"3"}
    assert len(kept) % 3 == 0
    assert 0 < len(kept) < len(times(nodes[0])), "the kill came too late"
    assert kept.items() <= times(nodes[0]).items(), "a finished job ran again"
    assert sum(len(jobs(node)) for node in nodes) == 21
    capsys.readouterr()
    assert str(api.merge(nodes, tmp_path / "batches")).endswith("7 architectures on 'karate'")
    api.merge([alone], tmp_path / "alone")
    assert sorted(chain.from_iterable(map(figures, nodes))) == figures(alone)
    first, second = (lightread("karate", source=tmp_path / name) for name in ("batches", "alone"))
    for number in second:
        for seed in range(3):
            assert (
                first.curve(number, seed=seed).tolist() == second.curve(number, seed=seed).tolist()
            )


def test_what_is_planned_is_what_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"

    def planned(*options: str) -> list[int]:
        counts = []
        for index in (1, 2, 3):
            assert benchbuild(*shard(out, index, "--dry-run", *options)) == 0
            said = capsys.readouterr().out.split(" jobs in all, ")[1]
            counts.append(int(said.split(" in shard")[0]))
        return counts

    joined, apart = planned("--batch", "3"), planned()
    assert sum(joined) == sum(apart) == 21
    assert {count % 3 for count in joined} == {0}
    assert {count % 3 for count in apart} != {0}
    assert benchbuild(*shard(out, 2, "--batch", "3")) == 0
    assert len(jobs(out)) == joined[1]
    assert planned() == joined, "the folder says how its jobs are dealt"
    assert benchbuild("status", out) == 0
    assert f"shard    2/3: {joined[1]} of {joined[1]} jobs done" in capsys.readouterr().out


def test_the_first_shard_decides_how_jobs_are_dealt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    joined, apart = tmp_path / "joined", tmp_path / "apart"
    assert benchbuild(*shard(joined, 1, "--batch", "3")) == 0
    assert benchbuild(*shard(apart, 1)) == 0
    assert "warning" not in capsys.readouterr().err
    assert benchbuild(*shard(joined, 2)) == 0
    assert "warning" not in capsys.readouterr().err
    assert benchbuild(*shard(apart, 2, "--batch", "3")) == 0
    assert f"warning: {apart} was begun without --batch" in capsys.readouterr().err
    assert '"joined"' not in (apart / RUN).read_text()
    for out, sure in ((joined, True), (apart, False)):
        run = RunFolder.open(out).run
        assert run.joined is sure
        assert jobs(out) == {tuple(key) for i in (1, 2) for key in shard_keys(run, Shard(i, 3))}
    assert RunFolder.open(apart).run.digest == RunFolder.open(joined).run.digest
    with pytest.raises(MergeError, match="not the same in all folders: only some were begun with"):
        api.merge([joined, apart], tmp_path / "table")


def test_tasks_of_a_cluster_that_begin_a_run_at_once_agree(
    alone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    words = [*JOBS, "--batch", "2", "--out", str(out)]
    assert benchbuild("slurm-script", "--shards", "3", *words) == 0
    script = capsys.readouterr().out
    tasks = [
        subprocess.Popen(["bash", "-c", script], env={**os.environ, "SLURM_ARRAY_TASK_ID": index})
        for index in "123"
    ]
    assert [task.wait() for task in tasks] == [0, 0, 0]
    assert figures(out) == figures(alone)
    assert batches(out) == {"2", None}, "three seeds are two and one"


def test_an_old_run_goes_on_as_it_was_dealt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = sorted(jobs(FOLDER / "train"))
    out = shutil.copytree(FOLDER / "train", tmp_path / "run")
    for part in out.glob("parts/*"):
        part.unlink()
    before = (out / RUN).read_bytes()
    run = RunFolder.open(out).run
    words = ["train", *TRAIN, *LOCAL, "--round-valid", "3", "--out", str(out), "--batch", "2"]
    for index in (1, 2):
        assert benchbuild(*words, "--shard", f"{index}/2") == 0
        assert "was begun without --batch" in capsys.readouterr().err
        done = {tuple(key) for i in range(1, index + 1) for key in shard_keys(run, Shard(i, 2))}
        assert jobs(out) == done
    assert sorted(jobs(out)) == whole
    assert (out / RUN).read_bytes() == before


@pytest.mark.parametrize("said", [1, "true", None])
def test_a_run_that_says_something_else_of_it_is_refused(said: Any, tmp_path: Path) -> None:
    out = shutil.copytree(FOLDER / "train", tmp_path / "run")
    body = json.loads((out / RUN).read_text())
    (out / RUN).write_text(seal({**body, "version": 2, "joined": said}))
    with pytest.raises(RunFolderError, match="joined: neither true nor false"):
        RunFolder.open(out)
