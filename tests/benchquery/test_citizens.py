"""Tables and records are good citizens: they pickle, copy, print, and go into other programs."""

from __future__ import annotations

import copy
import json
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import benchquery
from benchquery import Record, RowTable, lightread

OLD = Path(__file__).parent.parent / "data" / "tables-v1"
TABLES = ("cora", "cora-built", "cora-condensed", str(OLD / "karate-weights"))


def best_of(table: RowTable[Any]) -> Record:
    """What a worker of a pool does; it must be importable there."""
    return table.best()


@pytest.fixture(scope="module", params=TABLES)
def table(request: pytest.FixtureRequest) -> RowTable[Any]:
    return benchquery.open(request.param)


def parts(table: RowTable[Any]) -> list[RowTable[Any]]:
    return [table, table.top(4), table.where("valid_perf > 0.2").top(3)]


def test_tables_pickle_and_copy(table: RowTable[Any]) -> None:
    for one in parts(table):
        list(one), one.records()
        other = pickle.loads(pickle.dumps(one))
        assert type(other) is type(one)
        assert (other.name, other.columns, other.num_rows) == (one.name, one.columns, one.num_rows)
        assert list(other) == list(one)
        for name in one.columns:
            np.testing.assert_array_equal(other.column(name), one.column(name))
        assert other.manifest.to_json() == one.manifest.to_json()
        assert copy.copy(one) is copy.deepcopy(one) is one


def test_tables_go_through_process_pools() -> None:
    tables = [lightread("cora"), lightread("cora").where(depth=2)]
    with ProcessPoolExecutor(1) as pool:
        assert list(pool.map(best_of, tables)) == [best_of(one) for one in tables]


def test_records_are_plain_data(table: RowTable[Any]) -> None:
    for record in (table.best(), next(iter(table.values())), *table.top(2).records()):
        assert isinstance(record, dict)
        assert json.loads(json.dumps(record)).keys() == record.keys()
        again = pickle.loads(pickle.dumps(record))
        assert repr(again) == repr(record)
        assert copy.deepcopy(record) == copy.copy(record)
        for change in (
            lambda r: r.update(perf=1),
            lambda r: r.pop("perf"),
            lambda r: r.__setitem__("perf", 1),
            lambda r: r.__delitem__("perf"),
            lambda r: r.clear(),
        ):
            with pytest.raises(TypeError, match="can't be changed"):
                change(record)
        assert {**record, "note": 1}["note"] == 1


def test_other_programs_take_tables_as_they_are(table: RowTable[Any]) -> None:
    for one in parts(table):
        arrow = pa.table(one)
        frame = one.frame().reset_index()
        assert arrow.num_rows == len(pl.DataFrame(one)) == len(frame)
        assert arrow.schema.names == pl.DataFrame(one).columns == frame.columns.tolist()
        assert duckdb.sql("select count(*) from one").fetchall() == [(one.num_rows,)]
        for name in one.columns:
            values = pl.DataFrame(one)[name].to_list()
            assert repr(values) == repr(frame[name].tolist()), name


def test_numbers_reach_arrow_without_a_copy() -> None:
    bench = lightread("cora")
    latency = pa.table(bench).column("latency").chunk(0)
    ours = bench.column("latency").__array_interface__["data"][0]
    assert latency.buffers()[1].address == ours


def test_tables_print_their_rows(table: RowTable[Any]) -> None:
    few = table.top(3)
    first, head, _, *lines = repr(few).splitlines()
    assert table.name in first
    assert head.split()[0] == table.kind.brief[0]
    assert len(lines) == 3
    assert "more rows" in repr(table)
    page = table._repr_html_()
    assert page.count("<tr>") >= 4
    assert table.name in page
    assert "more rows" in page


def test_html_is_escaped(tmp_path: Path) -> None:
    from benchquery.text import format_html

    page = format_html("<b>", [{"<i>": "<script>"}], 1, "a & b")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a &amp; b" in page
