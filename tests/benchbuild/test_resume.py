"""Going on with a run: after a kill, after losses, beside another process, in a wrong folder."""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
import time
from pathlib import Path

import pytest

from benchbuild.fuzzing.sample_runs import write_tables
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.runfolder import RUN, RunFolder
from tests.benchbuild.runs import (
    benchbuild,
    figures,
    finish,
    rows,
    start,
    train,
    wait_for_parts,
)

LOCAL = ("--device", "cpu", "--workers", "1")
SEVERAL = ("--seed", "0,1,2", "--hp", "evaluate_every=3", "--eval-seeds", "2")
CONDENSE = {
    "nodes": [
        *("--dataset", "karate", "--method", "gcond", "--ratio", "0.3", "--hp", "epochs=12"),
        *("--hp", "hidden=8", "--eval-hp", "epochs=20", "--eval-hp", "hidden=8"),
    ],
    "graphs": [
        *("--dataset", "motifs:graphs=60", "--method", "doscond", "--per-class", "2"),
        *("--hp", "epochs=12", "--hp", "hidden=8", "--hp", "batch=16"),
        *("--eval-hp", "epochs=10", "--eval-hp", "hidden=8"),
    ],
    "images": [
        *("--dataset", "digits:train=100,valid=20,test=20", "--method", "dc", "--per-class", "1"),
        *("--hp", "epochs=6", "--hp", "width=4", "--hp", "batch=16", "--eval-hp", "epochs=10"),
        *("--eval-hp", "width=4", "--eval-hp", "full_epochs=1"),
    ],
}
"""By domain: gradient matching that is over soon."""
EVALUATE = {
    "nodes": ("--models", "gcn,sgc", "--eval-hp", "epochs=60", "--eval-hp", "hidden=8"),
    "graphs": ("--models", "gcn,gin", "--eval-hp", "epochs=20", "--eval-hp", "hidden=8"),
    "images": (
        *("--models", "mlp,convnet", "--eval-hp", "epochs=20", "--eval-hp", "width=4"),
        *("--eval-hp", "full_epochs=2"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("domain", CONDENSE)
@pytest.mark.parametrize("command", ["condense", "evaluate"])
def test_a_killed_run_resumes_to_the_figures_of_an_undisturbed_one(
    tmp_path: Path, fuzzing: Path, command: str, domain: str
) -> None:
    words = ["condense", *CONDENSE[domain], *SEVERAL, *LOCAL]
    if command == "evaluate":
        table = write_tables(fuzzing / "samples")[domain]
        words = ["evaluate", str(table), *EVALUATE[domain], "--seeds", "2", *LOCAL]
    whole, out = tmp_path / "whole", tmp_path / "killed"
    assert benchbuild(*words, "--out", whole) == 0
    process = start(*words, "--out", out)
    wait_for_parts(out, process)
    time.sleep(random.Random(len(words)).uniform(0.0, 0.1))
    process.kill()
    finish(process)
    kept = {row["config"]: row["finished"] for row in rows(out)}
    assert 1 <= len(kept) < len(rows(whole)), "the kill came too late"
    assert benchbuild(*words, "--out", out) == 0
    after = {row["config"]: row["finished"] for row in rows(out)}
    assert {key: after[key] for key in kept} == kept, "a finished job ran again"
    assert {row["status"] for row in rows(out)} == {"ok"}
    assert figures(out) == figures(whole)
    for run, name in ((whole, "table"), (out, "again")):
        assert benchbuild("merge", run, "--out", tmp_path / name) == 0
    assert not list(out.glob("parts/*.aside"))


@pytest.fixture(scope="module")
def three_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run in three parts."""
    out = tmp_path_factory.mktemp("whole") / "run"
    for index in (1, 2, 3):
        assert benchbuild(*train(out, "--shard", f"{index}/3", workers=1)) == 0
    return out


def one_line(capsys: pytest.CaptureFixture[str], kind: str = "benchbuild: error: ") -> str:
    """The one line that a command printed of a kind."""
    lines = capsys.readouterr().err.replace("\r", "\n").split("\n")
    (found,) = [line for line in lines if line.startswith(kind)]
    return found


def test_parts_that_are_lost_between_two_runs_are_made_again(
    three_parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shutil.copytree(three_parts, tmp_path / "run")
    gone, short, _ = sorted(out.glob("parts/*.parquet"))
    gone.unlink()
    short.write_bytes(short.read_bytes()[:-100])
    capsys.readouterr()
    assert benchbuild("merge", out, "--out", tmp_path / "table") == 2
    assert f"{short} is damaged" in one_line(capsys)
    assert benchbuild(*train(out)) == 0
    told = one_line(capsys, "warning: ")
    assert f"{short} is damaged" in told
    assert "its jobs run again" in told
    assert figures(out) == figures(three_parts)
    assert benchbuild("merge", out, "--out", tmp_path / "table") == 0


def test_a_part_that_was_deleted_is_a_gap_that_is_named(
    three_parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shutil.copytree(three_parts, tmp_path / "run")
    next(out.glob("parts/*.parquet")).unlink()
    capsys.readouterr()
    assert benchbuild("merge", out, "--out", tmp_path / "table") == 2
    assert "jobs missing: hash=" in one_line(capsys)


def test_a_part_of_another_run_is_set_aside(
    three_parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shutil.copytree(three_parts, tmp_path / "run")
    other = tmp_path / "other"
    assert benchbuild(*train(other, "--hp", "lr=0.5", workers=1)) == 0
    (strange,) = other.glob("parts/*.parquet")
    shutil.copy(strange, out / "parts")
    capsys.readouterr()
    assert benchbuild("merge", out, "--out", tmp_path / "table") == 2
    assert "belongs to another run" in one_line(capsys)
    assert benchbuild(*train(out)) == 0
    assert "belongs to another run" in one_line(capsys, "warning: ")
    assert figures(out) == figures(three_parts)


def test_a_second_process_on_a_shard_says_who_has_it(
    three_parts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder.open(three_parts)
    with folder.lock(Shard(2, 3)):
        capsys.readouterr()
        assert benchbuild(*train(three_parts, "--shard", "2/3")) == 2
        told = one_line(capsys)
        assert benchbuild(*train(three_parts, "--shard", "1/3")) == 0
    assert f"shard 2/3 in {three_parts} is being run by another process" in told
    assert json.loads(told[told.index("{") : told.index("}") + 1])["pid"] > 0


def test_a_folder_with_a_run_on_another_dataset_is_refused(
    three_parts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word if word != "karate" else "csbm" for word in train(three_parts)]
    capsys.readouterr()
    assert benchbuild(*words) == 2
    told = one_line(capsys)
    assert f"{three_parts} holds another run: " in told
    assert 'settings.dataset is "karate" there, "csbm" here' in told


def test_a_folder_with_other_data_of_the_same_name_is_refused(
    three_parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = RunFolder.open(three_parts).run
    changed = dataclasses.replace(run, facts={**run.facts, "checksum": "0" * 64})
    RunFolder.begin(tmp_path / "run", changed)
    assert benchbuild(*train(tmp_path / "run")) == 2
    assert "facts.checksum is" in one_line(capsys)


def test_a_folder_with_a_run_of_another_recipe_is_refused(
    three_parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = RunFolder.open(three_parts).run
    settings = dataclasses.replace(run.settings, recipe="0")
    RunFolder.begin(tmp_path / "run", dataclasses.replace(run, settings=settings))
    assert benchbuild(*train(tmp_path / "run")) == 2
    assert 'settings.recipe is "0" there' in one_line(capsys)


@pytest.mark.parametrize("command", ["train", "merge", "status", "verify"])
def test_a_folder_of_another_version_is_refused(
    three_parts: Path, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shutil.copytree(three_parts, tmp_path / "run")
    (out / RUN).write_text((out / RUN).read_text().replace('"version": 2', '"version": 99'))
    words = {"train": train(out), "merge": ["merge", out, "--out", tmp_path / "table"]}
    capsys.readouterr()
    assert benchbuild(*words.get(command, [command, out])) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert str(out) in told
    assert RUN in told
