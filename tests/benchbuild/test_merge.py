"""Merging: the same bytes in any order; conflicts, mixtures and gaps are named."""

from __future__ import annotations

import dataclasses
import errno
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from benchbuild.errors import CorruptPartError, MergeError, RunFolderError, WriteError
from benchbuild.kinds.train.kind import TrainJobs, TrainRun
from benchbuild.kinds.train.records import TrainRecord
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.records import JobKey
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.pipeline.signals import Stop, Stopped
from benchbuild.pipeline.verify import problems_in
from benchbuild.testing import synthetic_record, synthetic_run
from benchquery import lightread, read
from benchquery.errors import QueryError

LIMITED = """
import resource, sys
from benchbuild.cli import main
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
sys.exit(main(sys.argv[2:]))
"""
"""A command that can write only small files."""

RUN = synthetic_run(sample=20, seeds=[0, 1, 2], epochs=6)
KEYS = kind_of("train").keys(RUN)


def make(
    path: Path,
    records: list[TrainRecord] | None = None,
    run: TrainRun = RUN,
    size: int = 7,
    shuffle: int | None = None,
) -> Path:
    """Write a run folder with parts of some size."""
    folder = RunFolder.begin(path, run)
    if records is None:
        records = [synthetic_record(run, key) for key in KEYS]
    if shuffle is not None:
        random.Random(shuffle).shuffle(records)
    for start in range(0, len(records), size):
        folder.parts.add(Shard(), records[start : start + size])
    return path


def content(table: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(table.iterdir())}


def test_a_merged_table_opens_with_its_curves(tmp_path: Path) -> None:
    merge([make(tmp_path / "run")], tmp_path / "karate")
    table = lightread("karate", source=tmp_path)
    curves = read("karate", source=tmp_path, seed=2)
    assert table.manifest.origin == "synthetic"
    assert table.manifest.provenance["seeds"] == [0, 1, 2]
    assert table.hashes.tolist() == sorted({key[0] for key in KEYS})
    for number in table:
        records = [synthetic_record(RUN, (number, seed)) for seed in (0, 1, 2)]
        row = table[number]
        for name in ("perf", "valid_perf", "latency", "train_time", "best_epoch"):
            values = [getattr(record, name) for record in records]
            assert row[name] == pytest.approx(statistics.fmean(values), rel=1e-12)
            assert [row[f"{name}_seed{seed}"] for seed in (0, 1, 2)] == values
        assert (row["status"], row["seeds_ok"], row["reason"]) == ("ok", 3, "")
        assert row["params"] == records[0].params == round(row["para"] * 1e6)
        np.testing.assert_array_equal(curves[number]["dur"].reshape(-1), records[2].curve)
    assert list(problems_in(tmp_path / "karate")) == []


def test_a_curve_is_one_checked_chunk(tmp_path: Path) -> None:
    merge([make(tmp_path / "run")], tmp_path / "karate")
    with h5py.File(tmp_path / "karate" / "curves.h5") as file:
        data = file["curves"]
        assert data.chunks == (1, 3, 6, 7)
        assert (data.dtype, data.shuffle, data.fletcher32) == (np.float32, True, True)
        assert data.compression == "gzip"


@pytest.mark.parametrize("size", [1, 5, 100])
@pytest.mark.parametrize("shuffle", [1, 2])
def test_the_order_of_parts_does_not_matter(tmp_path: Path, size: int, shuffle: int) -> None:
    merge([make(tmp_path / "a")], tmp_path / "ta")
    merge([make(tmp_path / "b", size=size, shuffle=shuffle)], tmp_path / "tb")
    assert content(tmp_path / "ta") == content(tmp_path / "tb")


def test_the_order_of_folders_does_not_matter(tmp_path: Path) -> None:
    records = [synthetic_record(RUN, key) for key in KEYS]
    first = make(tmp_path / "a", records[:35])
    second = make(tmp_path / "b", records[25:])
    merge([first, second], tmp_path / "t1")
    merge([second, first], tmp_path / "t2")
    merge([make(tmp_path / "c")], tmp_path / "t3")
    assert content(tmp_path / "t1") == content(tmp_path / "t2") == content(tmp_path / "t3")


def test_equal_records_with_other_timings_count_once_in_any_order(tmp_path: Path) -> None:
    records = [synthetic_record(RUN, key) for key in KEYS]
    again: list[TrainRecord] = [replace(r, latency=r.latency / 2, host="other") for r in records]
    merge([make(tmp_path / "a", records + again)], tmp_path / "t1")
    merge([make(tmp_path / "b", again + records)], tmp_path / "t2")
    assert content(tmp_path / "t1") == content(tmp_path / "t2")


