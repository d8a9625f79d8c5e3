"""Part files and run folders: whole or not at all, damage is found and named."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import multiprocessing
import os
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchbuild.errors import BenchBuildError, CorruptPartError, RunFolderError, WriteError
from benchbuild.kinds.train.kind import TrainRun
from benchbuild.kinds.train.records import TrainRecord
from benchbuild.kinds.tune.kind import tune_run
from benchbuild.pipeline import parts as parts_module
from benchbuild.pipeline.jobs import canonical, digest
from benchbuild.pipeline.parts import DAMAGED, Parts
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.registry import BUILT_IN, kind_of
from benchbuild.pipeline.runfolder import RUN, RunFolder
from benchbuild.pipeline.status import status_of
from benchbuild.testing import synthetic_record, synthetic_run
from benchquery.errors import BenchQueryError
from tests.resealing import edit_sealed, places, put

SHARD = Shard(1, 1)
OLD = Path(__file__).parent.parent / "data" / "runs-v1"


@pytest.fixture
def run() -> TrainRun:
    return synthetic_run(sample=12, seeds=[0, 1])


@pytest.fixture
def folder(tmp_path: Path, run: TrainRun) -> RunFolder:
    return RunFolder.begin(tmp_path / "run", run)


def records_of(run: TrainRun, status: str = "ok") -> list[TrainRecord]:
    return [synthetic_record(run, key, status) for key in kind_of("train").keys(run)]


def read_all(parts: Parts) -> list[str]:
    rows = [row for part in parts.scan() for row in part.table.to_pylist()]
    return sorted(canonical(row) for row in rows)


def test_records_come_back_as_they_went_in(folder: RunFolder, run: TrainRun) -> None:
    records = records_of(run)
    folder.parts.add(SHARD, records)
    (part,) = folder.parts.scan()
    back = part.table.to_pylist()
    for before, after in zip(records, back, strict=True):
        assert set(before.to_row()) == set(after)
        for name, value in before.to_row().items():
            assert after[name] == (value.tolist() if name == "curve" else value), name


def test_a_part_is_plain_parquet(folder: RunFolder, run: TrainRun) -> None:
    path = folder.parts.add(SHARD, records_of(run))
    assert pq.read_table(path).column("hash").to_pylist() == [r.hash for r in records_of(run)]


def test_every_flipped_byte_and_every_truncation_is_found(folder: RunFolder, run: TrainRun) -> None:
    path = folder.parts.add(SHARD, records_of(run)[:1])
    content = path.read_bytes()
    damaged = [content[:end] for end in range(0, len(content), 97)]
    damaged += [
        content[:i] + bytes([content[i] ^ 1 << i % 8]) + content[i + 1 :]
        for i in range(0, len(content), 31)
    ]
    damaged.append(content + b"x")
    for other in damaged:
        path.write_bytes(other)
        with pytest.raises(CorruptPartError, match=path.name):
            folder.parts.read(path)


def test_a_damaged_part_is_set_aside_and_its_jobs_run_again(
    folder: RunFolder, run: TrainRun
) -> None:
    records = records_of(run)
    good = folder.parts.add(SHARD, records[:10])
    bad = folder.parts.add(SHARD, records[10:])
    bad.write_bytes(bad.read_bytes()[:-1])
    assert any(bad.name in problem for problem in status_of(folder).damaged)
    done, problems = folder.parts.resume(SHARD)
    assert set(done) == {r.key for r in records[:10]}
    assert len(problems) == 1
    assert bad.name in problems[0]
    assert folder.parts.paths() == [good]
    assert bad.with_name(bad.name + DAMAGED).exists()


def test_a_part_of_another_run_is_refused(tmp_path: Path, folder: RunFolder, run: TrainRun) -> None:
    other = dataclasses.replace(run, facts={**run.facts, "checksum": "another"})
    elsewhere = RunFolder.begin(tmp_path / "other", other)
    path = elsewhere.parts.add(SHARD, records_of(run)[:1])
    shutil.copy(path, folder.parts.folder / path.name)
    with pytest.raises(CorruptPartError, match="another run"):
        list(folder.parts.scan())


def test_small_parts_are_gathered_and_nothing_changes(
    folder: RunFolder, run: TrainRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "SMALL_PARTS", 7)
    monkeypatch.setattr(parts_module, "PART_ROWS", 10)
    parts = folder.parts
    parts.resume(SHARD)
    most = 0
    for record in records_of(run):
        parts.add(SHARD, [record])
        most = max(most, len(parts.paths()))
    assert most <= 10
    parts.gather(SHARD)
    assert len(parts.paths()) == 3
    apart = RunFolder.begin(folder.path.parent / "apart", run).parts
    apart.add(SHARD, records_of(run))
    assert read_all(parts) == read_all(apart)


def test_gathering_leaves_the_parts_of_other_shards_alone(folder: RunFolder, run: TrainRun) -> None:
    records = records_of(run)
    theirs = [folder.parts.add(Shard(2, 2), [record]) for record in records[:4]]
    for record in records[4:8]:
        folder.parts.add(Shard(1, 2), [record])
    parts = folder.parts
    parts.resume(Shard(1, 2))
    parts.gather(Shard(1, 2))
    assert set(theirs) < set(parts.paths())
    assert len(parts.paths()) == 5


def test_half_written_files_of_a_killed_writer_go(folder: RunFolder) -> None:
    mine = folder.parts.folder / "1-of-1-0123.aside"
    theirs = folder.parts.folder / "2-of-2-0123.aside"
    mine.write_bytes(b"half")
    theirs.write_bytes(b"half")
    folder.parts.resume(SHARD)
    assert not mine.exists()
    assert theirs.exists()


def test_a_file_in_place_of_a_folder_is_a_clear_error(tmp_path: Path, run: TrainRun) -> None:
    (tmp_path / "run").write_text("in the way")
    with pytest.raises(WriteError, match="run"):
        RunFolder.begin(tmp_path / "run", run)
    assert (tmp_path / "run").read_text() == "in the way"


def test_other_settings_in_the_same_folder_are_refused_by_name(
    folder: RunFolder, run: TrainRun
) -> None:
    before = (folder.path / RUN).read_bytes()
    others = {
        "hp.lr": dataclasses.replace(
            run, settings=dataclasses.replace(run.settings, hp=run.settings.hp.override(lr=0.5))
        ),
        "facts.checksum": dataclasses.replace(run, facts={**run.facts, "checksum": "x"}),
        "jobs.seeds": dataclasses.replace(run, jobs=dataclasses.replace(run.jobs, seeds=(0,))),
        "settings.recipe": dataclasses.replace(
            run, settings=dataclasses.replace(run.settings, recipe="0")
        ),
    }
    for named, other in others.items():
        with pytest.raises(RunFolderError, match=named):
            RunFolder.begin(folder.path, other)
    assert (folder.path / RUN).read_bytes() == before
    assert RunFolder.begin(folder.path, run).run == folder.run


def test_words_about_the_data_may_change(folder: RunFolder, run: TrainRun) -> None:
    other = dataclasses.replace(run, about={**run.about, "licence": "told otherwise"})
    assert RunFolder.begin(folder.path, other).run.about == run.about


def test_settings_in_a_file_that_are_not_allowed_are_named(folder: RunFolder) -> None:
    path = folder.path / RUN
    body = json.loads(path.read_text())
    for section, name, value in (
        ("settings", "hp", {**body["settings"]["hp"], "lr": -1}),
        ("settings", "speed", 3),
        ("jobs", "seeds", [-4]),
    ):
        edit_sealed(path, **{**body, section: {**body[section], name: value}})
        with pytest.raises(RunFolderError, match=rf"{folder.path}.*(lr=-1|speed|-4)"):
            RunFolder.open(folder.path)
    edit_sealed(path, **{**body, "settings": 3})
    with pytest.raises(RunFolderError, match=str(folder.path)):
        RunFolder.open(folder.path)


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=str(tmp_path)):
        RunFolder.open(tmp_path)
    (tmp_path / RUN).write_text(json.dumps({"format": "graphtab-run", "version": 99}))
    with pytest.raises(RunFolderError, match="graphtab-run 1 or 2"):
        RunFolder.open(tmp_path)


def _hold(path: Path, held: object, leave: object) -> None:
    with RunFolder.open(path).lock(SHARD):
        held.set()  # type: ignore[attr-defined]
        leave.wait()  # type: ignore[attr-defined]


def test_a_shard_is_locked_until_its_process_is_gone(folder: RunFolder) -> None:
    context = multiprocessing.get_context("spawn")
    held, leave = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(folder.path, held, leave))
    process.start()
    held.wait()
    with pytest.raises(RunFolderError, match=rf"1/1.*{process.pid}"), folder.lock(SHARD):
        pass
    with folder.lock(Shard(1, 2)):
        pass
    process.kill()
    process.join()
    with folder.lock(SHARD):
        pass


def test_the_identity_of_a_run_is_stable() -> None:
    assert canonical({"b": 1.5, "a": (1, 2)}) == '{"a":[1,2],"b":1.5}'
    run = dataclasses.replace(tune_run("karate", trials=1, ranges={"lr": [0.5]}), facts={"c": "d"})
    text = (
        '{"facts":{"c":"d"},"kind":"tune","settings":{"dataset":"karate","ranges":{"lr":[0.5]},'
        '"recipe":"1","round_valid":null,"search_seed":0,"space":"full"}}'
    )
    assert run.digest == digest(json.loads(text))
    other_jobs = tune_run("karate", trials=9, seeds=[4], ranges={"lr": [0.5]})
    assert dataclasses.replace(other_jobs, facts={"c": "d"}).digest == run.digest


# ---------------------------------------------------------------- files made to do harm


def test_a_run_is_read_by_its_checksum(folder: RunFolder) -> None:
    path = folder.path / RUN
    good = path.read_text()
    body = json.loads(good)
    for changed in (
        {**body, "about": {**body["about"], "licence": "told otherwise"}},
        {**body, "version": 1},
        {name: value for name, value in body.items() if name != "sha256"},
        {**body, "sha256": "0" * 64},
        {**body, "surprise": 1},
    ):
        path.write_text(json.dumps(changed))
        with pytest.raises(RunFolderError, match=rf"{folder.path}.*{RUN}"):
            RunFolder.open(folder.path)
    path.write_text(json.dumps(body))
    assert RunFolder.open(folder.path).run == folder.run
    for text in ("[" * 100_000, "{}", "3", "", good.replace('"version"', '"format"')):
        path.write_text(text)
        with pytest.raises(RunFolderError, match=rf"{folder.path}.*{RUN}"):
            RunFolder.open(folder.path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(RunFolderError, match="no regular file"):
        RunFolder.open(folder.path)


@pytest.mark.parametrize("kind", sorted(BUILT_IN))
def test_values_of_other_types_end_in_no_foreign_error(kind: str, tmp_path: Path) -> None:
    """Whatever stands anywhere in a run.json: it is refused, or read as what it says."""
    copy = shutil.copytree(OLD / kind, tmp_path / kind)
    body = json.loads((copy / RUN).read_text())
    rng = random.Random(0)
    odd = [None, True, -1, 0, 1.5, 1e300, "", "x", [], {}, [[]], {"a": 1}, [None], 2**70, "\0"]
    for _ in range(200):
        (copy / RUN).write_text(json.dumps(put(body, rng.choice(places(body)), rng.choice(odd))))
        with contextlib.suppress(BenchBuildError, BenchQueryError):
            assert RunFolder.open(copy).run.digest


def test_parts_that_are_none_are_named(folder: RunFolder, run: TrainRun) -> None:
    path = folder.parts.add(SHARD, records_of(run))
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"graphtab"])

    def put_part(table: pa.Table, text: str) -> Path:
        sink = pa.BufferOutputStream()
        pq.write_table(table.replace_schema_metadata({b"graphtab": text.encode()}), sink)
        content = sink.getvalue().to_pybytes()
        name = hashlib.sha256(content).hexdigest()[:32] + ".parquet"
        (folder.parts.folder / name).write_bytes(content)
        return folder.parts.folder / name

    assert folder.parts.read(put_part(table, json.dumps(about))).table.num_rows == len(table)
    status = table.schema.get_field_index("status")
    field = table.schema.field("status")
    for part, text in (
        (table, "[" * 100_000),
        (table, "3"),
        (table, "{}"),
        (table, json.dumps(about | {"run": 3})),
        (table, json.dumps(about | {"shard": None})),
        (table.drop_columns(["status"]), json.dumps(about)),
        (table.append_column("more", table.column("status")), json.dumps(about)),
        (table.set_column(status, field, [["fine"] * len(table)]), json.dumps(about)),
        (table.set_column(status, "status", pa.array([1] * len(table))), json.dumps(about)),
    ):
        bad = put_part(part, text)
        with pytest.raises(CorruptPartError, match=f"{bad.name} is no part file"):
            folder.parts.read(bad)
        assert len(status_of(folder).damaged) == 1
        bad.unlink()
    os.mkfifo(folder.parts.folder / "pipe.parquet")
    with pytest.raises(RunFolderError, match=r"pipe\.parquet: it is no regular file"):
        status_of(folder)


def test_shards_of_other_names_are_none(folder: RunFolder) -> None:
    for name in ("1-of-2", "a-of-b", "0-of-0", "3-of-2", "1-of-99999999999", "1-of-2-of-3"):
        (folder.path / "shards" / f"{name}.json").write_bytes(b"\xff\0{")
    assert folder.shards() == [Shard(1, 2)]
    assert [shard.shard for shard in status_of(folder).shards] == ["1/2"]
