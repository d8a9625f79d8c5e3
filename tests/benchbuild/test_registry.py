"""Kinds of job by name: those of this package, and those that other packages install."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchbuild.commands import load, runners
from benchbuild.errors import KindError
from benchbuild.pipeline.parts import arrow_schema
from benchbuild.pipeline.registry import BUILT_IN, GROUP, kind_names, kind_of
from tests.benchbuild.pages import install, run_command, run_commands
from tests.benchbuild.squares import MODULE, POINTS, SOURCE

LOCAL = ["--device", "cpu", "--workers", "1"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the path with the package of a kind in it."""
    install(tmp_path, MODULE, SOURCE, GROUP, POINTS)
    return tmp_path


def squares(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_command(folder, ["benchbuild", "squares", *words])


def test_every_kind_of_this_package_answers_to_its_name() -> None:
    assert kind_names()[: len(BUILT_IN)] == list(BUILT_IN)
    for name in BUILT_IN:
        kind = kind_of(name)
        assert kind.name == name
        assert arrow_schema(kind.record).names[-4:] == ["status", "reason", "finished", "host"]


def test_commands_come_from_the_kinds_with_training_first() -> None:
    names = [command.NAME for command in load()]
    assert names[:5] == ["train", "status", "merge", "verify", "datasets"]
    assert names[-2:] == ["submit", "slurm-script"]
    assert list(runners()) == ["train", "tune", "darts", "condense", "evaluate"]


def test_an_unknown_kind_is_named_with_those_there_are() -> None:
    with pytest.raises(KindError, match=r"'nosuch'; there are train, tune"):
        kind_of("nosuch")


def test_asking_for_one_kind_imports_no_other() -> None:
    code = (
        "import sys\n"
        "from benchbuild.pipeline.registry import kind_of\n"
        "import benchbuild.pipeline.verify, benchbuild.pipeline.merge, benchbuild.engines.local\n"
        "assert not [name for name in sys.modules if name.startswith('benchbuild.kinds.')]\n"
        "kind_of('train')\n"
        "assert 'benchbuild.kinds.condense.kind' not in sys.modules\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_installed_kind_runs_resumes_and_verifies(folder: Path) -> None:
    first = squares(folder, "--upto", "4", "--shard", "1/2", *LOCAL)
    assert first.returncode == 0, first.stderr
    assert "results go to runs/numbers-squares" in first.stderr
    run = "runs/numbers-squares"
    done, asked, verified, merged, script = run_commands(
        folder,
        [
            ["benchbuild", "squares", "--upto", "4", *LOCAL],
            ["benchbuild", "status", run, "--json"],
            ["benchbuild", "verify", run],
            ["benchbuild", "merge", run, "--out", "table"],
            ["benchbuild", "slurm-script", "--shards", "2", "squares"],
        ],
    )
    assert done.returncode == 0, done.stderr
    assert "4 jobs, 2 finished before, now 2 ok" in done.stdout
    status = json.loads(asked.stdout)
    assert (status["kind"], status["done"], status["failed"]) == ("squares", 4, 0)
    assert verified.returncode == 0
    assert merged.returncode == 2
    assert "runs of benchbuild squares make no table" in merged.stderr
    assert script.returncode == 2
    assert "--upto" in script.stderr


def test_a_run_whose_every_job_failed_ends_with_1(folder: Path) -> None:
    three = ["benchbuild", "squares", "--upto", "3", *LOCAL]
    all_fail = [*three, "--failing", "3", "--out", "every"]
    some, every, again = run_commands(
        folder, [[*three, "--failing", "2", "--out", "some"], all_fail, all_fail]
    )
    assert some.returncode == 0
    assert "1 ok, 2 failed" in some.stdout
    assert every.returncode == 1
    assert "3 failed; every job failed" in every.stdout
    assert again.returncode == 0, "nothing was run"


def test_settings_that_are_not_allowed_are_refused_before_anything_runs(folder: Path) -> None:
    done = squares(folder, "--upto", "3", "--failing", "-1", *LOCAL)
    assert done.returncode == 2
    assert done.stderr == "benchbuild: error: failing=-1 is not allowed: must be from 0 up\n"
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("no_such_module:JOB", "can't import no_such_module:JOB: ModuleNotFoundError"),
        ("json:JOB", "can't import json:JOB: AttributeError"),
        ("wrong_kind:JOB", "wrong_kind:JOB is no benchbuild.pipeline.jobs.JobKind but int"),
        ("toy_squares:JOB", "toy_squares:JOB calls itself 'squares'"),
    ],
)
def test_a_package_that_is_broken_is_named(tmp_path: Path, reference: str, told: str) -> None:
    install(tmp_path, MODULE, SOURCE, "unused", {})
    install(tmp_path, "wrong_kind", "JOB = 3", GROUP, {"broken": reference})
    done = run_command(tmp_path, ["benchbuild", "datasets"])
    assert done.returncode == 2
    assert done.stderr.startswith("benchbuild: error: kind of job 'broken': ")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_run_of_a_kind_that_is_not_installed_is_named(folder: Path, tmp_path: Path) -> None:
    assert squares(folder, "--upto", "1", "--out", "run", *LOCAL).returncode == 0
    (folder / f"{MODULE}-1.0.dist-info" / "entry_points.txt").unlink()
    done = run_command(folder, ["benchbuild", "status", "run"])
    assert done.returncode == 2
    assert "unknown kind of job 'squares'" in done.stderr
