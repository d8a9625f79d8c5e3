"""The leaderboard: ranked by validation, the papers' figures beside, each row once."""

from __future__ import annotations

import json
from math import isnan

import pytest

from benchquery import condread
from benchquery.cli import main
from benchquery.errors import QueryError
from benchquery.kinds.condensed.leaderboard import leaderboard, tables_of
from benchquery.kinds.condensed.published import published
from tests.benchquery.condensing import usual


def test_measured_rows_are_ranked_by_validation() -> None:
    table = condread("cora-condensed")
    board = leaderboard([table], 0.026)
    ranked = [one for one in board.standings if one.rank is not None]
    assert [one.rank for one in ranked] == list(range(1, len(ranked) + 1))
    assert [one.valid for one in ranked] == sorted((one.valid for one in ranked), reverse=True)
    for one in ranked:
        if one.settings:
            continue
        rows = usual(table).where(method=one.method, ratio=0.026, protocol="corrected")
        assert one.valid == pytest.approx(100 * rows.column("valid_perf").mean())
        assert one.seeds == len(rows)
        (figure,) = published("2", dataset="cora", method=one.method, ratio=0.026)
        assert (one.paper, one.paper_std) == (figure.mean, figure.std)
    kept = [one for one in board.standings if one.protocol == "as-released"]
    assert kept
    assert all(one.rank is None for one in kept)


def test_a_row_of_two_tables_counts_once() -> None:
    table = condread("cora-condensed")
    once, twice = (leaderboard(found, 0.026).standings for found in ([table], [table, table]))
    assert [(one.method, one.seeds, one.test) for one in once] == [
        (one.method, one.seeds, one.test) for one in twice
    ]


def test_what_is_only_published_stands_below() -> None:
    part = usual(condread("cora-condensed")).where(method="random")
    first, *others = leaderboard([part], 0.026).standings
    assert (first.method, first.rank, first.origin) == ("random", 1, "measured")
    assert {one.origin for one in others} == {"published"}
    assert len(others) == 9
    assert all(isnan(one.test) and not isnan(one.paper) for one in others)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["condensed", "leaderboard", "cora", "--ratio", "0.026", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert (rows[0]["rank"], rows[0]["dataset"], rows[0]["ratio"]) == (1, "cora", 0.026)
    for words, message in (
        (["cora", "--ratio", "0.3"], "sizes: 0.013, 0.026, 0.052"),
        (["cora"], "said by --ratio"),
        (["nci1", "--ratio", "0.1"], "said by --per-class"),
        (["nowhere", "--ratio", "0.1"], "there are of: "),
        (["cora", "--ratio", "0.026", "--model", "gin"], "models: gcn"),
    ):
        assert main(["condensed", "leaderboard", *words]) == 2
        assert message in capsys.readouterr().err


def test_tables_are_found_by_dataset() -> None:
    assert "cora-condensed" in [table.name for table in tables_of("cora")]
    with pytest.raises(QueryError, match="'nowhere'"):
        tables_of("nowhere")
