"""The bundled tables against the published package and the published paper."""

from __future__ import annotations

import struct

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

from benchquery import lightread, tables
from benchquery.table.manifest import SUMMARY, describe_file

COLUMNS = ("valid_perf", "perf", "latency", "para")

# Percent: the 95% quantile and the best of `perf`, and the `perf` of the best `valid_perf`.
# The paper's Table 2 prints the quantiles: 82.77 for computers and 78.37 for proteins.
FACTS = {
    "cora": (26_206, 80.63, 83.13, 82.63),
    "citeseer": (26_206, 69.07, 71.57, 71.03),
    "pubmed": (26_206, 76.60, 78.60, 75.60),
    "cs": (26_206, 90.01, 91.26, 90.59),
    "physics": (26_206, 91.67, 93.00, 91.35),
    "photo": (26_206, 91.57, 92.79, 92.08),
    "computers": (26_206, 82.76, 85.58, 82.03),
    "arxiv": (26_206, 71.69, 72.39, 71.95),
    "proteins": (2_021, 78.29, 79.26, 76.11),
}


def test_every_value_is_the_published_one_to_the_last_bit(
    published: tuple[str, dict[int, dict[str, float]]],
) -> None:
    name, theirs = published
    ours = lightread(name)
    assert len(ours) == len(theirs)
    for number, record in theirs.items():
        for column in COLUMNS:
            assert struct.pack("d", ours[number][column]) == struct.pack("d", record[column])
            assert type(ours[number][column]) is float


def test_parquet_readers_see_what_we_see(
    published: tuple[str, dict[int, dict[str, float]]],
) -> None:
    table = lightread(published[0])
    path = next(info.path for info in tables() if info.name == published[0]) / SUMMARY
    arrow = pq.read_table(path)
    assert arrow.column_names == list(table.columns)
    for column in table.columns:
        np.testing.assert_array_equal(arrow.column(column).to_numpy(), table.column(column))
    (row,) = duckdb.sql(f"select count(*), max(valid_perf) from '{path}'").fetchall()
    assert row == (len(table), table.column("valid_perf").max())


@pytest.mark.parametrize("name", FACTS)
def test_figures_of_the_paper(name: str) -> None:
    table = lightread(name)
    rows, quantile, best, chosen = FACTS[name]
    perf = table.column("perf")
    assert len(table) == rows
    assert round(100 * float(np.quantile(perf, 0.95)), 2) == pytest.approx(quantile, abs=0.011)
    assert round(100 * float(perf.max()), 2) == best
    (winner,) = table.top(1, by="valid_perf")
    assert round(100 * table[winner]["perf"], 2) == chosen


def test_inconsistent_parameter_counts_are_flagged() -> None:
    flagged = {info.name: (~lightread(info.name).column("para_consistent")).sum()
               for info in tables()
               if info.origin == "published"}  # fmt: skip
    assert flagged == {name: 1_567 if name == "physics" else 0 for name in FACTS}
    (note,) = lightread("physics").manifest.notes
    assert "1,567" in note


def test_the_bundle_is_small_and_says_where_it_comes_from() -> None:
    bundled = [info for info in tables() if info.origin == "published"]
    assert {info.name for info in bundled} == set(FACTS)
    size = 0
    for info in bundled:
        manifest = lightread(info.name).manifest
        assert manifest.licence == "Apache-2.0"
        assert manifest.source["package"] == "nas_bench_graph 1.4.0"
        assert manifest.rows == info.rows == FACTS[info.name][0]
        assert manifest.files[SUMMARY] == describe_file(info.path / SUMMARY)
        assert {c.name: c.unit for c in manifest.columns if c.unit} == {
            "valid_perf": "fraction", "perf": "fraction", "latency": "s", "para": "million",
        }  # fmt: skip
        size += sum(path.stat().st_size for path in info.path.iterdir())
    assert size < 8_000_000
