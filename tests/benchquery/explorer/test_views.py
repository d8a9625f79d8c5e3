"""What kinds tell the explorer, and what it does with kinds that tell it nothing."""

from __future__ import annotations

import dataclasses
import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchquery import condread
from benchquery.cli import main
from benchquery.errors import CorruptTableError, KindError, TableNotFoundError, UnknownNameError
from benchquery.explorer import Site, write_site
from benchquery.explorer.view import KindFile, TableFiles, View, view_of
from benchquery.table.registry import kind_of, kinds
from benchquery.table.schema import CURVE_COLUMNS
from benchquery.table.store import open_folder
from benchquery.table.writer import new_table, write_table
from tests.resealing import edit_sealed

from .weighing import EPOCHS, OLD, curves_of, write_weights

WEIGHTS = OLD / "karate-weights"


def arrow(site: Site, path: str) -> pa.Table:
    return pa.ipc.open_stream(gzip.decompress(site.read(path).body)).read_all()


def catalogue(site: Site) -> dict[str, Any]:
    return dict(json.loads(site.read("data/catalogue.json").body))


def set_kind(folder: Path, kind: str) -> None:
    edit_sealed(folder / "manifest.json", kind=kind)


# ---------------------------------------------------------------- kinds without a view


def test_tables_of_every_kind_are_shown() -> None:
    site = Site(OLD)
    assert site.names == ("karate", "karate-condensed", "karate-weights")
    assert site.left_out == []
    shown = [kind["name"] for kind in catalogue(site)["kinds"]]
    assert shown == [kind.name for kind in kinds() if kind.foreign is None]


def test_a_table_without_a_view_of_its_own_is_described() -> None:
    (table,) = catalogue(Site(WEIGHTS))["tables"]
    (kind,) = catalogue(Site(WEIGHTS))["kinds"]
    said = kind_of("weights")
    assert (kind["one"], kind["many"], kind["has_script"]) == (said.one, said.many, False)
    assert kind["key"] == table["key"] == ["link", "seed", "position", "operation"]
    assert (kind["brief"], kind["expense"]) == (list(said.brief), "train_time")
    assert table["choices"] == ["link", "seed", "position", "operation"]
    metrics = [column["name"] for column in table["columns"] if column["is_metric"]]
    assert {"weight", "valid_perf", "train_time"} < set(metrics)
    assert not {"link", "operation", "status"} & set(metrics)


def test_figures_of_such_a_table_are_sent_exactly(tmp_path: Path) -> None:
    site, table = Site(WEIGHTS), open_folder(WEIGHTS)
    sent = arrow(site, "data/tables/karate-weights.arrow.gz")
    assert tuple(sent.column_names) == table.columns
    for name in table.columns:
        np.testing.assert_array_equal(sent[name].to_numpy(zero_copy_only=False), table.column(name))
    assert not [path for path in site.paths() if "kinds/" in path or "/curves/" in path]
    assert write_site(site, tmp_path / "site") == len(list(site.paths()))


def test_curves_go_by_the_position_of_their_row(tmp_path: Path) -> None:
    site = Site(write_weights(tmp_path / "toy"))
    rows = catalogue(site)["tables"][0]["rows"]
    for row in range(rows - 1):
        sent = arrow(site, f"data/curves/toy/{row}.arrow.gz")
        epochs = EPOCHS - row % 2
        assert sent["seed"].to_pylist() == [3] * epochs
        for position, column in enumerate(CURVE_COLUMNS):
            expected = curves_of(row)[0, :epochs, position]
            np.testing.assert_array_equal(sent[column.name].to_numpy(), expected)
    assert len(arrow(site, f"data/curves/toy/{rows - 1}.arrow.gz")) == 0
    with pytest.raises(UnknownNameError, match="nothing at"):
        site.read(f"data/curves/toy/{rows}.arrow.gz")


def test_a_damaged_table_does_not_hide_the_others(tmp_path: Path) -> None:
    shutil.copytree(OLD, tmp_path / "tables")
    (tmp_path / "tables" / "karate-weights" / "summary.parquet").write_bytes(b"damaged")
    site = Site(tmp_path / "tables")
    described = {table["name"]: table for table in catalogue(site)["tables"]}
    assert described["karate-weights"]["choices"] == []
    assert described["karate-condensed"]["choices"][0] == "method"
    with pytest.raises(CorruptTableError, match=r"summary\.parquet has 7 bytes"):
        site.read("data/tables/karate-weights.arrow.gz")


