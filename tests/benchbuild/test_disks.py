"""Disks that are full and folders that can't be written to: one clear line, and nothing is lost."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchbuild.pipeline.verify import problems_in
from tests.benchbuild.runs import benchbuild, figures, finish, start, train
from tests.benchbuild.test_merge import content


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """Mount a disk that is soon full; needs root."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[Path]:
    """Make a folder read-only; for root, whom permissions do not stop, by mounting it so."""
    if os.geteuid() != 0:
        mode = folder.stat().st_mode
        inside = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
        for path in inside:
            path.chmod(0o555)
        try:
            yield folder
        finally:
            for path in inside:
                path.chmod(mode)
        return
    words = ["mount", "--bind", "-o", "ro", str(folder), str(folder)]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("can't mount a folder read-only here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing happened to."""
    out = tmp_path_factory.mktemp("whole") / "run"
    assert benchbuild(*train(out, workers=1)) == 0
    return out


def the_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line of the error; a progress bar may stand before it."""
    told = capsys.readouterr().err.replace("\r", "\n").strip().split("\n")
    found = [line for line in told if line.startswith("benchbuild: ")]
    assert len(found) == 1, told
    assert not any("Traceback" in line for line in told)
    return found[0]


def test_a_full_disk_while_running(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with small_disk(tmp_path / "disk", 128) as disk:
        out = disk / "run"
        assert benchbuild(*train(out, "--shard", "1/2")) == 0
        before = figures(out)
        (disk / "filling").write_bytes(b"x" * shutil.disk_usage(disk).free)
        capsys.readouterr()
        assert benchbuild(*train(out, "--shard", "2/2")) == 2
        assert re.match(rf"benchbuild: error: can't write {out}.*: No space left", the_line(capsys))
        assert figures(out) == before
        (disk / "filling").unlink()
        assert benchbuild(*train(out, "--shard", "2/2")) == 0
        assert figures(out) == figures(whole)


def test_a_disk_that_is_full_from_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with small_disk(tmp_path / "disk", 64) as disk:
        (disk / "filling").write_bytes(b"x" * shutil.disk_usage(disk).free)
        assert benchbuild(*train(disk / "run")) == 2
        assert "No space left on device" in the_line(capsys)


def test_a_full_disk_while_merging(whole: Path, tmp_path: Path) -> None:
    """In a process of its own: HDF5 might take it down."""
    with small_disk(tmp_path / "disk", 64) as disk:
        for free in (0, 4096, 16_384):
            (disk / "filling").write_bytes(b"x" * (shutil.disk_usage(disk).free - free))
            process = start("merge", whole, "--out", disk / "table")
            _, told = finish(process)
            assert process.returncode == 2
            assert re.fullmatch(f"benchbuild: error: can't write {disk}/table: .*\n", told)
            assert [path.name for path in disk.iterdir()] == ["filling"]
            (disk / "filling").unlink()
        assert benchbuild("merge", whole, "--out", disk / "table") == 0
        assert list(problems_in(disk / "table")) == []


def test_a_run_in_a_folder_that_is_read_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    with read_only(tmp_path / "folder") as folder:
        assert benchbuild(*train(folder / "run")) == 2
        assert f"can't write {folder}/run" in the_line(capsys)


def test_a_finished_run_that_is_read_only_is_merged_and_not_gone_on_with(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shutil.copytree(whole, tmp_path / "run")
    with read_only(run):
        assert benchbuild("status", run) == 0
        assert benchbuild("verify", run) == 0
        assert benchbuild("merge", run, "--out", tmp_path / "table") == 0
        capsys.readouterr()
        assert benchbuild(*train(run)) == 2
        assert f"can't write {run}" in the_line(capsys)
    assert benchbuild("merge", whole, "--out", tmp_path / "same") == 0
    assert content(tmp_path / "table") == content(tmp_path / "same")


def test_merging_into_a_folder_that_is_read_only(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    with read_only(tmp_path / "folder") as folder:
        assert benchbuild("merge", whole, "--out", folder / "table") == 2
        assert f"can't write {folder}/table" in the_line(capsys)
        assert not list(folder.iterdir())
