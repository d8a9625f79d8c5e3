"""The tables say today what they said before the house was rebuilt.

``tests/data/answers-v1.json`` was written by the version before, over all bundled tables and over a
golden table of every kind (``tests/data/tables-v1``): the checksum of every column, and what the
verbs answer. It is never written anew; of `cora-condensed` and `citeseer-condensed`, which were
measured anew since, it says nothing any more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import benchquery
from benchquery import ArchTable, CondensedTable, RowTable, verify
from benchquery.table.store import BUNDLED

DATA = Path(__file__).parent.parent / "data"
ANSWERS: dict[str, dict[str, Any]] = json.loads((DATA / "answers-v1.json").read_text())


def digest(values: Any) -> str:
    """The checksum of an array as the version before wrote it down."""
    array = np.asarray(values)
    if array.dtype.hasobject:
        content = "\n".join(array.tolist()).encode()
    else:
        content = array.astype(array.dtype.newbyteorder("<")).tobytes()
    return hashlib.sha256(content).hexdigest()[:16]


def folder_of(name: str) -> Path:
    return DATA / "tables-v1" / name.removeprefix("v1/") if "/" in name else BUNDLED / name


def opened(name: str) -> RowTable[Any]:
    return benchquery.open(folder_of(name))


def pairs(rows: Iterable[dict[str, Any]]) -> list[list[str]]:
    return [[row["config"], row["evaluation"]] for row in rows]


@pytest.mark.parametrize("name", ANSWERS)
def test_every_value_and_key_is_as_before(name: str) -> None:
    table, before = opened(name), ANSWERS[name]
    assert (table.kind.name, table.num_rows) == (before["kind"], before["rows"])
    assert {column: digest(table.column(column)) for column in table.columns} == before["columns"]
    assert table.name == folder_of(name).name
    assert verify(folder_of(name)).rows == before["rows"]


@pytest.mark.parametrize("name", [name for name in ANSWERS if "best" in ANSWERS[name]])
def test_condensed_tables_answer_the_same(name: str) -> None:
    table, before = opened(name), ANSWERS[name]
    assert isinstance(table, CondensedTable)
    assert list(table) == before["keys"]
    assert pairs(table.top(5).records()) == before["top"]
    assert pairs(table.pareto().records()) == before["front"]
    assert table.best()["config"] == before["best"]
    assert digest(table.curve(before["best"])) == before["curve"]
    assert {k: digest(v) for k, v in table.graph(before["best"]).items()} == before["graph"]
    assert {k: digest(v) for k, v in table.trace(before["best"]).items()} == before["trace"]
    means = [[m["method"], m["ratio"], m["count"], m["perf"]] for m in table.mean()]
    assert repr(means[: len(before["mean"])]) == repr(before["mean"])


@pytest.mark.parametrize("name", [name for name in ANSWERS if "rank" in ANSWERS[name]])
def test_tables_of_architectures_answer_the_same(name: str) -> None:
    table, before = opened(name), ANSWERS[name]
    assert isinstance(table, ArchTable)
    assert list(table.top(5)) == before["top"]
    assert list(table.pareto()) == before["front"]
    assert list(table.where("depth == 2", "gat == 0").top(3)) == before["where"]
    third = before["top"][2]
    regrets = [table.regret(third), table.regret(third, by="perf")]
    np.testing.assert_allclose(regrets, before["regret"], rtol=0, atol=1e-15)
    # Figures that differ in their last bit tie since; so ranks may only have become better.
    ranks = [table.rank(third), table.rank(third, by="perf")]
    assert all(now <= then for now, then in zip(ranks, before["rank"], strict=True))
    if "curve" in before:
        assert digest(table.curve(third, seed="mean")) == before["curve"]
