"""Damaged tables, run folders and traces: found, or harmless. The long runs are a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbuild.fuzzing import runs, tables, traces
from benchbuild.fuzzing.damage import DAMAGES
from benchbuild.fuzzing.judging import fuzz_folders
from benchbuild.fuzzing.outcome import Fuzzer
from benchquery.errors import QueryError


@pytest.mark.parametrize(
    ("fuzz", "trials"), [(tables.fuzz, 300), (runs.fuzz, 150), (traces.fuzz, 500)]
)
def test_damage_is_found_or_harmless(fuzz: Fuzzer, trials: int, tmp_path: Path) -> None:
    outcome = fuzz(trials, 12, tmp_path)
    assert outcome.wrong == ()
    assert outcome.trials == trials == outcome.detected + outcome.harmless
    assert outcome.detected > trials / 3


def test_trials_can_be_repeated(tmp_path: Path) -> None:
    outcomes = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        outcomes.append(traces.fuzz(40, 3, tmp_path / name))
    assert outcomes[0] == outcomes[1]


def test_what_is_not_checked_is_found_to_be_wrong(tmp_path: Path) -> None:
    """The fuzzers can tell: a reader without checks serves other contents and raises the like."""
    sample = tmp_path / "sample"
    sample.mkdir()
    (sample / "text").write_text("0123456789" * 20)

    def read(folder: Path) -> str:
        return (folder / "text").read_bytes().decode("ascii")

    def check(folder: Path) -> str:
        if (text := (folder / "text").read_bytes()) != b"0123456789" * 20:
            raise QueryError("damaged")
        return text.decode()

    outcome = fuzz_folders([sample], (read,), 300, 0, tmp_path)
    assert any("UnicodeDecodeError" in line for line in outcome.wrong)
    assert any("it reads as something else" in line for line in outcome.wrong)
    assert {line.split()[5] for line in outcome.wrong} == set(DAMAGES)
    assert fuzz_folders([sample], (check,), 300, 0, tmp_path).wrong == ()
