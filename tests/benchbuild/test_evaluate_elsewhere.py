"""Evaluations on machines where the table lies elsewhere: what counts is what the table holds."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchbuild.errors import MergeError, PlanError
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.evaluate import command
from benchbuild.kinds.evaluate.kind import evaluate_run
from benchbuild.pipeline.jobs import Place
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RUN, RunFolder
from tests.benchbuild.runs import benchbuild, figures
from tests.benchbuild.test_merge import content

DATA = Path(__file__).parent.parent / "data"
TABLE = DATA / "tables-v1" / "karate-condensed"
WORDS = [
    *("--models", "mlp", "--seeds", "1", "--eval-hp", "epochs=8", "--eval-hp", "hidden=8"),
    *("--device", "cpu", "--workers", "1"),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of all evaluations on one machine."""
    out = tmp_path_factory.mktemp("whole") / "run"
    assert benchbuild("evaluate", TABLE, *WORDS, "--out", out) == 0
    return out


def table_at(place: Path) -> Path:
    """Mount the table somewhere else."""
    shutil.copytree(TABLE, place)
    return place


def test_shards_of_machines_with_other_mounts_go_together(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = []
    for index in (1, 2):
        machine = tmp_path / f"machine{index}"
        table = table_at(machine / "mnt" / "tables" / "karate")
        runs.append(machine / "run")
        words = [*WORDS, "--shard", f"{index}/2", "--out", str(runs[-1])]
        assert benchbuild("evaluate", table, *words) == 0
        shutil.rmtree(table)
    assert sorted(row for run in runs for row in figures(run)) == figures(whole)
    capsys.readouterr()
    assert benchbuild("merge", *runs, "--out", tmp_path / "table") == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"Copy it to {runs[0] / 'source'}, then merge again" in told
    assert not (tmp_path / "table").exists()
    shutil.copytree(TABLE, runs[0] / "source")
    merge(runs, tmp_path / "table")
    merge([whole], tmp_path / "undivided")
    assert content(tmp_path / "table") == content(tmp_path / "undivided")


def test_shards_in_one_folder_may_name_the_table_differently(whole: Path, tmp_path: Path) -> None:
    for index, table in enumerate((TABLE, table_at(tmp_path / "elsewhere")), start=1):
        words = [*WORDS, "--shard", f"{index}/2", "--out", str(tmp_path / "run")]
        assert benchbuild("evaluate", table, *words) == 0
    assert figures(tmp_path / "run") == figures(whole)


def test_where_a_table_lies_is_no_part_of_what_a_run_is(whole: Path, tmp_path: Path) -> None:
    evaluations = Evaluations.of(["mlp"], [0], {"epochs": 8, "hidden": 8})
    here, there = (evaluate_run(table, evaluations) for table in (TABLE, table_at(tmp_path / "x")))
    assert here == there
    assert here.digest == there.digest
    assert set(json.loads((whole / RUN).read_text())["settings"]) == {
        *("dataset", "recipe", "evaluations", "eval_seeds", "source_sha256")
    }


def test_another_table_is_refused(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = figures(whole)
    other = DATA / "runs-v1" / "evaluate" / "source"
    assert benchbuild("evaluate", other, *WORDS, "--out", whole) == 2
    told = capsys.readouterr().err
    assert "settings.source_sha256" in told
    assert told.count("\n") == 1
    assert figures(whole) == before


def test_a_merge_takes_no_other_table(whole: Path, tmp_path: Path) -> None:
    run = RunFolder.open(whole).run
    assert run.about["table_folder"] == str(TABLE.resolve())
    gone = {**run.about, "table_folder": str(tmp_path / "gone")}
    moved = RunFolder.begin(tmp_path / "run", dataclasses.replace(run, about=gone))
    shutil.copytree(whole / "parts", moved.path / "parts", dirs_exist_ok=True)
    shutil.copytree(DATA / "runs-v1" / "evaluate" / "source", moved.path / "source")
    with pytest.raises(MergeError, match=rf"is not in {moved.path}/source or {tmp_path}/gone"):
        merge([moved.path], tmp_path / "table")
    shutil.rmtree(moved.path / "source")
    shutil.copytree(TABLE, moved.path / "source")
    merge([moved.path], tmp_path / "table")


def test_a_worker_refuses_a_table_that_changed(tmp_path: Path) -> None:
    table = table_at(tmp_path / "table")
    run = evaluate_run(table, Evaluations.of(["mlp"], [0]))
    shutil.copy(DATA / "runs-v1" / "evaluate" / "source" / "manifest.json", table)
    with pytest.raises(PlanError, match=f"{table} does not hold the table"):
        kind_of("evaluate").open(run.settings, Place("cpu"))
    shutil.rmtree(table)
    with pytest.raises(PlanError, match=f"{table} does not hold the table"):
        kind_of("evaluate").open(run.settings, Place("cpu"))


def test_shards_that_begin_at_once_merge_a_run_only_once(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    run, out = DATA / "runs-v1" / "condense", tmp_path / "run"
    args = parser.parse_args([str(run), *WORDS, "--out", str(out)])
    with ThreadPoolExecutor(4) as pool:
        described = list(pool.map(command.described, [args] * 4))
    assert len({one.digest for one in described}) == 1
    assert {one.settings.folder for one in described} == {str(out / "source")}
