"""Finding and opening tables, and never serving a damaged one."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchquery import condread, lightread, read, tables, verify
from benchquery.errors import (
    BenchQueryError,
    CorruptTableError,
    QueryError,
    SchemaVersionError,
    TableNotFoundError,
    UnknownHashError,
    UnknownNameError,
)
from benchquery.kinds.architectures.kind import TABLE as KIND
from benchquery.table.columnfile import write_columns
from benchquery.table.curves import Curves, new_curves
from benchquery.table.manifest import read_manifest
from benchquery.table.schema import CURVE_COLUMNS
from benchquery.table.store import TABLES_VARIABLE, find
from benchquery.table.writer import new_table
from tests.benchquery.conftest import EPOCHS, HASHES, SEEDS
from tests.resealing import edit_sealed


def edit_manifest(folder: Path, **changes: object) -> None:
    edit_sealed(folder / "manifest.json", **changes)


def test_tables_built_elsewhere_open_alike(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    direct, listed = lightread("toy", source=built), lightread("toy", source=built.parent)
    assert list(direct) == list(listed) == list(HASHES)
    assert direct[61237] == listed[61237]
    assert direct.manifest.origin == "synthetic"
    assert direct[11111]["status"] == "diverged"
    with pytest.raises(TableNotFoundError):
        lightread("toy")
    monkeypatch.setenv(TABLES_VARIABLE, os.pathsep.join(["/nowhere", str(built.parent)]))
    assert lightread("toy")[0] == direct[0]
    assert {"toy", "cora"} <= {info.name for info in tables()}
    (info,) = tables(built.parent)
    assert (info.name, info.origin, info.rows, info.curves) == ("toy", "synthetic", 5, True)


@pytest.mark.parametrize("name", ["nope", "", "..", "../cora", "cora/../cora", "/etc", "cora\0"])
def test_unknown_names_list_what_is_there(name: str) -> None:
    with pytest.raises((TableNotFoundError, ValueError), match=r"cora|null"):
        lightread(name)


def test_sources_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(TableNotFoundError, match="missing is no folder"):
        tables(tmp_path / "missing")
    with pytest.raises(TableNotFoundError, match="there are: none"):
        find("cora", tmp_path)


def test_curves_are_served_as_the_original_files_do(built: Path) -> None:
    stored = Curves(built / "curves.h5")
    for seed in SEEDS:
        bench = read(built, seed=seed)
        info = bench[61237]
        assert len(info["dur"]) == EPOCHS
        assert info["perf"] == info[f"perf_seed{seed}"] == float(info["dur"][-1][2])
        np.testing.assert_array_equal(info["dur"], stored.curve(61237, seed))
    mean = read("toy", source=built)[61237]
    np.testing.assert_allclose(
        mean["dur"], np.mean([stored.curve(61237, seed) for seed in SEEDS], axis=0)
    )
    assert mean["perf"] == lightread("toy", source=built)[61237]["perf"]
    with pytest.raises(QueryError, match="no seed 7; allowed: mean, 0, 1"):
        read(built, seed=7)
    with pytest.raises(UnknownHashError):
        read(built)[1]
    with pytest.raises(QueryError, match="no learning curves"):
        read("cora")


def test_original_files_are_read(tmp_path: Path) -> None:
    original = {
        61237: {
            "dur": [[0.1 * k + epoch for k in range(7)] for epoch in range(3)],
            "perf": np.float64(0.5),
            "para": np.float32(0.25),
        }
    }
    for protocol in range(6):
        path = tmp_path / f"cora{protocol}.bench"
        path.write_bytes(pickle.dumps(original, protocol=protocol))
        assert read(path)[61237]["dur"][2][6] == original[61237]["dur"][2][6]  # type: ignore[index]
        assert read(path) == original


@pytest.mark.parametrize("name", ["summary.parquet", "curves.h5"])
def test_truncation_is_found_when_opening(built: Path, name: str) -> None:
    size = (built / name).stat().st_size
    for keep in (0, 1, size // 2, size - 1):
        with (built / name).open("r+b") as file:
            file.truncate(keep)
        with pytest.raises(CorruptTableError, match=name):
            lightread("toy", source=built)


def test_every_flipped_bit_of_the_summary_is_found(built: Path) -> None:
    path = built / "summary.parquet"
    good = path.read_bytes()
    for position in random.Random(0).sample(range(8 * len(good)), 200):
        bad = bytearray(good)
        bad[position // 8] ^= 1 << position % 8
        path.write_bytes(bad)
        with pytest.raises(CorruptTableError, match="damaged"):
            lightread("toy", source=built)
    path.write_bytes(good)
    verify(built)


def test_flipped_bits_of_the_curves_are_never_served(built: Path) -> None:
    path = built / "curves.h5"
    good = path.read_bytes()
    truth = {number: Curves(path).curve(number) for number in HASHES}
    noticed = 0
    for position in random.Random(1).sample(range(8 * len(good)), 300):
        bad = bytearray(good)
        bad[position // 8] ^= 1 << position % 8
        path.unlink()  # HDF5 would take the same file again for the one that it has open
        path.write_bytes(bad)
        with pytest.raises(CorruptTableError, match=r"curves\.h5"):
            verify(built)
        try:
            curves = Curves(path)
            for number in HASHES:
                np.testing.assert_array_equal(curves.curve(number), truth[number])
        except BenchQueryError:
            noticed += 1
    assert noticed > 5


def test_other_schema_versions_are_refused(built: Path) -> None:
    for version in (0, 3, "2", True, 2.0, None, 10**400):
        edit_manifest(built, schema_version=version)
        with pytest.raises(SchemaVersionError, match=r"schema version .*; .* reads 1 and 2"):
            lightread("toy", source=built)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "..", "a\\b", "a/b", "", "a\0b"]
)
def test_manifests_cannot_name_files_outside(built: Path, name: str) -> None:
    files = json.loads((built / "manifest.json").read_text())["files"]
    edit_manifest(built, files=files | {name: {"bytes": 1, "sha256": "0" * 64}})
    with pytest.raises(CorruptTableError, match="leaves the folder"):
        lightread("toy", source=built)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "other"},
        {"rows": -1},
        {"rows": "many"},
        {"origin": "guessed"},
        {"files": {}},
        {"columns": [{"name": "hash"}]},
        {"surprise": 1},
    ],
)
def test_manifests_that_make_no_sense_are_refused(built: Path, changes: dict[str, object]) -> None:
    edit_manifest(built, **changes)
    with pytest.raises(CorruptTableError, match=r"manifest\.json"):
        lightread("toy", source=built)


def test_broken_json_is_refused(built: Path) -> None:
    (built / "manifest.json").write_text("{")
    with pytest.raises(CorruptTableError, match="not the manifest"):
        lightread("toy", source=built)


def test_offsets_outside_the_file_are_refused(built: Path) -> None:
    columns = json.loads((built / "manifest.json").read_text())["columns"]
    for offset in (-1, 10**12):
        columns[1]["offset"] = offset
        edit_manifest(built, columns=columns)
        with pytest.raises(CorruptTableError, match="valid_perf"):
            lightread("toy", source=built).column("valid_perf")


def test_verify_finds_rows_that_cannot_be(built: Path) -> None:
    verify(built)
    edit_manifest(built, space="proteins")
    with pytest.raises(CorruptTableError, match="not in the space 'proteins', for example 0"):
        verify(built)


def test_plain_and_encoded_columns_read_the_same(built: Path) -> None:
    plain = lightread("toy", source=built)
    columns = json.loads((built / "manifest.json").read_text())["columns"]
    assert all(column["offset"] for column in columns if column["dtype"] != "string")
    edit_manifest(built, columns=[column | {"offset": None} for column in columns])
    decoded = lightread("toy", source=built)
    for name in plain.columns:
        np.testing.assert_array_equal(plain.column(name), decoded.column(name))


def test_numbers_of_another_width_are_stored_as_the_schema_says(tmp_path: Path) -> None:
    wide = np.array([1, 2, 3])
    columns = {"hash": wide, "params": wide, "seeds_ok": wide, "best_epoch": wide}
    for column in write_columns(tmp_path / "summary.parquet", columns, KIND):
        assert column.offset is not None
        stored = (tmp_path / "summary.parquet").read_bytes()[column.offset :]
        assert np.frombuffer(stored, column.dtype, count=3).tolist() == [1, 2, 3]
    with pytest.raises(TypeError):
        write_columns(tmp_path / "summary.parquet", {"seeds_ok": np.array([1.5])}, KIND)


def test_a_table_is_written_whole_or_not_at_all(tmp_path: Path, built: Path) -> None:
    with pytest.raises(UnknownNameError, match="'speed'"), new_table(tmp_path / "half") as stage:
        write_columns(stage / "summary.parquet", {"speed": np.zeros(3)}, KIND)
    assert [path.name for path in tmp_path.iterdir()] == ["tables"]
    before = read_manifest(built)
    with pytest.raises(QueryError, match="exists already"), new_table(built):
        pass
    assert read_manifest(built) == before
    copy = built.with_name("copy")
    shutil.copytree(built, copy)
    assert [info.name for info in tables(built.parent)] == ["copy", "toy"]


def test_a_table_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "table"

    def write() -> None:
        with new_table(folder) as stage:
            (stage / "ours").touch()
            folder.mkdir()
            (folder / "theirs").touch()

    with pytest.raises(OSError, match="not empty"):
        write()
    assert [path.name for path in tmp_path.iterdir()] == ["table"]
    assert [path.name for path in folder.iterdir()] == ["theirs"]


def test_reading_texts_starts_no_threads(built: Path) -> None:
    """A process that ends while Arrow's threads start is aborted, after a correct answer."""
    program = f"""
import os, numpy, pyarrow, pyarrow.parquet
from benchquery import lightread
before = len(os.listdir("/proc/self/task"))
assert lightread("toy", source={str(built)!r})[11111]["status"] == "diverged"
print(len(os.listdir("/proc/self/task")) - before)
"""
    if not Path("/proc/self/task").is_dir():
        pytest.skip("threads are counted in /proc, which this system lacks")
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr


