"""What only an installation without torch can show; run by scripts/light.sh."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import benchquery


def test_the_light_package_needs_nothing_heavy() -> None:
    assert importlib.util.find_spec("torch") is None
    assert benchquery.lightread("cora")[61237]["perf"] == 0.8046666666666668


def test_every_table_verifies_and_the_command_answers() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchquery", "verify"], capture_output=True, text=True, check=True
    )
    assert len(done.stdout.splitlines()) == 2 + len(benchquery.tables())
