"""The rows of a table of condensed graphs: how a graph came about, and how each evaluation did."""

from __future__ import annotations

import dataclasses
import math
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchbuild.kinds.condense.controls import add_controls
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.gains import add_gains
from benchbuild.kinds.condense.nodes.payload import StoredGraph
from benchbuild.kinds.condense.records import CondenseRecord
from benchbuild.kinds.condense.table import MISSING, Kept, Row
from benchbuild.kinds.evaluate.kind import evaluate_run
from benchbuild.kinds.evaluate.records import EvaluateRecord
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.records import STATUSES
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchquery import CondenseConfig, EvalConfig, condread
from benchquery.errors import UnknownHashError
from benchquery.kinds.condensed.graphs import GRAPHS
from benchquery.table.manifest import CURVES, SUMMARY, read_manifest
from benchquery.table.writer import new_table, write_table
from tests.benchbuild.runs import benchbuild

DATASET = "csbm:nodes=120,classes=3,features=16"
JOBS = ("--dataset", DATASET, "--method", "random", "--ratio", "0.05,0.1", "--seed", "0,1")
QUICK = ("--eval-hp", "epochs=25", "--eval-hp", "hidden=16", "--eval-seeds", "2")
LOCAL = ("--device", "cpu", "--workers", "1")
GOLDEN = Path(__file__).parent.parent / "data" / "tables-v1" / "karate-condensed"


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("condense") / "run"
    assert benchbuild("condense", *JOBS, *QUICK, *LOCAL, "--out", out) == 0
    return out


@pytest.fixture(scope="module")
def table(run_folder: Path) -> Path:
    out = run_folder.parent / "table"
    assert benchbuild("merge", run_folder, "--out", out) == 0
    return out


def without_room(record: CondenseRecord) -> CondenseRecord:
    """Return what would have come of a condensation whose evaluations ran out of memory."""
    nothing = np.full(len(record.eval_perf), np.nan)
    return dataclasses.replace(
        record,
        status="oom",
        reason="MemoryError: ",
        eval_valid=nothing,
        eval_perf=nothing,
        eval_full=nothing,
        eval_status=np.full(len(nothing), STATUSES.index("oom"), np.int32),
        eval_reasons=("MemoryError: ",) * len(nothing),
        curves=np.full(len(record.curves), np.nan, np.float32),
    )


