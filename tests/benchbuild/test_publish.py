"""What is published is read back by others: DuckDB, a Croissant reader, and our own fetch."""

from __future__ import annotations

import hashlib
import itertools
import shutil
from pathlib import Path

import duckdb
import mlcroissant
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import benchquery
from benchbuild.cli import main
from benchbuild.errors import PublishError, WriteError
from benchbuild.publishing import publish, write_registry
from benchquery.errors import CorruptTableError
from benchquery.remote import fetch
from benchquery.table.store import BUNDLED
from tests.mirror import serving

GOLDEN = Path(__file__).parent.parent / "data" / "tables-v1"


@pytest.fixture(scope="module")
def upload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published folder of tables of three kinds, one with curves."""
    out = tmp_path_factory.mktemp("publish") / "upload"
    tables = [BUNDLED / "pubmed-built", BUNDLED / "cora", *sorted(GOLDEN.glob("karate-*"))]
    publish(tables, out, title="Some tables", author="A lab", licence="Apache-2.0")
    return out


def test_every_file_has_its_checksum(upload: Path) -> None:
    lines = (upload / "SHA256SUMS").read_text().splitlines()
    sums = {path: digest for digest, path in (line.split("  ") for line in lines)}
    files = [path for path in upload.rglob("*") if path.is_file() and path.name != "SHA256SUMS"]
    assert sums == {
        path.relative_to(upload).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


@pytest.mark.parametrize("name", ["pubmed-built", "cora", "karate-condensed", "karate-weights"])
def test_duckdb_finds_the_rows_that_the_table_has(upload: Path, name: str) -> None:
    path = upload / "parquet" / name / "rows.parquet"
    table = benchquery.open(upload / name)
    found = duckdb.sql(f"select * from '{path}'").to_arrow_table()
    key = list(table.kind.key)
    wanted = table.arrow().sort_by([(one, "ascending") for one in key])
    pd.testing.assert_frame_equal(found.to_pandas(), wanted.to_pandas(), check_dtype=False)


def test_rows_are_laid_out_for_readers_of_parts(upload: Path) -> None:
    """Groups are small, sorted by the key and disjoint, and every page has an index."""
    footer = pq.ParquetFile(upload / "parquet" / "cora" / "rows.parquet").metadata
    assert footer.num_row_groups == 4
    groups = [footer.row_group(number).column(0) for number in range(4)]
    ends = [(group.statistics.min, group.statistics.max) for group in groups]
    assert all(before[1] < after[0] for before, after in itertools.pairwise(ends))
    assert all(group.has_column_index and group.has_offset_index for group in groups)


def test_curves_come_back_epoch_by_epoch(upload: Path) -> None:
    table = benchquery.open(upload / "pubmed-built")
    number = sorted(table.curves.numbers)[3]
    path = upload / "parquet" / "pubmed-built" / "curves.parquet"
    found = duckdb.sql(f"select * from '{path}' where number = {number} and seed = 1").fetchnumpy()
    block = table.curves.curve(number, 1)
    assert found["epoch"].tolist() == list(range(len(block)))
    figures = np.stack([found[name] for name in list(found)[3:]], axis=1)
    np.testing.assert_array_equal(figures, block.astype(np.float32))


def test_others_read_the_metadata(upload: Path) -> None:
    dataset = mlcroissant.Dataset(upload / "croissant.json")
    assert not dataset.metadata.issues.errors
    table = benchquery.open(upload / "karate-weights")
    names = [record_set.name for record_set in dataset.metadata.record_sets]
    assert names == ["pubmed-built", "pubmed-built-curves", "cora", "karate-condensed",
                     "karate-condensed-curves", "karate-weights"]  # fmt: skip
    assert len(list(dataset.records("karate-weights"))) == table.num_rows


def test_what_is_uploaded_can_be_fetched(upload: Path, tmp_path: Path) -> None:
    with serving(upload) as mirror:
        done = fetch("cora", f"{mirror.address}/registry.json", to=tmp_path / "there")
    assert benchquery.open(done.path)[61237]["perf"] == 0.8046666666666668


def test_the_card_says_what_and_where_from(upload: Path) -> None:
    text = (upload / "README.md").read_text()
    assert 'data_files: "parquet/pubmed-built/curves.parquet"' in text
    assert "26,206 architectures on cora; the figures are published" in text
    assert "NAS-Bench-Graph: Benchmarking" in (upload / "CITATION.cff").read_text()


def test_nothing_but_the_files_of_a_table_is_published(tmp_path: Path) -> None:
    """Links beside them would be copied as what they lead to."""
    table, about = tmp_path / "karate", {"title": "T", "author": "A", "licence": "MIT"}
    shutil.copytree(GOLDEN / "karate", table)
    (table / "secret").symlink_to(__file__)
    publish([table], tmp_path / "out", **about)
    files = [file.name for file in (tmp_path / "out" / "karate").iterdir()]
    assert sorted(files) == sorted(["manifest.json", *benchquery.open(table).manifest.files])
    (table / "summary.parquet").rename(tmp_path / "elsewhere")
    (table / "summary.parquet").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CorruptTableError, match="no regular file"):
        publish([table], tmp_path / "other", **about)
    with pytest.raises(PublishError, match="no table to publish"):
        publish([], tmp_path / "other", **about)
    with pytest.raises(WriteError, match="elsewhere"):
        publish([GOLDEN / "karate"], tmp_path / "elsewhere" / "out", **about)
    assert not (tmp_path / "other").exists()


def test_bad_input_is_named_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    says = ["--title", "T", "--author", "A", "--out", str(tmp_path / "out")]
    assert main(["publish", str(BUNDLED / "cora"), str(BUNDLED / "cora-built"), *says]) == 2
    assert "several licences" in capsys.readouterr().err
    assert main(["publish", str(tmp_path), *says]) == 2
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert main(["publish", str(loop / "table"), *says]) == 2
    loop.unlink()
    assert main(["publish", str(BUNDLED / "cora"), str(BUNDLED / "cora"), *says]) == 2
    assert "two tables are called cora" in capsys.readouterr().err
    assert main(["registry", str(BUNDLED), "nothing"]) == 2
    assert "no table 'nothing'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(PublishError, match="is of none of: http, https, file"):
        write_registry(GOLDEN, mirrors=["gopher://example.org"])
