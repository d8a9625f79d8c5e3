"""Damaged tables, run folders and traces: found, or harmless. The long runs are a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbuild.fuzzing import kept, payloads, records, runs, settings, tables, traces
from benchbuild.fuzzing.damage import DAMAGES
from benchbuild.fuzzing.judging import fuzz_folders
from benchbuild.fuzzing.outcome import Fuzzer
from benchquery.errors import QueryError


@pytest.mark.parametrize(
    ("fuzz", "trials", "least"),
    [
        (tables.fuzz, 150, 0.7),
        (runs.fuzz, 80, 0.3),
        (traces.fuzz, 300, 0.7),
        (kept.fuzz, 200, 0.7),
        (payloads.fuzz, 50, 0.5),
        (records.fuzz, 50, 0.2),
        (settings.fuzz, 50, 0.5),
    ],
    ids=["tables", "runs", "traces", "kept", "payloads", "records", "settings"],
)
def test_damage_is_found_or_harmless(
    fuzz: Fuzzer, trials: int, least: float, fuzzing: Path
) -> None:
    outcome = fuzz(trials, 12, fuzzing)
    assert outcome.wrong == ()
    assert outcome.trials == trials == outcome.detected + outcome.harmless
    assert outcome.detected > least * trials


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
