"""What people meet in a terminal: lines that fit, help that lists, a shell that completes."""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import benchquery
from benchquery.cli import main
from benchquery.table.registry import kinds
from benchquery.text import fitting, format_table, to_json


def in_terminal(columns: int, *args: str) -> str:
    """Run the command in a terminal of a width and return what it shows."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns)}
    command = [sys.executable, "-m", "benchquery", *args]
    with subprocess.Popen(command, stdout=follower, env=environment) as process:
        os.close(follower)
        parts = []
        with contextlib.suppress(OSError):  # Linux says so where others say nothing more
            while part := os.read(leader, 65_536):
                parts.append(part)
        os.close(leader)
    assert process.returncode == 0
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_top_fits_the_terminal_and_names_what_it_left_out() -> None:
    shown = in_terminal(80, "top", "cora-built", "-k", "3")
    lines = shown.splitlines()
    assert max(map(len, lines[:-1])) <= 80
    assert lines[-1].startswith("left out to fit the terminal: ")
    assert "hash" in lines[0]
    assert "valid_perf" in lines[0]
    left_out = lines[-1].partition(": ")[2].partition(" (")[0].split(", ")
    whole = in_terminal(300, "top", "cora-built", "-k", "3").splitlines()
    assert sorted(whole[0].split()) == sorted([*lines[0].split(), *left_out])
    assert "left out" not in whole[-1]


@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(), min_size=1),
    st.integers(1, 60),
)
def test_what_is_left_out_is_only_as_much_as_needed(row: dict[str, int], width: int) -> None:
    first = next(iter(row))
    (shown,), left_out = fitting([row], width, [first])
    assert [*shown, *left_out] == list(row)
    widest = max(map(len, format_table([shown]).splitlines()))
    assert widest <= width or list(shown) == [first]
    if left_out:
        more = {**shown, left_out[0]: row[left_out[0]]}
        assert max(map(len, format_table([more]).splitlines())) > width


def test_the_help_of_plot_lists_every_picture(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["plot", "--help"])
    said = capsys.readouterr().out
    for kind in kinds():
        for name in (*kind.pictures, *kind.pictures_of_several):
            assert name in said


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_commands_options_and_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("shtab", reason="shtab is missing: pip install shtab")
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    asked = {
        "benchquery expl": "explore",
        "benchquery top --whe": "--where",
        "benchquery top cor": "cora",
    }
    command = f'benchquery() {{ "{sys.executable}" -m benchquery "$@"; }}'
    lines = [command, f". {tmp_path}/script"]
    for line in asked:
        words = line.split()
        quoted = " ".join(f"'{word}'" for word in words)
        lines.append(f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; COMPREPLY=()")
        lines.append('_shtab_benchquery; echo "${COMPREPLY[*]}"')
    found = subprocess.run(
        ["bash", "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    for offered, expected in zip(found.stdout.splitlines(), asked.values(), strict=True):
        assert expected in offered.split()


def test_the_names_of_tables_are_printed_for_shells(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "--tables"]) == 0
    names = capsys.readouterr().out.split()
    assert names == [info.name for info in benchquery.tables()]


def test_json_has_finite_figures_only() -> None:
    """A loss that diverged is infinite, and a browser reads no such word."""
    figures = {"loss": [1.0, float("inf")], "pair": (float("nan"), -float("inf")), "text": "inf"}
    assert to_json(figures) == '{"loss": [1.0, null], "pair": [null, null], "text": "inf"}'