# ---------------------------------------------------------------- tables that can't be shown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tables of which one is of no known kind, and one is damaged in the manifest."""
    folder = tmp_path / "tables"
    shutil.copytree(OLD, folder)
    set_kind(folder / "karate", "poems")
    (folder / "karate-condensed" / "manifest.json").write_text("{")
    return folder


def test_tables_that_cannot_be_shown_are_left_out_and_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = Site(folder)
    assert site.names == ("karate-weights",)
    (unknown, why), (damaged, what) = site.left_out
    assert (unknown.name, damaged.name) == ("karate", "karate-condensed")
    assert "unknown kind of table 'poems'; allowed: architectures, condensed, weights" in why
    assert "graphtab.kinds" in why
    assert "manifest.json is not the manifest of a table" in what
    assert main(["explore", "--export", str(tmp_path / "site"), "--source", str(folder)]) == 0
    said = capsys.readouterr()
    assert said.out == f"written to {tmp_path / 'site'}: karate-weights\n"
    first, second = said.err.splitlines()
    assert first == f"left out: {folder / 'karate'}: {why}"
    assert second == f"left out: {folder / 'karate-condensed'}: {what}"


def test_a_table_that_turns_out_damaged_is_left_out_of_what_is_exported(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(OLD / "karate", folder / "bad\x1b[2J")
    (folder / "bad\x1b[2J" / "summary.parquet").write_bytes(b"damaged")
    assert len(Site(folder).names) == 2
    words = ["explore", "--source", str(folder), "--export"]
    assert main([*words, str(tmp_path / "site")]) == 0
    said = capsys.readouterr()
    assert said.out == f"written to {tmp_path / 'site'}: karate-weights\n"
    assert [line.startswith("left out: ") for line in said.err.splitlines()] == [True] * 3
    assert "\x1b" not in said.err
    (folder / "karate-weights" / "summary.parquet").write_bytes(b"damaged")
    assert main([*words, str(tmp_path / "other")]) == 2
    assert not (tmp_path / "other").exists()


def test_where_none_can_be_shown_the_reasons_are_said(folder: Path) -> None:
    shutil.rmtree(folder / "karate-weights")
    with pytest.raises(TableNotFoundError, match=r"no tables in .*karate is left out.*'poems'"):
        Site(folder)


def test_a_table_whose_rows_have_no_key_is_left_out(folder: Path) -> None:
    set_kind(folder / "karate", "weights")
    _, (_, why) = sorted(Site(folder).left_out, reverse=True)
    assert why.startswith("the table has no column 'link', 'seed', 'position', 'operation'")


def test_names_from_a_table_lead_nowhere(condensed: Path, tmp_path: Path) -> None:
    table = condread("toy", condensed)
    columns = {name: table.column(name).copy() for name in table.columns}
    columns["config"][:] = "../../../outside"
    with new_table(tmp_path / "evil") as stage:
        write_table(
            stage, columns, name="toy", space="toy", origin="synthetic", metric="accuracy",
            source={}, licence="CC0-1.0", kind="condensed",
        )  # fmt: skip
    with pytest.raises(CorruptTableError, match=re.escape("'../../../outside' is no file name")):
        write_site(Site(tmp_path / "evil"), tmp_path / "deep" / "site")
    assert list((tmp_path / "deep").iterdir()) == []


# ---------------------------------------------------------------- views


def test_every_kind_has_a_view() -> None:
    for kind in kinds():
        view = view_of(kind)
        known = {column.name for column in kind.columns}
        assert view.key
        assert {*view.key, *(view.choices or ())} <= known
        json.dumps(dict(view.facts()))


@pytest.mark.parametrize(
    ("reference", "named"),
    [
        ("no_such_package:VIEW", "can't import its view no_such_package:VIEW: ModuleNotFound"),
        ("benchquery.explorer.view:NOTHING", "can't import its view"),
        ("benchquery.explorer.view:SCRIPT", "is no View"),
    ],
)
def test_a_view_that_is_none_is_named(reference: str, named: str) -> None:
    kind = dataclasses.replace(kind_of("weights"), view=reference)
    with pytest.raises(KindError, match=f"'weights': .*{re.escape(named)}"):
        view_of(kind)


@pytest.mark.parametrize("section", ["tables", "curves", "kinds", "..", "a/b", ""])
def test_sections_have_plain_names_of_their_own(section: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(section))):
        View(files={section: KindFile(".json", bytes)})


@pytest.mark.parametrize("ending", ["", ".exe", "json"])
def test_files_end_in_what_browsers_know(ending: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"can't end in {ending!r}")):
        View(files={"poems": TableFiles(ending, iter, lambda table, name: b"")})