@pytest.mark.parametrize(
    "change",
    [
        lambda record: {"perf": record.perf + 1e-9},
        lambda record: {"status": "diverged"},
        lambda record: {"curve": np.nextafter(record.curve, 9, dtype=np.float32)},
        lambda record: {"best_epoch": record.best_epoch + 1},
    ],
    ids=["perf", "status", "curve", "best_epoch"],
)
def test_contradictions_are_named(
    tmp_path: Path, change: Callable[[TrainRecord], dict[str, Any]]
) -> None:
    records = [synthetic_record(RUN, key) for key in KEYS]
    other = replace(records[4], **change(records[4]))
    first, second = make(tmp_path / "a", records), make(tmp_path / "b", [other])
    with pytest.raises(MergeError) as caught:
        merge([first, second], tmp_path / "table")
    message = str(caught.value)
    assert f"hash={KEYS[4][0]} seed={KEYS[4][1]}" in message
    assert str(first) in message
    assert str(second) in message
    assert not (tmp_path / "table").exists()
    assert not list(tmp_path.glob(".table*"))


def test_a_result_replaces_a_failure_of_the_machine(tmp_path: Path) -> None:
    records = [synthetic_record(RUN, key) for key in KEYS]
    failures: list[TrainRecord] = [replace(r, status="failed", perf=np.nan) for r in records]
    merge([make(tmp_path / "a", failures + records)], tmp_path / "t1")
    merge([make(tmp_path / "b", records)], tmp_path / "t2")
    assert content(tmp_path / "t1") == content(tmp_path / "t2")


def test_gaps_are_named_and_allowed_on_demand(tmp_path: Path) -> None:
    gone = KEYS[7]
    run = make(tmp_path / "run", [synthetic_record(RUN, key) for key in KEYS if key != gone])
    with pytest.raises(MergeError, match=f"1 job missing: hash={gone[0]} seed={gone[1]}"):
        merge([run], tmp_path / "table")
    assert merge([run], tmp_path / "table", allow_gaps=True).missing == (gone,)
    row = lightread("karate", source=tmp_path / "table")[gone[0]]
    others = [synthetic_record(RUN, (gone[0], seed)) for seed in {0, 1, 2} - {gone[1]}]
    assert row["perf"] == pytest.approx(statistics.fmean(r.perf for r in others))
    assert np.isnan(row[f"perf_seed{gone[1]}"])
    assert (row["status"], row["seeds_ok"]) == ("missing", 2)
    jobs = lightread("karate", source=tmp_path / "table").manifest.provenance["jobs"]
    assert jobs["missing"] == 1
    assert row[f"status_seed{gone[1]}"] == "missing"
    curve = lightread("karate", source=tmp_path / "table").curve(gone[0], gone[1])
    assert np.isnan(curve).all()
    assert list(problems_in(tmp_path / "table")) == []


def test_a_seed_that_is_missing_everywhere_shows(tmp_path: Path) -> None:
    there = [synthetic_record(RUN, key) for key in KEYS if key[1] != 1 and key != KEYS[0]]
    merge([make(tmp_path / "run", there)], tmp_path / "table", allow_gaps=True)
    table = lightread("karate", source=tmp_path / "table")
    assert table.manifest.provenance["seeds"] == [0, 1, 2]
    assert sum(table.manifest.provenance["jobs"].values()) == len(KEYS)
    assert table.manifest.provenance["jobs"]["missing"] == len(KEYS) - len(there)
    assert set(table.column("status")) == {"missing"}


def test_seeds_of_several_runs_must_cover_every_architecture(tmp_path: Path) -> None:
    some = dataclasses.replace(RUN, jobs=TrainJobs((KEYS[0][0],), (5,)))
    extra = make(tmp_path / "b", [synthetic_record(some, (KEYS[0][0], 5))], some)
    with pytest.raises(MergeError, match=r"19 jobs missing.*seed=5"):
        merge([make(tmp_path / "a"), extra], tmp_path / "table")


@pytest.mark.parametrize("status", ["diverged", "oom", "failed"])
def test_how_a_seed_that_is_not_ok_counts(tmp_path: Path, status: str) -> None:
    odd: JobKey = KEYS[3]
    records = [synthetic_record(RUN, key, status if key == odd else "ok") for key in KEYS]
    merge([make(tmp_path / "run", records)], tmp_path / "table")
    row = lightread("karate", source=tmp_path / "table")[odd[0]]
    by_seed = {r.seed: r.perf for r in records if r.hash == odd[0]}
    if status != "diverged":
        del by_seed[odd[1]]
    assert row["perf"] == pytest.approx(statistics.fmean(by_seed.values()))
    assert (row["status"], row["seeds_ok"]) == (status, 2)
    assert row["reason"] == f"made up: {status}"
    assert list(problems_in(tmp_path / "table")) == []


