"""A kind that this project knows nothing of: a package of its own, and no edit anywhere else.

``tests/toy_kind`` holds one module for each side. It is installed beside the project, as pip would,
and then everything works on it: run, shard, kill, resume, merge, verify, show, top, pareto, export,
plot, report, the explorer.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tests" / "toy_kind"
ONE = ("--device", "cpu", "--workers", "1")


def steps_of(number: int) -> int:
    """The independent computation."""
    return 0 if number == 1 else 1 + steps_of(3 * number + 1 if number % 2 else number // 2)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the path with the package installed in it."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(PACKAGE / "collatz", folder / "collatz")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"]
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


class Shell:
    """The real commands, with the package on their path."""

    def __init__(self, site: Path, folder: Path) -> None:
        self.folder = folder
        self._env = os.environ | {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", *words], cwd=self.folder, env=self._env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def __call__(self, *words: str, code: int = 0) -> str:
        process = self.start(*words)
        out, err = process.communicate(timeout=300)
        assert process.returncode == code, (words, out, err)
        return out if code == 0 else err

    def rows(self, *words: str) -> Any:
        return json.loads(self("benchquery", *words, "--json"))

    def python(self, code: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=self.folder, env=self._env, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def shell(site: Path, tmp_path: Path) -> Shell:
    return Shell(site, tmp_path)


@pytest.fixture(scope="module")
def built(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A folder with a table that was built in three shards."""
    shell = Shell(site, tmp_path_factory.mktemp("built"))
    for shard in ("1/3", "2/3", "3/3"):
        shell("benchbuild", "collatz", "--upto", "30", "--shard", shard, "--out", "run", *ONE)
    said = shell("benchbuild", "merge", "run", "--out", "tables/collatz")
    assert said.strip() == "tables/collatz: 30 numbers on 'collatz'"
    assert "no problems found" in shell("benchbuild", "verify", "tables/collatz")
    return shell


def test_it_is_planned_sharded_run_merged_and_verified(built: Shell) -> None:
    status = json.loads(built("benchbuild", "status", "run", "--json"))
    assert (status["jobs"], status["done"], status["missing"]) == (30, 30, 0)
    assert [shard["jobs"] for shard in status["shards"]] == [
        shard["done"] for shard in status["shards"]
    ]
    assert "no problems found" in built("benchbuild", "verify", "run")
    assert "30 jobs in all" in built("benchbuild", "collatz", "--upto", "30", "--dry-run")
    assert built.rows("verify", "collatz", "--source", "tables")[0]["status"] == "ok"


def test_a_killed_run_goes_on_where_it_was(shell: Shell) -> None:
    words = ("benchbuild", "collatz", "--upto", "40", "--pause", "0.05", "--out", "run", *ONE)
    process = shell.start(*words)
    parts = shell.folder / "run" / "parts"
    while process.poll() is None and not list(parts.glob("*.parquet")):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = json.loads(shell("benchbuild", "status", "run", "--json"))["done"]
    assert 0 < before < 40
    said = shell(*words)
    assert f"40 jobs, {before} finished before, now {40 - before} ok" in said
    shell("benchbuild", "merge", "run", "--out", "tables/collatz")
    rows = shell.rows("top", "collatz", "--source", "tables", "-k", "40")
    assert {row["number"]: row["steps"] for row in rows} == {
        number: steps_of(number) for number in range(1, 41)
    }


def test_failures_are_rows_and_bad_settings_are_refused(shell: Shell) -> None:
    assert "most=0 is not allowed" in shell("benchbuild", "collatz", "--most", "0", code=2)
    shell("benchbuild", "collatz", "--upto", "30", "--most", "100", "--out", "run", *ONE)
    shell("benchbuild", "merge", "run", "--out", "tables/collatz")
    (failed,) = shell.rows("top", "collatz", "--source", "tables", "--where", "status == failed")
    assert (failed["number"], failed["steps"]) == (27, -1)
    assert "27 is not at 1 after 100 steps" in failed["reason"]
    said = shell("benchbuild", "collatz", "--upto", "30", "--most", "90", "--out", "run", code=2)
    assert "holds another run: settings.most is 100 there, 90 here" in said


def test_its_table_is_asked_like_every_other(built: Shell) -> None:
    best = built.rows("top", "collatz", "--source", "tables", "-k", "1")[0]
    assert (best["number"], best["steps"], best["rank"], best["by"]) == (27, 111, 1, "steps")
    shown = built.rows("show", "collatz", "--source", "tables", "--number", "7")
    assert (shown["steps"], shown["peak"]) == (16, 52)
    assert "number 7 of collatz" in built(
        "benchquery", "show", "collatz", "--source", "tables", "--number", "7"
    )
    front = built.rows("pareto", "collatz", "--source", "tables")
    points = [(row["steps"], row["peak"]) for row in front]
    assert not [p for p in points for q in points if q[0] > p[0] and q[1] <= p[1]]
    odd = built.rows("top", "collatz", "--source", "tables", "--where", "parity == odd", "-k", "9")
    assert all(row["number"] % 2 for row in odd)
    assert "did you mean 'odd'" in built(
        "benchquery", "top", "collatz", "--source", "tables", "--where", "parity == od", code=2
    )
    for ending in (".csv", ".parquet", ".json"):
        done = built.rows("export", "collatz", "--source", "tables", "-o", f"numbers{ending}")
        assert done["rows"] == 30
    kinds = {row["kind"]: row["rows"] for row in built.rows("ls", "kinds")}
    assert kinds["numbers"] == "numbers"


def test_it_is_drawn_reported_and_explored(built: Shell) -> None:
    built("benchquery", "plot", "collatz", "steps", "--source", "tables", "-o", "steps.svg")
    assert "<svg" in (built.folder / "steps.svg").read_text()
    built("benchquery", "report", "collatz", "--source", "tables", "-o", "report.html")
    page = (built.folder / "report.html").read_text()
    assert "The ten best by steps" in page
    assert "<svg" in page
    built("benchquery", "explore", "--source", "tables", "--export", "site")
    catalogue = json.loads((built.folder / "site" / "data" / "catalogue.json").read_text())
    (table,) = catalogue["tables"]
    assert (table["name"], table["kind"], table["rows"]) == ("collatz", "numbers", 30)
    assert (built.folder / "site" / "data" / "tables" / "collatz.arrow.gz").is_file()


def test_python_opens_it_and_benchquery_imports_no_jobs(built: Shell) -> None:
    printed = built.python(
        "import sys, benchquery; t = benchquery.open('collatz', 'tables');"
        "import pickle; t = pickle.loads(pickle.dumps(t));"
        "print(len(t), t[27]['steps'], t.rank(27), t.best()['number']);"
        "print('collatz.jobs' in sys.modules)"
    )
    assert printed.split() == ["30", "111", "1", "27", "False"]


def test_without_the_package_the_message_says_what_is_missing(built: Shell, tmp_path: Path) -> None:
    alone = Shell(tmp_path, built.folder)
    said = alone("benchquery", "top", "collatz", "--source", "tables", code=2)
    assert "unknown kind of table 'numbers'" in said
    assert "entry point group 'graphtab.kinds'" in said
    said = alone("benchbuild", "status", "run", code=2)
    assert "unknown kind of job 'collatz'" in said
    rows = alone.rows("datasets", "--source", "tables")
    assert rows[0]["kind"] == "numbers"
