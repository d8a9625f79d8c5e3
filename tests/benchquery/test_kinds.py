"""Tables of architectures and of condensed graphs are never taken for each other."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import benchquery
from benchquery import condread, find, lightread, read, tables, verify
from benchquery.errors import (
    KindError,
    QueryError,
    TableKindError,
    TableNotFoundError,
)
from benchquery.table.manifest import read_manifest
from benchquery.table.store import TABLES_VARIABLE, open_folder
from tests.resealing import edit_sealed

OLD = Path(__file__).parent.parent / "data" / "tables-v1"


def test_each_kind_has_its_reader(built: Path, condensed: Path) -> None:
    folder = condensed.parent
    assert condread("toy", folder).manifest.kind == "condensed"
    assert condread("toy-condensed", folder).manifest.kind == "condensed"
    opened = condread("toy", condensed)
    assert (opened.name, opened.dataset) == ("toy-condensed", "toy")
    assert benchquery.open("toy-condensed", folder).name == "toy-condensed"
    assert benchquery.open(condensed).name == "toy-condensed"
    assert lightread("toy", folder).manifest.kind == "architectures"
    assert {info.name: info.kind for info in tables(folder)} == {
        "toy": "architectures",
        "toy-condensed": "condensed",
    }
    assert [info.name for info in tables(folder, "condensed")] == ["toy-condensed"]
    assert find("toy", folder) == built
    assert find("toy", folder, "condensed") == find("toy-condensed", folder) == condensed
    assert verify(condensed).kind == "condensed"


def test_the_wrong_reader_says_which_is_right(built: Path, condensed: Path) -> None:
    said = "toy-condensed is a table of condensed graphs, not of architectures; .*condread"
    with pytest.raises(TableKindError, match=said):
        lightread("toy-condensed", condensed.parent)
    with pytest.raises(TableKindError, match=said):
        lightread("toy", condensed)
    for reader in (lightread, read):
        with pytest.raises(TableKindError, match=said):
            reader(condensed)
    said = "toy is a table of architectures, not of condensed graphs; .*lightread"
    with pytest.raises(TableKindError, match=said):
        condread("toy", built)
    with pytest.raises(TableKindError, match=said):
        open_folder(built, "condensed")
    with pytest.raises(TableKindError, match="pubmed is a table of architectures"):
        condread("pubmed")
    with pytest.raises(TableNotFoundError, match="no table 'nope'"):
        condread("nope")


def test_a_folder_of_the_other_kind_hides_no_table(
    built: Path, condensed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    shutil.copytree(condensed, first / "mine")
    shutil.copytree(built, second / "mine")
    monkeypatch.setenv(TABLES_VARIABLE, os.pathsep.join(map(str, (first, second))))
    assert len(lightread("mine")) == 5
    assert len(condread("mine")) == 13


def test_two_condensed_tables_of_a_dataset_must_be_told_apart(condensed: Path) -> None:
    shutil.copytree(condensed, condensed.with_name("again"))
    with pytest.raises(QueryError, match=r"several .* of 'toy'; name one of: again, toy-condensed"):
        condread("toy", condensed.parent)
    assert len(condread("again", condensed.parent)) == 13


def test_manifests_that_say_no_kind_are_of_architectures(condensed: Path) -> None:
    assert "kind" not in json.loads((OLD / "karate" / "manifest.json").read_text())
    assert read_manifest(OLD / "karate").kind == "architectures"
    assert len(lightread("karate", OLD)) == 6
    edit_sealed(condensed / "manifest.json", kind="poems")
    with pytest.raises(KindError, match=r"unknown kind of table 'poems'.*architectures, condensed"):
        benchquery.open("toy-condensed", condensed.parent)
    assert [info.kind for info in tables(condensed.parent)] == ["poems"]
