"""Tables made to do harm: refused by name, and nothing of what they point at is shown.

Checksums fit here, as an attacker would see to: what must hold is everything else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import benchquery
from benchquery import tables, verify
from benchquery.cli import main
from benchquery.errors import (
    BenchQueryError,
    CorruptTableError,
    QueryError,
    SchemaVersionError,
)
from benchquery.kinds.condensed.graphs import Graphs
from benchquery.table.bundled import BUNDLED_MANIFESTS
from benchquery.table.curves import Curves
from benchquery.table.hdf5 import CHECKED
from benchquery.table.manifest import describe_file, read_manifest
from benchquery.table.sealed import DEEPEST, SEAL, seal
from benchquery.table.store import BUNDLED
from benchquery.table.writer import new_table, write_table
from tests.resealing import edit_sealed, places, put

OLD = Path(__file__).parent.parent / "data" / "tables-v1"
SECRET = bytes(range(1, 201)) * 40


def manifest_of(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "manifest.json").read_text()))


def refit(folder: Path, name: str) -> None:
    """Let the manifest fit a file that was exchanged."""
    files = manifest_of(folder)["files"]
    files[name] = vars(describe_file(folder / name))
    edit_sealed(folder / "manifest.json", files=files)


# ---------------------------------------------------------------- manifests


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (["rows"], [-1, "5", True, 5.0, None, [], 10**30, 6 << 40]),
        (["name"], ["", 3, None, ["toy"], "a\nb", "\x1b[2J"]),
        (["kind"], ["", 3, None, {}]),
        (["origin"], ["guessed", 0, None, [], {}]),
        (["licence"], [3, None, {}]),
        (["notes"], ["text", [3], None, {"a": "b"}]),
        (["source"], ["text", [], {"a": 3}, {"a": None}]),
        (["provenance"], ["text", [], None, 3]),
        (["files"], [[], "text", None, {}]),
        (["files", "summary.parquet"], [[], None, {"bytes": 3}, {"sha256": "0" * 64}]),
        (["files", "summary.parquet", "bytes"], [-1, True, "3", 1.5, None, 10**400]),
        (["files", "summary.parquet", "sha256"], ["", "0" * 63, "Z" * 64, "A" * 64, 3, None]),
        (["columns"], [{}, "text", None, [3], [[]], [None]]),
        (["columns", 1, "name"], ["hash", "", 3, None, []]),
        (["columns", 1, "dtype"], ["object", "float128", "", 3, None, [], "string", "|V8"]),
        (["columns", 1, "unit"], [3, [], "", {}]),
        (["columns", 1, "split"], ["exam", 3, []]),
        (["columns", 1, "direction"], ["up", 3, {}]),
        (["columns", 1, "description"], [3, None]),
        (["columns", 1, "offset"], [-1, "4", True, 1.0, 10**12, 10**400, []]),
        (["columns", 6, "offset"], [4]),
    ],
)
def test_every_field_has_its_type_and_range(
    built: Path, path: list[str | int], values: list[object]
) -> None:
    body = manifest_of(built)
    for value in values:
        changed = put(body, path, value)
        edit_sealed(built / "manifest.json", **{str(path[0]): changed[path[0]]})
        with pytest.raises(CorruptTableError, match=r"manifest\.json is not the manifest"):
            benchquery.open("toy", built)


def test_values_of_other_types_end_in_no_foreign_error(built: Path) -> None:
    """Whatever stands anywhere in a manifest with a checksum that fits."""
    body = manifest_of(built)
    body.pop(SEAL)
    rng = random.Random(0)
    odd = [None, True, -1, 0, 1.5, 1e300, "", "x", "hash", [], {}, [[]], {"a": 1}, 2**70, "\0"]
    for _ in range(1000):
        (built / "manifest.json").write_text(
            seal(put(body, rng.choice(places(body)), rng.choice(odd)))
        )
        for use in (verify, lambda folder: repr(benchquery.open("toy", folder))):
            with contextlib.suppress(BenchQueryError):
                use(built)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested"),
        ('{"a":' * 100_000, "nested"),
        ('{"a":' + "[" * DEEPEST + "]" * DEEPEST + "}", "nested"),
        ('{"format": "graphtab", "format": "graphtab"}', "'format' twice"),
        ('{"format": "graphtab", "rows": NaN}', "NaN is no number"),
        ('{"format": "graphtab", "rows": -Infinity}', "-Infinity is no number"),
        ('{"format": "graphtab", "rows": 1e999}', "1e999 is too large"),
        ('{"format": "graphtab", "rows": ' + "9" * 5000 + "}", "digits"),
        ('{"format": "graphtab", "name": "\\ud800"}', "surrogates"),
        ("3", "no JSON object"),
        ("", "Expecting value"),
        (b"\xff\xfe{\0}\0", "utf-8"),
        (b'{"format": "\xff"}', "utf-8"),
    ],
)
def test_json_that_is_not_plain_is_refused(built: Path, text: str | bytes, message: str) -> None:
    path = built / "manifest.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CorruptTableError, match=rf"{path} .*{message}"):
        read_manifest(built)


def test_a_checksum_cannot_be_left_out(built: Path) -> None:
    path = built / "manifest.json"
    body = manifest_of(built)
    for changes, message in (
        ({"schema_version": 1}, "sha256"),
        ({"schema_version": 1, SEAL: None}, "sha256"),
        ({SEAL: None}, "damaged"),
        ({SEAL: "0" * 64}, "damaged"),
        ({"metric": "rocauc"}, "damaged"),
        ({"source": {"title": "other numbers"}}, "damaged"),
    ):
        path.write_text(json.dumps(body | changes))
        with pytest.raises(CorruptTableError, match=message):
            read_manifest(built)
    del body[SEAL]
    path.write_text(json.dumps(body))
    with pytest.raises(CorruptTableError, match=r"checksum is \w+..., stated is missing"):
        read_manifest(built)


def test_the_checksum_is_that_of_the_other_fields(built: Path) -> None:
    body = manifest_of(built)
    stated = body.pop(SEAL)
    text = json.dumps(body, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == stated
    (built / "manifest.json").write_text(json.dumps({**body, SEAL: stated}))
    verify(built)
    (built / "manifest.json").write_text(json.dumps({**dict(reversed(body.items())), SEAL: stated}))
    with pytest.raises(CorruptTableError, match="damaged"):
        verify(built)


def test_bundled_manifests_are_known(tmp_path: Path) -> None:
    contents = [path.read_bytes() for path in BUNDLED.glob("*/manifest.json")]
    first = [content for content in contents if "sha256" not in json.loads(content)]
    sums = [hashlib.sha256(content).hexdigest() for content in first]
    assert sums
    assert set(sums) <= set(BUNDLED_MANIFESTS.values())
    copy = shutil.copytree(BUNDLED / "cora", tmp_path / "cora")
    good = (copy / "manifest.json").read_bytes()
    (copy / "manifest.json").write_bytes(good.replace(b"Qin", b"Qim"))
    with pytest.raises(CorruptTableError, match=r"manifest\.json .*damaged.*bundled"):
        benchquery.open("cora", tmp_path)


def test_tables_of_version_1_must_make_sense(tmp_path: Path) -> None:
    for name in ("karate", "karate-condensed", "karate-weights"):
        copy = shutil.copytree(OLD / name, tmp_path / name)
        verify(copy)
        edit_sealed(copy / "manifest.json", surprise=1)
        with pytest.raises(CorruptTableError, match="surprise"):
            benchquery.open(copy)


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    columns = {"hash": np.array([0], np.int32), "perf": np.array([0.5])}
    about: dict[str, Any] = {"space": "full", "metric": "accuracy", "source": {}, "licence": ""}
    for changes in ({"provenance": {"a": float("nan")}}, {"provenance": {"a": {3}}}, {"name": ""}):
        with pytest.raises(QueryError, match="no manifest"), new_table(tmp_path / "t") as stage:
            write_table(stage, columns, origin="synthetic", **({"name": "t"} | about | changes))
    assert not any(tmp_path.iterdir())


def test_verify_compares_columns_with_what_parquet_says(built: Path) -> None:
    columns = manifest_of(built)["columns"]
    places_ = {column["name"]: number for number, column in enumerate(columns)}
    latency, perf = (columns[places_[name]] for name in ("latency", "perf_seed0"))
    for change, message in (
        ({"offset": perf["offset"]}, "places column 'latency'"),
        ({"offset": latency["offset"] + 1}, "places column 'latency'"),
        ({"offset": None, "dtype": "float32"}, "is of the type double"),
        ({"offset": None, "dtype": "string"}, "is of the type double"),
        ({"name": "speed"}, "other columns .*latency, speed"),
    ):
        changed = [*columns]
        changed[places_["latency"]] = latency | change
        edit_sealed(built / "manifest.json", columns=changed)
        with pytest.raises(CorruptTableError, match=message):
            verify(built)
    edit_sealed(built / "manifest.json", columns=columns[:-1])
    with pytest.raises(CorruptTableError, match="other columns"):
        verify(built)
    edit_sealed(built / "manifest.json", columns=columns, rows=4)
    with pytest.raises(CorruptTableError, match=r"5 rows.*says 4"):
        verify(built)


@pytest.mark.parametrize("name", ["karate", "karate-condensed", "karate-weights"])
def test_verify_names_tables_that_lack_columns(tmp_path: Path, name: str) -> None:
    table = benchquery.open(OLD / name)
    about = {key: getattr(table.manifest, key) for key in ("name", "space", "origin", "metric")}
    about |= {"source": {}, "licence": "", "kind": table.manifest.kind}
    for gone in table.kind.key:
        columns = {key: table.column(key) for key in table.columns if key != gone}
        with new_table(tmp_path / f"without-{gone}") as stage:
            write_table(stage, columns, **about)
        with pytest.raises(BenchQueryError, match=gone):
            verify(tmp_path / f"without-{gone}")


# ---------------------------------------------------------------- links, pipes and devices


@pytest.mark.parametrize("name", ["manifest.json", "summary.parquet", "curves.h5", "graphs.h5"])
@pytest.mark.parametrize("what", ["link", "pipe", "device", "folder"])
def test_files_must_be_regular(condensed: Path, tmp_path: Path, name: str, what: str) -> None:
    outside = tmp_path / "outside"
    (condensed / name).rename(outside)
    if what == "link":
        (condensed / name).symlink_to(outside)
    elif what == "pipe":
        os.mkfifo(condensed / name)
    elif what == "device":
        (condensed / name).symlink_to("/dev/zero")
    else:
        (condensed / name).mkdir()
    for use in (verify, benchquery.open):
        with pytest.raises(CorruptTableError, match=rf"{name} .*no regular file"):
            use(condensed)


def test_a_folder_may_be_reached_through_a_link(condensed: Path, tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(condensed.parent)
    (tmp_path / "other").symlink_to(condensed)
    verify(tmp_path / "data" / condensed.name)
    assert len(benchquery.open("toy-condensed", tmp_path / "data")) == 13
    assert len(benchquery.open("other", tmp_path)) == 13


# ---------------------------------------------------------------- HDF5

Change = Callable[[h5py.Group, str, Path], None]


def external(group: h5py.Group, name: str, secret: Path) -> None:
    shape, dtype = group[name].shape, group[name].dtype
    size = int(np.prod(shape)) * dtype.itemsize
    secret.write_bytes(SECRET * (1 + size // len(SECRET)))
    del group[name]
    group.create_dataset(name, shape, dtype, external=[(str(secret), 0, size)])


def virtual(group: h5py.Group, name: str, secret: Path) -> None:
    shape, dtype = group[name].shape, group[name].dtype
    with h5py.File(secret, "w") as file:
        file.create_dataset("secret", data=np.full(shape, 5, dtype) if dtype.kind != "V" else None,
                            shape=shape, dtype=dtype)  # fmt: skip
    layout = h5py.VirtualLayout(shape, dtype)
    layout[...] = h5py.VirtualSource(str(secret), "secret", shape)
    del group[name]
    group.create_virtual_dataset(name, layout)


def external_link(group: h5py.Group, name: str, secret: Path) -> None:
    with h5py.File(secret, "w") as file:
        group.copy(name, file)
    del group[name]
    group[name] = h5py.ExternalLink(str(secret), name)


def soft_link(group: h5py.Group, name: str, secret: Path) -> None:
    group.move(name, "elsewhere")
    group[name] = h5py.SoftLink(f"{group.name}/elsewhere")


def loop(group: h5py.Group, name: str, secret: Path) -> None:
    del group[name]
    group[name] = h5py.SoftLink(f"{group.name}/{name}")


def huge(group: h5py.Group, name: str, secret: Path) -> None:
    dtype, ndim = group[name].dtype, group[name].ndim
    shape = (10**6, *[10**3] * (ndim - 1)) if ndim > 1 else (10**9,)
    chunks = (1, *shape[1:]) if name == "curves" else tuple(min(one, 10**4) for one in shape)
    del group[name]
    group.create_dataset(name, shape, dtype, chunks=chunks, **CHECKED)


def unchecked(group: h5py.Group, name: str, secret: Path) -> None:
    values = group[name][()]
    del group[name]
    group.create_dataset(name, data=values, chunks=(1, *values.shape[1:]))


def texts(group: h5py.Group, name: str, secret: Path) -> None:
    shape = group[name].shape
    del group[name]
    group.create_dataset(name, shape, h5py.string_dtype(), chunks=shape)


def folder(group: h5py.Group, name: str, secret: Path) -> None:
    del group[name]
    group.create_group(name)


def itself(group: h5py.Group, name: str, secret: Path) -> None:
    del group[name]
    group[name] = group


HARM: list[Change] = [
    external, virtual, external_link, soft_link, loop, huge, unchecked, texts, folder, itself,
]  # fmt: skip


@pytest.mark.parametrize("change", HARM)
@pytest.mark.parametrize("name", ["hash", "seed", "curves"])
def test_curves_stand_in_their_own_file(
    built: Path, tmp_path: Path, change: Change, name: str
) -> None:
    with h5py.File(built / "curves.h5", "r+") as file:
        change(file, name, tmp_path / "secret")
    refit(built, "curves.h5")
    with pytest.raises(CorruptTableError, match=r"curves\.h5"):
        benchquery.read(built)
    with pytest.raises(CorruptTableError, match=r"curves\.h5"):
        verify(built)


@pytest.mark.parametrize("change", HARM)
@pytest.mark.parametrize("name", ["x", "y", "adjacency", "trace"])
def test_graphs_stand_in_their_own_file(
    condensed: Path, tmp_path: Path, change: Change, name: str
) -> None:
    with h5py.File(condensed / "graphs.h5", "r+") as file:
        config = next(one for one in file if "adjacency" in file[one])
        change(file[config], name, tmp_path / "secret")
    refit(condensed, "graphs.h5")
    graphs = Graphs(condensed / "graphs.h5")
    with pytest.raises(CorruptTableError, match=r"graphs\.h5"):
        _ = graphs.trace(config) if name == "trace" else graphs.graph(config)
    with pytest.raises(CorruptTableError, match=r"graphs\.h5"):
        verify(condensed)


def stored(group: h5py.Group, name: str, values: Any) -> None:
    """Store other values, in the way that is right."""
    del group[name]
    group.create_dataset(name, data=values, chunks=values.shape, **CHECKED)


@pytest.mark.parametrize("name", ["hash", "seed"])
@pytest.mark.parametrize("values", [np.zeros(9, int), np.arange(4).reshape(2, 2), np.ones(2)])
def test_curves_name_each_row_and_seed_once(built: Path, name: str, values: Any) -> None:
    with h5py.File(built / "curves.h5", "r+") as file:
        stored(file, name, values)
    refit(built, "curves.h5")
    with pytest.raises(CorruptTableError, match=r"curves\.h5 holds curves of"):
        verify(built)


def test_traces_have_what_pictures_of_them_show(condensed: Path) -> None:
    with h5py.File(condensed / "graphs.h5", "r+") as file:
        config = next(iter(file))
        stored(file[config], "trace", np.zeros(3, [("epoch", "i4"), ("loss", "f4")]))
    refit(condensed, "graphs.h5")
    with pytest.raises(CorruptTableError, match=r"graphs\.h5 .* its trace has no valid_perf"):
        verify(condensed)


@pytest.mark.parametrize("change", [external_link, soft_link, loop, itself])
def test_groups_stand_in_their_own_file(condensed: Path, tmp_path: Path, change: Change) -> None:
    with h5py.File(condensed / "graphs.h5", "r+") as file:
        config = next(iter(file))
        change(file, config, tmp_path / "secret")
    with pytest.raises(CorruptTableError, match=rf"graphs\.h5 is damaged at .*{config}"):
        Graphs(condensed / "graphs.h5").graph(config)


def test_verify_reads_graphs_that_no_row_has(condensed: Path) -> None:
    with h5py.File(condensed / "graphs.h5", "r+") as file:
        file["stray"] = h5py.ExternalLink("/etc/passwd", "x")
    refit(condensed, "graphs.h5")
    with pytest.raises(CorruptTableError, match=r"graphs\.h5 is damaged at configuration stray"):
        verify(condensed)


def test_digests_must_be_short_texts(condensed: Path) -> None:
    with h5py.File(condensed / "graphs.h5", "r+") as file:
        config = next(iter(file))
        for digest in (3, "0" * 64, np.zeros(1000), np.bytes_("0" * 1000), np.bytes_("\xff", "l1")):
            file[config].attrs["sha256"] = digest
            file.flush()
    refit(condensed, "graphs.h5")
    with pytest.raises(CorruptTableError, match=rf"graphs\.h5 .*{config}"):
        verify(condensed)


def test_chunks_that_became_zeros_are_noticed(built: Path) -> None:
    """Zeros are a valid checksum of zeros, so a block that a disk lost would pass for a curve."""
    path = built / "curves.h5"
    with h5py.File(path) as file:
        chunks = [file["curves"].id.get_chunk_info(row) for row in range(file["curves"].shape[0])]
    content = bytearray(path.read_bytes())
    for chunk in chunks:
        content[chunk.byte_offset : chunk.byte_offset + chunk.size] = bytes(chunk.size)
    path.unlink()
    path.write_bytes(content)
    curves = Curves(path)
    for number in benchquery.open("toy", built):
        with pytest.raises(CorruptTableError, match=rf"curves\.h5 is damaged at {number}"):
            curves.block(number)


# ---------------------------------------------------------------- neighbours


def test_lists_leave_out_hostile_tables(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = built.parent
    shutil.copytree(OLD / "karate-condensed", source / "karate-condensed")
    texts = {"deep": "[" * 100_000, "old\nname": '{"format": "graphtab", "schema_version": 9}'}
    for name, text in texts.items():
        (source / name).mkdir()
        (source / name / "manifest.json").write_text(text)
    (source / "pipe").mkdir()
    os.mkfifo(source / "pipe" / "manifest.json")
    for words in (["datasets"], ["ls", "tables"], ["ls", "datasets"], ["ls"]):
        assert main([*words, "--source", str(source)]) == 0
        said = capsys.readouterr()
        assert "toy" in said.out or words == ["ls"]
        lines = said.err.splitlines()
        assert len(lines) == 3
        for line, name in zip(lines, ("deep", "old name", "pipe"), strict=True):
            assert line.startswith(f"left out: {source}/{name}: ")
    assert main(["explore", "--source", str(source), "--export", str(tmp_path / "page")]) == 0
    assert capsys.readouterr().err.count("left out: ") == 3
    assert benchquery.condread("karate", source).name == "karate-condensed"
    with pytest.raises((CorruptTableError, SchemaVersionError)):
        tables(source)
    left_out: list[tuple[Path, BenchQueryError]] = []
    assert len(tables(source, left_out=left_out)) == 2
    assert [one.name for one, _ in left_out] == ["deep", "old\nname", "pipe"]
    for good in (built, source / "karate-condensed"):
        shutil.rmtree(good)
    assert main(["datasets", "--source", str(source)]) == 2
    assert f"no table in {source} can be read: 3 left out" in capsys.readouterr().err


def test_verify_goes_on_after_a_damaged_table(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = built.parent
    shutil.copytree(OLD / "karate-condensed", source / "karate-condensed")
    (source / "a\nb").mkdir()
    (source / "a\nb" / "manifest.json").write_text("[" * 100_000)
    shutil.copytree(built, source / "cut")
    summary = source / "cut" / "summary.parquet"
    summary.write_bytes(summary.read_bytes()[:-9])
    assert main(["verify", "--source", str(source), "--json"]) == 2
    said = capsys.readouterr()
    assert [row["table"] for row in json.loads(said.out)] == ["karate-condensed", built.name]
    lines = said.err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("benchquery: error: ") for line in lines)
    assert f"{source}/a b" in lines[0]
    assert str(summary) in lines[1]
    assert main(["verify", "cut", "nope", built.name, "--source", str(source)]) == 2
    said = capsys.readouterr()
    assert built.name in said.out
    assert [
        line.count(name) > 0
        for line, name in zip(said.err.splitlines(), ("cut", "nope"), strict=True)
    ] == [True, True]
    for bad in ("a\nb", "cut"):
        shutil.rmtree(source / bad)
    assert main(["verify", "--source", str(source)]) == 0