@pytest.fixture(scope="module")
def poor(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of a machine that had no room to evaluate the first graph."""
    done = RunFolder.open(run_folder)
    first, *others = sorted(done.parts.records(), key=lambda record: record.config)
    out = tmp_path_factory.mktemp("poor")
    folder = RunFolder.begin(out / "run", done.run)
    folder.parts.add(Shard(), [without_room(first), *others])
    assert benchbuild("merge", out / "run", "--out", out / "table") == 0
    return out / "table"


def old(table: Path, out: Path) -> Path:
    """Write a table as the version before did: one status a row, the worst of all."""
    manifest = read_manifest(table)
    summary = pq.read_table(table / SUMMARY)
    columns = {
        name: np.array(summary.column(name).to_pylist())
        for name in summary.column_names
        if not re.match("(status|reason)_seed", name)
    }
    for row, record in enumerate(summary.to_pylist()):
        ends = [(record[f"status_seed{seed}"], record[f"reason_seed{seed}"]) for seed in (0, 1)]
        if record["status"] == "ok":
            worst = max(ends, key=lambda end: STATUSES.index(end[0]))
            for name, text in zip(("status", "reason"), worst, strict=True):
                columns[name] = columns[name].astype(object)
                columns[name][row] = text
    with new_table(out) as stage:
        for name in (CURVES, GRAPHS):
            shutil.copy(table / name, stage / name)
        about = ("name", "space", "origin", "metric", "source", "licence", "provenance", "kind")
        write_table(stage, columns, **{name: getattr(manifest, name) for name in about})
    return out


def test_how_a_condensation_ended_is_told_apart_from_its_evaluations(poor: Path) -> None:
    assert benchbuild("verify", poor) == 0
    rows_ = condread(DATASET, source=poor).records()
    assert [row["status"] for row in rows_] == ["ok"] * 4
    assert [row["status_seed1"] for row in rows_] == ["oom", "ok", "ok", "ok"]
    assert [row["reason_seed0"] for row in rows_] == ["MemoryError: ", "", "", ""]
    assert [row["eval_seeds"] for row in rows_] == [0, 2, 2, 2]


@pytest.mark.parametrize("version", ["before", "now"])
def test_a_row_that_was_out_of_memory_does_not_stay_so(
    poor: Path, table: Path, tmp_path: Path, version: str
) -> None:
    source = poor if version == "now" else old(poor, tmp_path / "old")
    assert benchbuild("verify", source) == 0
    out, better = tmp_path / "run", tmp_path / "better"
    words = ["--seeds", "2", *QUICK[:4], "--device", "cpu", "--workers", "1"]
    assert benchbuild("evaluate", source, *words, "--out", out) == 0
    assert benchbuild("merge", out, "--out", better) == 0
    assert benchbuild("verify", better) == 0
    for row, whole in zip(
        condread(DATASET, source=better).records(),
        condread(DATASET, source=table).records(),
        strict=True,
    ):
        assert (row["status"], row["status_seed0"], row["status_seed1"]) == ("ok", "ok", "ok")
        assert row["perf"] == whole["perf"]


def test_an_evaluation_that_fails_takes_no_figure_away(
    poor: Path, table: Path, tmp_path: Path
) -> None:
    described = evaluate_run(table, Evaluations.of(["gcn"], [0, 7], {"epochs": 25, "hidden": 16}))
    facts = RunFolder.open(poor.parent / "run").run
    about = {**facts.about, "table_folder": str(table)}
    run = dataclasses.replace(described, facts=facts.facts, about=about)
    folder = RunFolder.begin(tmp_path / "run", run)
    keys = kind_of("evaluate").keys(run)
    lost = [EvaluateRecord.without_result(key, "the worker was killed") for key in keys]
    folder.parts.add(Shard(), lost)
    assert benchbuild("merge", folder.path, "--out", tmp_path / "more") == 0
    assert benchbuild("verify", tmp_path / "more") == 0
    before, after = (condread(DATASET, source=place) for place in (table, tmp_path / "more"))
    for row, whole in zip(after.records(), before.records(), strict=True):
        assert (row["status"], row["status_seed0"], row["perf"]) == ("ok", "ok", whole["perf"])
        assert row["status_seed7"] == "failed"
        assert row["reason_seed7"] == "the worker was killed"


def test_merging_counts_graphs_and_rows(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benchbuild("merge", run_folder, "--out", tmp_path / "table") == 0
    assert f"4 condensed graphs on {DATASET!r}" in capsys.readouterr().out
    several = Path(__file__).parent.parent / "data" / "runs-v1" / "condense"
    assert benchbuild("merge", several, "--out", tmp_path / "several") == 0
    assert "2 condensed graphs in 4 rows on 'karate'" in capsys.readouterr().out


def test_a_table_of_the_version_before_keeps_its_figures_when_it_is_extended(
    tmp_path: Path,
) -> None:
    assert benchbuild("verify", GOLDEN) == 0
    words = ["--models", "gcn", "--seeds", "5,", "--eval-hp", "epochs=8", "--eval-hp", "hidden=8"]
    assert benchbuild("evaluate", GOLDEN, *words, *LOCAL, "--out", tmp_path / "run") == 0
    assert benchbuild("merge", tmp_path / "run", "--out", tmp_path / "table") == 0
    assert benchbuild("verify", tmp_path / "table") == 0
    before, after = (condread("karate", source=place) for place in (GOLDEN, tmp_path / "table"))
    new = {(row["config"], row["evaluation"]): row for row in after.records()}
    assert len(new) == before.manifest.rows
    for row in before.records():
        found = new[row["config"], row["evaluation"]]
        assert (found["status"], found["status_seed0"]) == ("ok", row["status"])
        assert found["reason_seed1"] == row["reason"]
        for name in ("perf_seed0", "valid_perf_seed1", "full_perf_seed0", "condense_time"):
            assert repr(found[name]) == repr(row[name]), name
        again = (row["model"], row["task"]) == ("gcn", "node-classification")
        assert found["status_seed5"] == ("ok" if again else MISSING)
        assert np.array_equal(after.graph(row["config"])["x"], before.graph(row["config"])["x"])


def test_a_part_of_the_rows_can_be_had_without_graphs(tmp_path: Path) -> None:
    whole = condread(GOLDEN)
    method = whole.column("method")[0]
    words = ("join", GOLDEN, "--where", f"method == {method}", "--no-graphs")
    assert benchbuild(*words, "--out", tmp_path / "part") == 0
    assert benchbuild("verify", tmp_path / "part") == 0
    part, same = condread(tmp_path / "part"), whole.where(method=method)
    assert not (tmp_path / "part" / "graphs.h5").exists()
    np.testing.assert_array_equal(part.column("perf"), same.column("perf"))
    best = part.best()["config"]
    np.testing.assert_array_equal(part.curve(best), whole.curve(best))
    nothing = ("join", GOLDEN, "--where", "ratio == 0.77", "--out", tmp_path / "none")
    assert benchbuild(*nothing) == 2


def test_graphs_are_left_out_and_how_they_came_to_be_stays(table: Path, tmp_path: Path) -> None:
    whole = condread(table)
    kept = whole.records()[0]["config"]
    less, again, both = (tmp_path / name for name in ("less", "again", "both"))
    words = ("--graphs-where", f"config == {kept}")
    assert benchbuild("join", table, *words, "--out", less) == 0
    assert benchbuild("join", less, "--out", again) == 0
    for folder in (less, again):
        assert benchbuild("verify", folder) == 0
        part = condread(folder)
        assert part.graphs.configs == {kept}
        assert part.graphs.traced == whole.graphs.traced > {kept}
        assert repr(part.records()) == repr(whole.records()), "what rows say of graphs stays, too"
        for config in whole:
            assert repr(part.trace(config)) == repr(whole.trace(config))
    other = min(whole.graphs.configs - {kept})
    with pytest.raises(UnknownHashError, match="it was left out, its trace is there"):
        condread(less).graph(other)
    more = ("--models", "gcn", "--seeds", "7,", *LOCAL, "--out", tmp_path / "run")
    assert benchbuild("evaluate", less, *more) == 0
    assert benchbuild("merge", tmp_path / "run", "--out", both) == 0
    assert benchbuild("verify", both) == 0
    judged = {row["config"] for row in condread(both).records() if row["status_seed7"] == "ok"}
    assert judged == {kept}, "a graph that is not there can't be judged"
    assert condread(both).graphs.traced == whole.graphs.traced


def test_rows_have_their_controls() -> None:
    """Of 4 nodes that begin as 3, what snapshots were worth, and the gains over two controls."""
    learnt = CondenseConfig("karate", "gcond", 0.1, epochs=2)
    began, other = learnt.replace(epochs=0), CondenseConfig("karate", "random", 0.1)
    released = learnt.replace(protocol="as-released")
    rows = [Row(one, EvalConfig(), {}, {}) for one in (learnt, began, other, released)]
    x = np.array([[0, 1], [1, 0], [0, 1], [1, 1]], dtype=np.float16)
    trace = {"epoch": np.arange(3), "valid_perf": np.array([0.5, 0.75, 0.625])}
    kept = {
        learnt.valid_hash(): Kept(StoredGraph(x, np.arange(4), None), trace),
        released.valid_hash(): Kept(StoredGraph(x, np.arange(4), None), trace),
    }
    perfs = (0.7, 0.6, 0.4, 0.5)
    cells = [
        {"config": row.config.valid_hash(), "evaluation": "same", "perf": perf}
        for row, perf in zip(rows, perfs, strict=True)
    ]
    add_gains(rows, cells)
    add_controls(rows, cells, kept)
    first = cells[0]
    assert (first["first_valid"], first["chosen_valid"], first["last_valid"]) == (0.5, 0.75, 0.625)
    assert [cell["distinct_nodes"] for cell in cells] == [3, 0, 0, 3]
    assert first["gain_over_random"] == pytest.approx(0.3)
    assert first["gain_over_init"] == pytest.approx(0.1)
    assert math.isnan(cells[1]["chosen_valid"])
    assert math.isnan(cells[3]["chosen_valid"]), "what chose it may have been the test set"
    assert math.isnan(cells[3]["gain_over_init"])