def test_a_table_of_one_row_has_its_curve(tmp_path: Path) -> None:
    curves = np.random.default_rng(0).random((1, 2, 3, len(CURVE_COLUMNS)), dtype=np.float32)
    path = tmp_path / "curves.h5"
    with new_curves(path, np.array([7]), np.array([0, 4]), 3) as dataset:
        dataset[:] = curves
    read_back = Curves(path)
    np.testing.assert_array_equal(read_back.block(7), curves[0])
    np.testing.assert_array_equal(read_back.curve(7, seed=4), curves[0, 1])


def test_rows_whose_curve_was_never_written_have_no_figures(tmp_path: Path) -> None:
    path = tmp_path / "curves.h5"
    with new_curves(path, np.array([7, 8]), np.array([0]), 3) as dataset:
        dataset[0] = 1.0
    curves = Curves(path)
    curves.check()
    assert curves.block(7).tolist() == [[[1.0] * len(CURVE_COLUMNS)] * 3]
    assert np.isnan(curves.block(8)).all()


def test_a_manifest_that_changes_is_read_anew(built: Path) -> None:
    """Not its time, nor its size, nor its place tells that a manifest is the one known before."""
    path, copy = built / "manifest.json", built.with_name("copy")
    shutil.copytree(built, copy)
    good, when = path.read_bytes(), path.stat()
    assert lightread("toy", source=built).manifest == lightread("copy", built.parent).manifest
    for position in random.Random(2).sample(range(8 * len(good)), 200):
        bad = bytearray(good)
        bad[position // 8] ^= 1 << position % 8
        path.write_bytes(bad)
        os.utime(path, ns=(when.st_atime_ns, when.st_mtime_ns))
        with pytest.raises(BenchQueryError, match=r"manifest\.json"):
            lightread("toy", source=built)
    path.write_bytes(good)
    edit_manifest(built, licence="other")
    assert lightread("toy", source=built).manifest.licence == "other"
    path.write_bytes(good)
    assert read_manifest(built) == read_manifest(copy)


def test_what_is_changed_in_a_manifest_stays_there(built: Path) -> None:
    edit_manifest(built, provenance={"seeds": [0, 1], "jobs": {"ok": [{"many": 5}]}})
    first, again = read_manifest(built), read_manifest(built)
    mine = first.provenance
    assert isinstance(mine, dict)
    mine["jobs"]["ok"][0]["many"] = 7
    mine["seeds"].append(2)
    mine["more"] = first.source.update(more="text")  # type: ignore[attr-defined]
    for untouched in (again, read_manifest(built)):
        assert untouched.provenance == {"seeds": [0, 1], "jobs": {"ok": [{"many": 5}]}}
        assert "more" not in untouched.source


def test_a_name_goes_before_a_dataset(condensed: Path) -> None:
    for name in ("toy", "toy-other"):
        shutil.copytree(condensed, condensed.with_name(name))
    assert condread("toy", condensed.parent).name == "toy"
    shutil.rmtree(condensed.with_name("toy"))
    with pytest.raises(QueryError, match="name one of: toy-condensed, toy-other"):
        condread("toy", condensed.parent)
