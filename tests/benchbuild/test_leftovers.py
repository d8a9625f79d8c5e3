"""What a killed merge leaves behind, and what the next one makes of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchbuild.errors import MergeError
from benchbuild.pipeline.merge import merge
from benchquery.errors import QueryError
from tests.benchbuild.test_merge import content, make

FILLING = """
import sys
from pathlib import Path
from benchquery.table.writer import new_table

with new_table(Path(sys.argv[1])) as stage:
    (stage / "curves.h5").write_bytes(b"half of it")
    print("begun", flush=True)
    sys.stdin.read()
"""
"""Fills a table until it is killed."""

REPLACING = """
import os, signal, sys
from pathlib import Path
from benchbuild.cli import main

rename = Path.rename

def rename_and_die(self, target):
    moved = rename(self, target)
    if str(target).endswith(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    return moved

Path.rename = rename_and_die
main(sys.argv[2:])
"""
"""A command that is killed as soon as it has given something a name that ends in a certain way."""


@contextmanager
def filling(table: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is filling a table; killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", FILLING, str(table)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def test_the_next_merge_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    with filling(tmp_path / "table"):
        pass
    (left,) = hidden(tmp_path)
    merge([run], tmp_path / "other")
    assert hidden(tmp_path) == [left], "it is not that table's"
    merge([run], tmp_path / "table")
    assert hidden(tmp_path) == []
    assert content(tmp_path / "table") == content(tmp_path / "other")


def test_a_merge_that_fails_removes_it_too(tmp_path: Path) -> None:
    run = make(tmp_path / "run", [])
    with filling(tmp_path / "table"):
        pass
    with pytest.raises(MergeError):
        merge([run], tmp_path / "table")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_two_merges_at_once_leave_each_other_alone(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    with filling(tmp_path / "table"):
        (stage,) = hidden(tmp_path)
        merge([run], tmp_path / "table")
        assert hidden(tmp_path) == [stage]
        assert (tmp_path / stage / "curves.h5").read_bytes() == b"half of it"
        before = content(tmp_path / "table")
    merge([run], tmp_path / "table", replace=True)
    assert hidden(tmp_path) == []
    assert content(tmp_path / "table") == before


def test_what_only_looks_like_a_leftover_stays(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    mine = [".table-backup00", ".table-x-abcd1234.stage", ".table-.stage", ".table.stage"]
    for name in mine:
        (tmp_path / name).mkdir()
    merge([run], tmp_path / "table")
    assert hidden(tmp_path) == sorted(mine)


@pytest.mark.parametrize("killed_after", [".before", "/table"])
def test_a_table_outlives_a_kill_while_it_is_replaced(tmp_path: Path, killed_after: str) -> None:
    run = make(tmp_path / "run")
    table = tmp_path / "table"
    merge([run], table)
    before = content(table)
    words = ["merge", str(run), "--out", str(table), "--replace"]
    done = subprocess.run([sys.executable, "-c", REPLACING, killed_after, *words], check=False)
    assert done.returncode == -9
    assert hidden(tmp_path)
    assert table.exists() == (killed_after == "/table")
    with pytest.raises(QueryError, match="exists already"):
        merge([run], table)
    assert content(table) == before
    assert hidden(tmp_path) == []
