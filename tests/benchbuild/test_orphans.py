"""No process outlives a killed command, whatever it is doing just then."""

from __future__ import annotations

import os
import random
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from benchbuild.pipeline.registry import GROUP
from tests.benchbuild.pages import ROOT, install
from tests.benchbuild.runs import finish, start
from tests.benchbuild.squares import MODULE, POINTS, SOURCE

PATIENCE = 60.0
"""Seconds until a process counts as one that stays; what they are busy with takes much longer."""

SLOW = """
import time
from pathlib import Path

Path("begun").touch()
time.sleep(3600)
"""
"""A module that is very slow to import."""

PRELOADING = ('    name = "squares"\n', '    name = "squares"\n    preload = ("slow_import",)\n')

GREEDY = (
    "        return SquareRecord",
    "        import pathlib, re\n"
    "        pathlib.Path('begun').touch()\n"
    "        re.fullmatch('(a+)+b', 'a' * 60)\n"
    "        return SquareRecord",
)
"""A job that never gives the interpreter to another thread, and takes longer than any test."""

LOADING = (
    "    def open(self, settings, place):\n",
    "    def open(self, settings, place):\n"
    "        import pathlib, time\n"
    "        pathlib.Path('begun').touch()\n"
    "        time.sleep(3600)\n",
)
"""A worker that loads its data for very long."""


def begin(folder: Path, change: tuple[str, str]) -> subprocess.Popen[str]:
    """Start a run and wait until it does what the change makes it do."""
    process = launch(folder, change)
    while not (folder / "begun").exists():
        assert process.poll() is None, finish(process)
        time.sleep(0.05)
    return process


def launch(folder: Path, change: tuple[str, str]) -> subprocess.Popen[str]:
    """Start a run in a session of its own."""
    assert change[0] in SOURCE
    install(folder, MODULE, SOURCE.replace(*change), GROUP, POINTS)
    (folder / "slow_import.py").write_text(SLOW)
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    words = ["squares", "--upto", "4", "--workers", "2", "--device", "cpu", "--out", "run"]
    return start(*words, env=environment, cwd=folder, start_new_session=True)


def session_of(pid: int) -> list[psutil.Process]:
    """All processes of the session that a process began, whoever started them."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != pid and os.getsid(process.pid) == pid:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


@pytest.mark.parametrize(
    "change", [PRELOADING, LOADING, GREEDY], ids=["importing", "loading", "working"]
)
def test_nothing_outlives_a_killed_command(tmp_path: Path, change: tuple[str, str]) -> None:
    process = begin(tmp_path, change)
    family = psutil.Process(process.pid).children(recursive=True)
    assert len(family) >= (2 if change is PRELOADING else 3)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(family, timeout=PATIENCE)
    for left in alive:
        left.kill()
    assert not alive


@pytest.mark.parametrize("seed", range(2))
def test_nothing_outlives_a_command_that_is_killed_at_a_random_moment(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    process = launch(tmp_path, rng.choice([LOADING, GREEDY]))
    while not psutil.Process(process.pid).children():
        assert process.poll() is None, finish(process)
        time.sleep(0.02)
    time.sleep(rng.uniform(0.0, 1.5))
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(session_of(process.pid), timeout=PATIENCE)
    for left in alive:
        left.kill()
    assert not alive
    assert not session_of(process.pid)
