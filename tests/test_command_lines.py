"""Both commands survive hostile arguments, broken streams and poor environments."""

from __future__ import annotations

import functools
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchbuild.fuzzing import commands
from benchquery.program import one_line, run_program

ROOT = Path(__file__).parent.parent
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}


def run(
    folder: Path, script: str, *words: str | bytes, **env: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a script of bash in which ``"$@"`` is Python with these words."""
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}", "bash", sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        check=False,
    )


def test_fuzzed_command_lines_end_well(tmp_path: Path) -> None:
    outcome = commands.fuzz(150, 7, tmp_path)
    assert outcome.wrong == ()
    assert outcome.trials == 150
    assert outcome.detected > 0
    assert outcome.harmless > 0


@pytest.mark.parametrize(
    "words",
    [
        ("benchquery", "show", "cora", "--hash", "9" * 5_000),
        ("benchquery", "show", "cora", "--link", "9" * 5_000, "--ops", "gcn,gin,fc,cheb"),
        ("benchquery", "show", "cora-condensed", "--self", "1"),
        ("benchbuild", "train", "--dataset", f"digits:train={'9' * 5_000}", "--out", "run"),
    ],
)
def test_numbers_beyond_all_digits_are_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    code, errors = commands._run_here(random.Random(0), words[0], list(words[1:]))
    assert (code, commands._fault(list(words[1:]), code, errors)) == (2, "")


def test_a_command_that_takes_the_streams_gets_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here: list[str] = []
    anew: list[str] = []
    for name, seen in (("_run_here", here), ("_run_anew", anew)):
        monkeypatch.setattr(commands, name, functools.partial(_note, seen))
    commands.fuzz(1_000, 0, tmp_path)
    assert "mcp" in anew
    assert "mcp" not in here
    assert "top" in here


def _note(seen: list[str], rng: random.Random, program: str, words: list[str]) -> tuple[int, str]:
    """Note a command instead of running it."""
    seen.append(words[0])
    return 0, ""


def test_messages_are_one_short_printable_line() -> None:
    assert one_line("a\n b\r\n\tc\u2028d") == "a b c d"
    assert one_line("\x1b[2J\udcff") == "\\x1b[2J\\udcff"
    assert one_line("Grünkohl 日本") == "Grünkohl 日本"
    assert len(one_line(f"no table {'x' * 100_000!r} here")) < 400
    assert one_line(f"{'x' * 1_000} here").endswith("x here")
    assert len(one_line("ab " * 100_000)) <= 2_000


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ('"$@" >/dev/full', 2, b"benchquery: error: [Errno 28] No space left on device\n"),
        ('"$@" >/dev/full 2>/dev/full', 2, b""),
        ('"$@" >&-', 0, b""),
        ('"$@" 2>&-', 0, b""),
        ('"$@" >&- 2>&-', 0, b""),
        ('"$@" | head -n 1', 0, b""),
        ('env -u HOME "$@"', 0, b""),
    ],
)
def test_broken_streams_end_without_a_traceback(
    tmp_path: Path, script: str, code: int, said: bytes
) -> None:
    done = run(tmp_path, script, "benchquery", "top", "cora", "-k", "20000")
    assert (done.returncode, done.stderr) == (code, said)


def test_a_run_goes_on_when_the_reader_of_its_errors_goes_away(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = ("train", "--dataset", "karate", "--archs", "10000", "--seeds", "1", "--epochs", "2")
    done = subprocess.run(
        [sys.executable, "-m", "benchbuild", *words, "--device", "cpu", "--workers", "1"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=writing,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 0
    assert b"1 jobs, 0 finished before, now 1 ok" in done.stdout
    assert len(list(tmp_path.glob("runs/karate/parts/*.parquet"))) == 1


def test_a_pipe_that_breaks_elsewhere_is_no_quiet_end(capsys: pytest.CaptureFixture[str]) -> None:
    """Only a reader of standard output that has gone away is what ``head`` does."""
    reading, writing = os.pipe()
    os.close(reading)

    def work() -> int:
        return os.write(writing, b"to a worker that has died")

    assert run_program("benchbuild", work) == 2
    os.close(writing)
    assert capsys.readouterr().err == "benchbuild: error: [Errno 32] Broken pipe\n"


@pytest.mark.parametrize("program", ["benchquery", "benchbuild"])
def test_errors_keep_their_code_when_nobody_reads_them(tmp_path: Path, program: str) -> None:
    for script in ('"$@" 2>/dev/full', '"$@" 2>&-', '"$@" >&- 2>&-'):
        assert run(tmp_path, script, program, "verify", "nope").returncode == 2
        assert run(tmp_path, script, program, "fly").returncode == 2


def test_ascii_terminals_get_ascii_drawings(tmp_path: Path) -> None:
    words = ("benchquery", "show", "cora", "--hash", "61237")
    done = run(tmp_path, '"$@"', *words, **ASCII)
    assert done.returncode == 0
    assert b"input -- gcn -+- gin -- fc -- output" in done.stdout
    whole = run(tmp_path, '"$@"', *words, PYTHONIOENCODING="utf-8").stdout.decode()
    assert "input ── gcn ─┬─ gin ── fc ── output" in whole


def test_names_that_are_not_utf8_work_or_are_one_line(tmp_path: Path) -> None:
    table = os.fsdecode(b"t\xff")
    shutil.copytree(ROOT / "data" / "cora", tmp_path / table)
    for words in (
        ("verify", b"t\xff"),
        ("datasets", "--source", "."),
        ("top", "cora", "--source", b"t\xff"),
        ("export", "proteins", "-o", b"caf\xe9.csv"),
        ("export", "proteins", "-o", b"caf\xe9.parquet"),
    ):
        done = run(tmp_path, '"$@"', "benchquery", *words)
        assert (done.returncode, done.stderr) == (0, b"")
    done = run(tmp_path, '"$@"', "benchquery", "top", b"no\xffpe")
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert rb"no\udcffpe" in done.stderr


def test_a_folder_that_takes_no_files_is_one_line(tmp_path: Path) -> None:
    for words in (
        ("benchquery", "export", "cora", "-o", "x.csv"),
        ("benchquery", "plot", "cora", "pareto", "-o", "x.svg"),
        ("benchbuild", "merge", "nope", "--out", "x"),
    ):
        done = run(Path("/proc"), '"$@"', *words)
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1
    assert run(Path("/proc"), '"$@"', "benchquery", "top", "cora").returncode == 0


@pytest.mark.parametrize("program", ["benchquery", "benchbuild"])
@pytest.mark.parametrize("name", ["x" * 100_000, "x" * 300, "a\nb", "{0}", "loop"])
def test_any_name_is_told_in_one_line(tmp_path: Path, program: str, name: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    done = run(tmp_path, '"$@"', program, "verify", name)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert len(done.stderr) < 2_500
