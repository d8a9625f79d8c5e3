"""One set of verbs for every kind of table, in Python and on the command line.

What the verbs answer is held against pandas, on a table of every kind.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import benchquery
from benchquery import Arch, RowTable, condread, lightread, read_weights
from benchquery.cli import main
from benchquery.errors import (
    ArchitectureError,
    BenchQueryError,
    QueryError,
    TableNotFoundError,
    UnknownHashError,
    UnknownNameError,
)

OLD = Path(__file__).parent.parent / "data" / "tables-v1"
TABLES = {
    "architectures": "cora-built",
    "condensed": "cora-condensed",
    "weights": str(OLD / "karate-weights"),
}
USUAL = {"task": "node-classification", "protocol": "corrected"}


@pytest.fixture(scope="module", params=TABLES)
def table(request: pytest.FixtureRequest) -> RowTable[Any]:
    return benchquery.open(TABLES[request.param])


def comparable(table: RowTable[Any]) -> pd.DataFrame:
    """The rows that are ranked with each other, by position."""
    frame = table.frame().reset_index()
    for name, value in USUAL.items():
        if name in frame:
            frame = frame[frame[name] == value]
    return frame


def test_open_opens_any_table_and_friendly_names_open_their_kind() -> None:
    for name in TABLES.values():
        assert benchquery.open(name).num_rows > 0
    assert type(benchquery.open("cora")) is type(lightread("cora"))
    assert condread("cora").name == benchquery.open("cora-condensed").name == "cora-condensed"
    assert read_weights("karate", OLD).name == read_weights(OLD / "karate-weights").name
    built = lightread("cora-built")
    assert (built.name, built.dataset) == ("cora-built", "cora")


def test_top_best_rank_and_regret_are_those_of_pandas(table: RowTable[Any]) -> None:
    frame = comparable(table)
    best_first = frame.sort_values("valid_perf", ascending=False, kind="stable")
    assert table.top(7).positions.tolist() == best_first.index[:7].tolist()
    assert table.top(7, by="valid").positions.tolist() == best_first.index[:7].tolist()
    assert table.best()["valid_perf"] == frame["valid_perf"].max()
    ranks, regrets = table.standing()
    expected = frame["valid_perf"].round(13).rank(ascending=False, method="min")
    known = expected.dropna()
    assert ranks[known.index].tolist() == known.astype(int).tolist()
    gaps = frame["valid_perf"].max() - frame["valid_perf"]
    np.testing.assert_allclose(regrets[frame.index], gaps, rtol=0, atol=1e-15)


def test_a_row_without_a_figure_ranks_last_and_wins_nothing() -> None:
    table = condread(OLD / "karate-condensed").where(task="link-prediction")
    failed = np.isnan(table.column("perf"))
    same = table.column("protocol") == "corrected"
    ranks, regrets = table.standing("perf")
    assert failed.sum() == 4
    assert set(ranks[failed & same]) == {1 + (same & ~failed).sum()}
    assert set(ranks[~failed]) == {1}
    assert np.isnan(regrets[failed]).all()
    assert not np.isnan(regrets[~failed]).any()
    assert np.isnan(table.top(table.num_rows, by="perf").column("perf")[-1])


def test_keys_lead_to_rows_and_back(table: RowTable[Any]) -> None:
    keys = list(dict.fromkeys(table))[:5]
    for key in keys:
        assert key in table
        assert table.rank(key) >= 1
        assert table.regret(key) >= 0
    looked_up = table.lookup(keys, "valid_perf")
    np.testing.assert_array_equal(looked_up, [table[key]["valid_perf"] for key in keys])
    assert set(table.lookup(keys)) == set(table.columns)
    assert table.get("no such key") is None
    with pytest.raises(UnknownHashError):
        table.lookup(["no such key"])


def test_records_and_frames_have_the_same_rows(table: RowTable[Any]) -> None:
    records, frame = table.records(), table.frame().reset_index()
    assert len(records) == len(frame) == table.num_rows
    for name in table.columns:
        ours = [record[name] for record in records]
        assert pd.Series(ours).equals(pd.Series(frame[name].tolist())), name


def test_architectures_are_named_by_links_and_operations_too() -> None:
    bench = lightread("cora").where(depth=2)
    frame = bench.frame()
    for number, link, ops in zip(bench, frame["link"], frame["ops"], strict=True):
        arch = Arch.from_hash(number)
        assert (tuple(map(int, link)), tuple(ops.split(","))) == (arch.link, arch.ops)


def test_conditions_take_one_value_of_several() -> None:
    cond, bench = condread("cora"), lightread("cora")
    frame = cond.frame()
    for several in (["gcond", "sfgc"], ("gcond", "sfgc"), {"gcond", "sfgc"}):
        assert cond.where(method=several).num_rows == frame["method"].isin(several).sum()
    chain = bench.where(link="0123")
    assert bench.where(link=[0, 1, 2, 3]).num_rows == chain.num_rows > 0
    both = bench.where(link=[[0, 1, 2, 3], "0012"]).num_rows
    assert both == chain.num_rows + bench.where(link="0012").num_rows
    assert bench.where(depth=[1, 2]).num_rows == bench.where("depth <= 2").num_rows
    assert cond.where(method="GCond").num_rows == cond.where("Method == GCOND").num_rows > 0


def test_a_value_that_no_row_can_have_is_an_error_with_a_suggestion() -> None:
    cond = condread("cora")
    for wrong in ({"method": "gcnod"}, {"method": ["sfgc", "gcnod"]}):
        with pytest.raises(QueryError, match="'gcnod'; did you mean 'gcond'"):
            cond.where(**wrong)
    with pytest.raises(QueryError, match="did you mean 'gcond'"):
        cond.where("method != gcnod")
    with pytest.raises(QueryError, match="no row has the link '0121'"):
        lightread("cora").where(link=[0, 1, 2, 1])
    # What a row might have had is no error, though none has it.
    assert cond.where(status="oom").num_rows == 0
    assert cond.where(method="gcond").where(method="sfgc").num_rows == 0


@pytest.mark.parametrize(
    "joint", ["perf > 0.8 and latency < 0.01", "perf > 0.8 & para < 1", "0.1 < perf < 0.2"]
)
def test_two_conditions_in_one_text_are_told_apart(joint: str) -> None:
    with pytest.raises(QueryError, match=r"more than one condition|is no condition"):
        lightread("cora").where(joint)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: lightread("croa"), TableNotFoundError, "did you mean 'cora'"),
        (lambda: lightread(None), QueryError, "a text such as 'cora', not None"),  # type: ignore[arg-type]
        (lambda: lightread("cora").column("prf"), UnknownNameError, "did you mean 'perf'"),
        (lambda: lightread("cora").where(dept=2), QueryError, "did you mean 'depth'"),
        (lambda: lightread("cora").top(by="ltency"), UnknownNameError, "did you mean 'latency'"),
        (lambda: lightread("cora").top(2.5), QueryError, "whole number"),  # type: ignore[arg-type]
        (lambda: lightread("cora")["61237"], UnknownHashError, r"bench\[61237\]"),  # type: ignore[index]
        (lambda: lightread("cora")[:10], UnknownHashError, r"bench\.top\(10\)"),  # type: ignore[index]
        (lambda: lightread("cora").plot.parteo, UnknownNameError, "did you mean 'pareto'"),
        (lambda: Arch([0] * 4, ["gcn", "gni", "fc", "fc"]), ArchitectureError, "mean 'gin'"),
    ],
)  # fmt: skip
def test_misspelt_names_are_guessed(ask: Any, error: type[BenchQueryError], message: str) -> None:
    with pytest.raises(error, match=message):
        ask()


def test_letter_case_and_usual_names_are_understood() -> None:
    assert lightread("Cora").name == "cora"
    assert lightread("CiteSeer").name == "citeseer"
    assert lightread("ogbn-arxiv").name == "arxiv"
    assert condread("Cora").name == "cora-condensed"
    assert Arch([0] * 4, ["GCN", "Gin", "fc", "FC"]) == Arch([0] * 4, ["gcn", "gin", "fc", "fc"])


# -------------------------------------------------------------------- the command line


def ask(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", TABLES.values(), ids=list(TABLES))
def test_commands_say_what_python_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    table = benchquery.open(name)
    key = {column: table.records()[0][column] for column in table.kind.key}
    rows = ask(capsys, "top", name, "-k", "3", "--by", "valid")
    assert [{n: row[n] for n in table.kind.key} for row in rows] == [
        {n: row[n] for n in table.kind.key} for row in table.top(3, by="valid").records()
    ]
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    assert len(ask(capsys, "pareto", name)) == table.pareto().num_rows
    options = [word for column, value in key.items() for word in (f"--{column}", str(value))]
    shown = ask(capsys, "show", name, *options)
    assert {column: shown[column] for column in key} == key
    for ending in (".csv", ".parquet", ".json"):
        out = tmp_path / f"rows{ending}"
        assert ask(capsys, "export", name, "-o", str(out))["rows"] == table.num_rows
    assert ask(capsys, "verify", name)[0]["status"] == "ok"
    picture = next(iter(table.kind.pictures))
    assert ask(capsys, "plot", name, picture, "-o", str(tmp_path / "picture.svg"))
    for words in (["top", name], ["pareto", name], ["show", name, *options]):
        assert main(words) == 0
        assert "nan" not in capsys.readouterr().out


def test_ls_lists_everything_that_goes_by_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    lists = {row["list"]: row["entries"] for row in ask(capsys, "ls")}
    wanted = {"datasets", "tables", "methods", "models", "grids", "strategies", "kinds", "pictures"}
    assert wanted <= set(lists)
    for name, entries in lists.items():
        assert len(ask(capsys, "ls", name)) == entries > 0, name
        assert main(["ls", name]) == 0
        capsys.readouterr()
    assert main(["ls", "metods"]) == 2
    assert "did you mean 'methods'" in capsys.readouterr().err


def test_advice_is_in_terms_of_the_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", "nope"]) == 2
    said = capsys.readouterr().err
    assert "--source FOLDER" in said
    assert "source=" not in said
    assert main(["top", "cora", "--where", "perf > 0.8 and latency < 1"]) == 2
    assert "--where 'perf > 0.8' --where" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("graphtab ")
