"""Runs of the real command on the real trainer, for the tests beside this file."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil

from benchbuild.cli import main
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder

JOBS = ("--dataset", "karate", "--sample", "6", "--seeds", "2", "--epochs", "6")
"""Twelve short jobs."""


def command(*args: str | Path) -> list[str]:
    return [sys.executable, "-m", "benchbuild", *map(str, args)]


def benchbuild(*args: str | Path) -> int:
    """Run a command in this process, whose workers have torch imported after the first time."""
    return main([*map(str, args)])


def alongside(action: Callable[[], None]) -> threading.Thread:
    """Do something while a command runs in this process."""
    thread = threading.Thread(target=action)
    thread.start()
    return thread


def start(*args: str | Path, **options: Any) -> subprocess.Popen[str]:
    """Start a command and go on."""
    return subprocess.Popen(
        command(*args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def train(out: Path, *args: str, workers: int = 2) -> list[str | Path]:
    return ["train", *JOBS, "--device", "cpu", "--workers", str(workers), "--out", out, *args]


def endless(out: Path) -> list[str | Path]:
    """A run of one job that does not end within a test."""
    jobs = ["--dataset", "karate", "--archs", "10000", "--seeds", "1", "--epochs", "1000000"]
    return ["train", *jobs, "--device", "cpu", "--workers", "1", "--out", out]


def rows(out: Path) -> list[dict[str, Any]]:
    """All records of a run, as they lie there."""
    parts = RunFolder.open(out).parts
    return [row for part in parts.scan() for row in part.table.to_pylist()]


def figures(out: Path) -> list[tuple[Any, ...]]:
    """The records of a run without what differs from run to run; NaN as text."""
    fields = kind_of(RunFolder.open(out).run.kind).record.columns()
    names = [field.name for field in fields if field.role != "measurement"]
    return sorted(tuple(repr(row[name]) for name in names) for row in rows(out))


def times(out: Path) -> dict[tuple[int, int], float]:
    """When each job was finished."""
    return {(row["hash"], row["seed"]): row["finished"] for row in rows(out)}


def wait_for_parts(out: Path, process: subprocess.Popen[str] | None = None) -> None:
    """Wait until a run has written something, or has ended."""
    while (process is None or process.poll() is None) and not list(out.glob("parts/*.parquet")):
        time.sleep(0.01)


def workers_of(pid: int) -> list[psutil.Process]:
    """The worker processes of a run: the children of its fork server."""
    try:
        servers = psutil.Process(pid).children()
        return [child for server in servers for child in server.children()]
    except psutil.NoSuchProcess:
        return []


def finish(process: subprocess.Popen[str], timeout: float = 600) -> Sequence[str]:
    """Wait for the end of a command; gives what it printed."""
    return process.communicate(timeout=timeout)