@pytest.mark.parametrize(
    ("named", "changed"),
    [
        ("settings.hp.lr", {"settings": {"hp": RUN.settings.hp.override(lr=0.9)}}),
        ("settings.round_valid is null there, 3 here", {"settings": {"round_valid": 3}}),
        ("settings.recipe", {"settings": {"recipe": "0"}}),
        ("settings.dataset", {"settings": {"dataset": "csbm"}}),
        ("facts.checksum", {"facts": {"checksum": "another"}}),
    ],
)
def test_mixtures_are_named(tmp_path: Path, named: str, changed: dict[str, dict[str, Any]]) -> None:
    other = dataclasses.replace(
        RUN,
        settings=dataclasses.replace(RUN.settings, **changed.get("settings", {})),
        facts={**RUN.facts, **changed.get("facts", {})},
    )
    folders = [make(tmp_path / "a"), make(tmp_path / "b", run=other)]
    with pytest.raises(MergeError, match=named):
        merge(folders, tmp_path / "table")
    assert not (tmp_path / "table").exists()


def test_a_damaged_part_stops_the_merge_and_is_named(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    victim = RunFolder.open(run).parts.paths()[1]
    victim.write_bytes(victim.read_bytes()[:100])
    with pytest.raises(CorruptPartError, match=victim.name):
        merge([run], tmp_path / "table")
    assert any(victim.name in problem for problem in problems_in(run))
    assert not (tmp_path / "table").exists()


def test_nothing_is_overwritten_unless_told(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    merge([run], tmp_path / "table")
    before = content(tmp_path / "table")
    with pytest.raises(QueryError, match="exists already"):
        merge([run], tmp_path / "table")
    merge([run], tmp_path / "table", replace=True)
    assert content(tmp_path / "table") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "table"]


def test_only_a_table_is_replaced(tmp_path: Path) -> None:
    run, other = make(tmp_path / "run"), make(tmp_path / "other")
    before = content(other / "parts")
    with pytest.raises(QueryError, match="is no table, so it is not replaced"):
        merge([run], other, replace=True)
    for out in (other, tmp_path):
        with pytest.raises(MergeError, match=r"the run .* is there"):
            merge([run, other], out, replace=True)
    assert content(other / "parts") == before


def test_a_merge_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    run, stop = make(tmp_path / "run"), Stop()
    stop.signal = signal.SIGTERM
    with pytest.raises(Stopped, match="SIGTERM"):
        merge([run], tmp_path / "table", stop=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("limit", [1_000, 5_000, 8_000])
def test_a_full_disk_while_merging_is_one_line(tmp_path: Path, limit: int) -> None:
    """In a process of its own: HDF5 would take it down."""
    make(tmp_path / "run")
    words = ["merge", "run", "--out", "table"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2, done
    assert re.fullmatch(r"benchbuild: error: can't write table: .*\n", done.stderr), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_part_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    (run / "parts" / "00.parquet").mkdir()
    with pytest.raises(RunFolderError, match=r"can't read the part .*00\.parquet"):
        merge([run], tmp_path / "table")


def test_parts_that_another_process_gathered_do_no_harm(tmp_path: Path) -> None:
    folder = RunFolder.begin(tmp_path / "run", RUN)
    first, second = folder.parts, folder.parts
    for parts in (first, second):
        parts.resume(Shard())
    for start in (0, 7):
        path = first.add(Shard(), [synthetic_record(RUN, key) for key in KEYS[start : start + 7]])
        second._small.append(path)
    first.gather(Shard())
    second.gather(Shard())
    (part,) = folder.parts.scan()
    assert part.table.num_rows == 14


def test_a_table_that_can_not_be_replaced_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, table = make(tmp_path / "run"), tmp_path / "table"
    merge([run], table)
    before = content(table)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if target == table and not self.name.endswith(".before"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(WriteError, match="What was there before is intact"):
        merge([run], table, replace=True)
    assert content(table) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "table"]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=str(tmp_path)):
        merge([tmp_path], tmp_path / "table")
    run = make(tmp_path / "run")
    with pytest.raises(MergeError, match="twice"):
        merge([run, run], tmp_path / "table")
    empty = RunFolder.begin(tmp_path / "empty", RUN).path
    with pytest.raises(MergeError, match="no records"):
        merge([empty], tmp_path / "table", allow_gaps=True)


def test_verify_finds_figures_that_their_curves_do_not_give(tmp_path: Path) -> None:
    records = [synthetic_record(RUN, key) for key in KEYS]
    records[0] = replace(records[0], perf=records[0].perf / 2 + 0.01)
    records[1] = replace(records[1], valid_perf=records[1].valid_perf - 0.1)
    records[2] = replace(records[2], curve=records[2].curve[:-7])
    records[3] = replace(records[3], hash=88887)
    run = make(tmp_path / "run", records)
    found = list(problems_in(run))
    for key, word in zip(KEYS[:3], ("perf", "valid_perf", "curve"), strict=True):
        assert any(f"hash={key[0]} seed={key[1]}" in p and word in p for p in found), word
    assert any("hash=88887" in p and "not a job" in p for p in found)


def test_verify_finds_a_changed_table(tmp_path: Path) -> None:
    merge([make(tmp_path / "run")], tmp_path / "table")
    for name in ("curves.h5", "summary.parquet"):
        shutil.copytree(tmp_path / "table", tmp_path / name)
        path = tmp_path / name / name
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        assert any(name in problem for problem in problems_in(tmp_path / name))
