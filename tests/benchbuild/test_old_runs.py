"""Run folders of the version before: they open, say the same, resume and merge.

``tests/data/runs-v1`` was written by that version on karate, a run of every kind of job, and
``expected.json`` beside it is what that version said of them. They are never written anew.
"""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchbuild.cli import main
from benchbuild.kinds.evaluate.kind import evaluate_run
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.registry import BUILT_IN, kind_of
from benchbuild.pipeline.runfolder import RUN, RunFolder
from benchbuild.pipeline.status import status_of
from benchbuild.pipeline.verify import problems_in
from tests.benchbuild.runs import figures, rows
from tests.benchbuild.test_merge import content

DATA = Path(__file__).parent.parent / "data"
FOLDER = DATA / "runs-v1"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text())
MERGED = [kind for kind, expected in EXPECTED.items() if "table" in expected]
TRAIN = ["--dataset", "karate", "--archs", "10000,61237,88887", "--seeds", "2", "--epochs", "6"]
LINKS = [
    *("--task", "link-prediction", "--models", "gcn", "--seeds", "2"),
    *("--eval-hp", "epochs=8", "--eval-hp", "hidden=8"),
]
LOCAL = ["--device", "cpu", "--workers", "1"]


def test_there_is_a_run_of_every_kind() -> None:
    assert set(EXPECTED) == set(BUILT_IN)


@pytest.mark.parametrize("kind", EXPECTED)
def test_an_old_run_is_the_run_that_it_was(kind: str) -> None:
    folder = RunFolder.open(FOLDER / kind)
    expected = EXPECTED[kind]
    assert folder.run.digest == expected["digest"]
    written = json.loads((FOLDER / kind / RUN).read_text())
    assert folder.run.body == {name: written[name] for name in folder.run.body}
    status = status_of(folder)
    assert (status.jobs, status.done, status.ends["ok"]) == tuple(
        expected[name] for name in ("jobs", "done", "ok")
    )
    assert list(problems_in(FOLDER / kind)) == []


@pytest.mark.parametrize("kind", EXPECTED)
def test_records_come_back_to_the_same_rows(kind: str) -> None:
    back = [record.to_row() for record in RunFolder.open(FOLDER / kind).parts.records()]
    names = kind_of(kind).record.columns()
    for before, after in zip(rows(FOLDER / kind), back, strict=True):
        assert list(before) == list(after) == [field.name for field in names]
        for field in names:
            found = after[field.name].tolist() if field.is_array else after[field.name]
            assert repr(found) == repr(before[field.name]), field.name


@pytest.mark.parametrize("kind", MERGED)
def test_an_old_run_merges_to_the_same_figures(kind: str, tmp_path: Path) -> None:
    merge([FOLDER / kind], tmp_path / "table")
    table = pq.read_table(tmp_path / "table" / "summary.parquet")
    for name, values in EXPECTED[kind]["table"].items():
        found = [
            None if isinstance(value, float) and math.isnan(value) else value
            for value in table.column(name).to_pylist()
        ]
        assert found == values, name
    assert list(problems_in(tmp_path / "table")) == []


def test_an_old_training_goes_on_with_rounded_metrics_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shutil.copytree(FOLDER / "train", tmp_path / "run")
    words = ["train", *TRAIN, *LOCAL, "--out", str(out)]
    assert main(words) == 2
    assert "settings.round_valid is 3 there, null here" in capsys.readouterr().err
    (part,) = out.glob("parts/*")
    part.unlink()
    assert main([*words, "--round-valid", "3"]) == 0
    assert RunFolder.open(out).run.digest == EXPECTED["train"]["digest"]
    assert len(figures(out)) == EXPECTED["train"]["jobs"]
    assert all(row["valid_perf"] == round(row["valid_perf"], 3) for row in rows(out))
    exact = tmp_path / "exact"
    assert main(["train", *TRAIN, *LOCAL, "--out", str(exact)]) == 0
    capsys.readouterr()
    assert main(["merge", str(out), str(exact), "--out", str(tmp_path / "table")]) == 2
    assert "settings.round_valid" in capsys.readouterr().err


def test_an_old_evaluation_merges_to_the_table_that_it_made(tmp_path: Path) -> None:
    """Its settings name the table by a path; beside the run is that table as it was."""
    merge([FOLDER / "evaluate"], tmp_path / "table")
    found = pq.read_table(tmp_path / "table" / "summary.parquet")
    before = pq.read_table(DATA / "tables-v1" / "karate-condensed" / "summary.parquet")
    for name in before.column_names:
        if name not in ("status", "reason"):
            assert repr(found.column(name).to_pylist()) == repr(before.column(name).to_pylist())
    assert list(problems_in(tmp_path / "table")) == []


def test_an_old_evaluation_goes_on_with_its_table_elsewhere(tmp_path: Path) -> None:
    out = shutil.copytree(FOLDER / "evaluate", tmp_path / "run")
    table = Path(shutil.move(out / "source", tmp_path / "elsewhere"))
    (part,) = out.glob("parts/*")
    part.unlink()
    words = [*LINKS, *LOCAL, "--out", str(out), "--shard", "1/2"]
    assert main(["evaluate", str(table), *words]) == 0
    folder = RunFolder.open(out)
    assert folder.run.digest == EXPECTED["evaluate"]["digest"]
    assert 0 < len(rows(out)) < EXPECTED["evaluate"]["jobs"]
    assert {row["status"] for row in rows(out)} == {"ok"}


def test_an_old_evaluation_and_a_new_one_go_together(tmp_path: Path) -> None:
    source = FOLDER / "evaluate" / "source"
    old = RunFolder.open(FOLDER / "evaluate").run
    new = evaluate_run(source, old.settings.evaluations)
    assert new.digest != old.digest
    begun = RunFolder.begin(tmp_path / "new", dataclasses.replace(new, facts=old.facts))
    merge([FOLDER / "evaluate", begun.path], tmp_path / "together")
    merge([FOLDER / "evaluate"], tmp_path / "alone")
    assert content(tmp_path / "together") == content(tmp_path / "alone")
