from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchquery import lightread
from benchquery.errors import CorruptTableError, QueryError
from benchquery.search import (
    Budget,
    Oracle,
    Trace,
    aggregate,
    compare,
    differences,
    load,
    run,
    save,
)
from benchquery.search.plot import plot_search
from benchquery.search.summary import group, standard_error
from benchquery.search.trace import table_id
from tests.benchquery.search.conftest import FAILED, Raced

rows = st.lists(
    st.tuples(st.sampled_from([0.5, 1.0]), st.sampled_from([0.1, 0.2, 0.3]), st.integers(1, 9)),
    min_size=1,
    max_size=30,
)


@given(rows=rows)
def test_the_incumbent_is_the_best_of_the_longest_trainings(
    rows: list[tuple[float, float, int]],
) -> None:
    fidelities, rewards, ends = map(np.array, zip(*rows, strict=True))
    trace = dataclasses.replace(
        Oracle(lightread("proteins"), Budget(1)).finish(strategy="mine", seed=0),
        hashes=np.arange(len(rows)),
        rewards=rewards,
        fidelities=fidelities,
        costs=np.ones(len(rows)),
        ended=ends.astype(float),
    )
    progress = trace.progress()
    best: tuple[float, float] | None = None
    for place, query in enumerate(sorted(range(len(rows)), key=lambda i: ends[i])):
        if best is None or (fidelities[query], rewards[query]) > best:
            best, number = (fidelities[query], rewards[query]), query
        assert progress.hashes[place] == number
        assert progress.rewards[place] == best[1]
        assert progress.spent[place] == place + 1


def test_the_report_is_that_of_pandas() -> None:
    trace = run("evolution", "cora", "2%", seed=4)
    report = trace.report()
    frame = lightread("cora").frame()
    asked = frame.loc[trace.hashes]
    found = asked["valid_perf"].idxmax()
    assert report.hash == found
    assert report.perf == frame.loc[found, "perf"]
    assert report.valid_perf == frame.loc[found, "valid_perf"] == asked["valid_perf"].max()
    assert report.rank == frame["perf"].round(9).rank(ascending=False, method="min")[found]
    assert (
        report.valid_rank == frame["valid_perf"].round(9).rank(ascending=False, method="min")[found]
    )
    spread = frame["perf"].max() - frame["perf"].min()
    assert report.regret == pytest.approx(frame["perf"].max() - report.perf)
    assert report.normalised_regret == pytest.approx(report.regret / spread)
    assert report.valid_regret == pytest.approx(frame["valid_perf"].max() - report.valid_perf)
    assert (report.queries, report.architectures) == (524, asked.index.nunique())
    assert report.origin == "published"
    np.testing.assert_array_equal(report.curve["reward"], asked["valid_perf"].cummax())
    np.testing.assert_array_equal(report.curve["spent"], np.arange(1, 525))
    np.testing.assert_array_equal(
        report.curve["perf"], frame.loc[report.curve["hash"], "perf"].to_numpy()
    )


@pytest.mark.parametrize("dataset", ["cora", "photo"])
def test_figures_that_are_equal_but_for_rounding_tie(dataset: str) -> None:
    """Ranks and regrets are those of figures rounded to nine places."""
    table = lightread(dataset)
    rounded = table.frame()[["perf", "valid_perf"]].round(9)
    best = [*rounded.nlargest(20, "perf").index, *rounded.nlargest(20, "valid_perf").index]
    for number in best:
        report = run(lambda oracle, rng, one=number: oracle.evaluate(one), table, 1).report()
        better = (rounded > rounded.loc[number]).sum()
        assert (report.rank, report.valid_rank) == (1 + better["perf"], 1 + better["valid_perf"])
        behind = rounded.max() - rounded.loc[number]
        assert (report.regret == 0, report.valid_regret == 0) == tuple(behind == 0)
        assert report.regret == pytest.approx(behind["perf"], abs=1e-8)


def test_a_table_of_one_figure_has_no_regret() -> None:
    table = lightread("cora")
    report = run("random", table.top(1), "100%").report()
    assert (report.regret, report.normalised_regret, report.rank) == (0, 0, 1)


def test_a_search_that_asked_nothing_has_no_report() -> None:
    trace = run(lambda oracle, rng: None, "proteins", 5)
    with pytest.raises(QueryError, match="asked nothing"):
        trace.report()


def test_traces_come_back_as_they_were(tmp_path: Path, raced: Raced) -> None:
    traces = [
        run("halving", raced.table, Budget(50.5, "seconds", "free"), seed=1, workers=2),
        run("random", raced.table, 5, seed=2, protocol="leaky-test"),
        run(lambda oracle, rng: None, raced.table, 5),
    ]
    path = tmp_path / "traces.parquet"
    save(traces, path)
    back = load(path, raced.table)
    assert len(back) == len(traces)
    for before, after in zip(traces, back, strict=True):
        for field in dataclasses.fields(Trace):
            if field.name != "table":
                np.testing.assert_equal(
                    getattr(after, field.name), getattr(before, field.name), field.name
                )
    assert back[0].report() == traces[0].report()
    frame = pd.read_parquet(path)
    assert frame["strategy"].tolist() == [t.strategy for t in traces for _ in range(len(t))]
    assert frame.groupby("trace")["costs"].sum().tolist() == pytest.approx(
        [trace.costs.sum() for trace in traces[:2]]
    )


def test_reports_need_the_table_that_was_searched(tmp_path: Path, raced: Raced) -> None:
    save([run("random", "cora", 5), run("random", raced.table, 5)], tmp_path / "t.parquet")
    cora, other = load(tmp_path / "t.parquet")
    assert cora.report().queries == 5
    with pytest.raises(QueryError, match="not the one that was searched"):
        cora.report(raced.table)
    with pytest.raises(KeyError, match="'raced'"):
        other.report()


def test_files_that_are_no_traces_are_named(tmp_path: Path) -> None:
    (tmp_path / "text.parquet").write_text("no")
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "plain.parquet")
    for name in ("text.parquet", "plain.parquet", "nowhere.parquet"):
        with pytest.raises(CorruptTableError, match=name):
            load(tmp_path / name)
    for name in ("traces.csv", "nowhere/traces.parquet"):
        with pytest.raises(QueryError, match="write"):
            save([], tmp_path / name)


def resave(path: Path, columns: dict[str, Any] | None = None, **changes: Any) -> None:
    """Write a file of one trace again with other content and a checksum that fits."""
    stored = pq.read_table(path)
    about = json.loads(stored.schema.metadata[b"graphtab-traces"])
    about["traces"][0] |= changes
    for name, values in (columns or {}).items():
        place = stored.schema.get_field_index(name)
        stored = stored.set_column(place, name, pa.array(values))
    mark = b"sha256 of this file with zeros here: "
    text = {b"graphtab-traces": json.dumps(about).encode(), b"graphtab-checksum": mark + b"0" * 64}
    pq.write_table(stored.replace_schema_metadata(text), path)
    content = path.read_bytes()
    place = content.rindex(mark) + len(mark)
    digest = hashlib.sha256(content).hexdigest().encode()
    path.write_bytes(content[:place] + digest + content[place + 64 :])


def test_traces_that_cannot_be_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    trace = run("random", "cora", 5)
    save([], path)
    assert load(path) == []
    save([trace], path)
    resave(path)
    np.testing.assert_array_equal(load(path)[0].rewards, trace.rewards)
    for columns, changes in (
        ({}, {"seed": "0"}),
        ({}, {"seed": 1}),
        ({}, {"strategy": "other"}),
        ({}, {"workers": 0}),
        ({}, {"workers": True}),
        ({}, {"origin": "guessed"}),
        ({}, {"budget": {"amount": "5"}}),
        ({}, {"budget": {"amount": -5}}),
        ({}, {"budget": {"amount": 5, "unit": "miles"}}),
        ({}, {"budget": [5]}),
        ({}, {"surprise": 1}),
        ({}, {"table": None}),
        ({}, {"hashes": "1"}),
        ({"trace": np.ones(5, np.int32)}, {}),
        ({"trace": np.zeros(5)}, {}),
        ({"hashes": [None] * 5}, {}),
        ({"hashes": pa.array([1, 2, 3, 4, None], pa.int32())}, {}),
        ({"rewards": ["a"] * 5}, {}),
        ({"dataset": ["cs"] * 5}, {}),
    ):
        save([trace], path)
        resave(path, columns, **changes)
        with pytest.raises(CorruptTableError, match=r"t\.parquet is no file of traces"):
            load(path)
    save([trace], path)
    resave(path, strategy=json.loads("[" * 500 + "]" * 500))
    with pytest.raises(CorruptTableError, match="nested"):
        load(path)


def test_traces_without_a_checksum_are_refused(tmp_path: Path) -> None:
    save([run("random", "cora", 5)], tmp_path / "t.parquet")
    stored = pq.read_table(tmp_path / "t.parquet")
    kept = {b"graphtab-traces": stored.schema.metadata[b"graphtab-traces"]}
    pq.write_table(stored.replace_schema_metadata(kept), tmp_path / "old.parquet")
    with pytest.raises(CorruptTableError, match=r"old\.parquet .*no checksum.*search again"):
        load(tmp_path / "old.parquet")
    os.mkfifo(tmp_path / "pipe.parquet")
    with pytest.raises(CorruptTableError, match=r"pipe\.parquet .*no regular file"):
        load(tmp_path / "pipe.parquet")
    (tmp_path / "link.parquet").symlink_to(tmp_path / "t.parquet")
    assert len(load(tmp_path / "link.parquet")) == 1
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_averages_are_those_of_pandas(raced: Raced) -> None:
    traces = [run("halving", raced.table, 20, seed=seed) for seed in range(4)]
    average = aggregate(traces, "perf")
    curves = [
        pd.Series(report.curve["perf"], index=report.curve["spent"])
        for report in (trace.report() for trace in traces)
    ]
    curves = [curve[~curve.index.duplicated(keep="last")] for curve in curves]
    frame = pd.concat(curves, axis=1).sort_index().ffill().dropna()
    np.testing.assert_allclose(average.at, frame.index)
    np.testing.assert_allclose(average.mean, frame.mean(axis=1))
    np.testing.assert_allclose(average.error, frame.sem(axis=1))
    assert average.count == 4
    assert np.isnan(aggregate(traces[:1]).error).all()


def test_standings_are_those_of_pandas() -> None:
    traces = [
        run(name, "proteins", "2%", seed=seed, protocol=protocol)
        for name in ("random", "local")
        for seed in range(3)
        for protocol in ("validation", "leaky-test")
    ]
    frame = pd.DataFrame([vars(trace.report()) for trace in traces])
    groups = frame.groupby(["dataset", "protocol", "strategy"])
    standings = compare(traces, chance=False)
    assert len(standings) == 4
    for row in standings:
        group = groups.get_group((row.dataset, row.protocol, row.strategy))
        assert row.perf == pytest.approx(group["perf"].mean())
        assert row.perf_error == pytest.approx(group["perf"].sem())
        assert row.regret == pytest.approx(group["regret"].mean())
        assert row.rank == pytest.approx(group["rank"].mean())
        assert row.seeds == 3
    assert np.isnan(standard_error([1.0]))


def test_unlike_traces_are_not_averaged() -> None:
    fair, leaky = (
        run("random", "proteins", 5, protocol=protocol) for protocol in ("validation", "leaky-test")
    )
    with pytest.raises(QueryError, match=r"validation, 5 queries.*; .*leaky-test, 5 queries"):
        aggregate([fair, leaky])
    with pytest.raises(QueryError, match="none"):
        aggregate([])


def unlike() -> list[tuple[str, Trace]]:
    """A search, and others that differ from it in one thing each, which the text names."""
    usual = run("random", "cora-built", 20)
    published = dataclasses.replace(run("random", "cora", 20), dataset="cora-built")
    return [
        ("20 queries, 1 worker", usual),
        ("30 queries, 1 worker", run("random", "cora-built", 30)),
        ("20 queries, repeats free", run("random", "cora-built", Budget(20, repeats="free"))),
        ("20 queries, 8 workers", run("random", "cora-built", 20, workers=8)),
        ("20 seconds, 1 worker", run("random", "cora-built", Budget(20, "seconds"))),
        ("leaky-test", run("random", "cora-built", 20, protocol="leaky-test")),
        (published.table_sha256[:8], published),
    ]


def test_other_tables_budgets_and_workers_are_other_contests(tmp_path: Path) -> None:
    named, traces = zip(*unlike(), strict=True)
    rows = compare(traces, chance=False)
    assert len(rows) == len(traces)
    assert {row.seeds for row in rows} == {1}
    said = {(row.table_sha256, row.protocol, row.budget, row.workers) for row in rows}
    assert said == {(t.table_sha256, t.protocol, t.budget, t.workers) for t in traces}
    assert {row.origin for row in rows} == {"measured", "published"}
    for words, trace in list(zip(named, traces, strict=True))[1:]:
        with pytest.raises(QueryError, match=rf"only traces of one .*{re.escape(words)}"):
            aggregate([traces[0], trace])
    plot_search(traces, tmp_path / "search.svg")
    drawn = (tmp_path / "search.svg").read_text()
    titles = re.findall(r"<!-- (cora-built \(.*|[\d,]+ (?:queries|seconds), .*) -->", drawn)
    panels = list(zip(titles[::2], titles[1::2], strict=True))
    assert len(set(panels)) == len(traces)


def test_a_search_counts_once(tmp_path: Path) -> None:
    trace, other = (run("random", "proteins", 20, seed=seed) for seed in (3, 4))
    calls = (aggregate, compare, group, lambda traces: plot_search(traces, tmp_path / "a.svg"))
    for call in calls:
        with pytest.raises(QueryError, match=r"'random' on 'proteins' .*20 queries.* with seed 3;"):
            call([trace, other, *[trace] * 4])
    assert not list(tmp_path.iterdir())


def test_a_strategy_whose_find_failed_comes_last(raced: Raced, tmp_path: Path) -> None:
    def unlucky(oracle: Oracle, rng: random.Random) -> None:
        oracle.evaluate(oracle.hashes[FAILED])

    traces = [run(name, raced.table, 5) for name in (unlucky, "random")]
    rows = compare(traces, chance=False)
    assert [row.strategy for row in rows] == ["random", "unlucky"]
    assert np.isnan(rows[1].perf)
    plot_search(traces, tmp_path / "search.svg", "perf")
    plot_search(traces[:1], tmp_path / "alone.svg", "perf")


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_searches_are_drawn(tmp_path: Path, ending: str) -> None:
    traces = [
        run(name, "proteins", 20, seed=seed, protocol=protocol)
        for name in ("random", "evolution")
        for seed in range(2)
        for protocol in ("validation", "leaky-test")
    ]
    path = tmp_path / f"search{ending}"
    plot_search(traces, path)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG") if ending == ".png" else b"<svg" in content
    with pytest.raises(QueryError, match="no traces"):
        plot_search([], path)
    with pytest.raises(QueryError, match="gif"):
        plot_search(traces, tmp_path / "search.gif")


def test_a_part_of_a_table_is_another_table(tmp_path: Path) -> None:
    whole = lightread("cora")
    part = whole.where("depth == 2")
    traces = [run("random", table, 10, seed=seed) for table in (whole, part) for seed in (0, 1)]
    rows = compare(traces, chance=False)
    assert [row.seeds for row in rows] == [2, 2]
    assert len({row.table_sha256 for row in rows}) == 2
    with pytest.raises(QueryError, match="can be averaged"):
        aggregate(traces)
    save(traces, tmp_path / "traces.parquet")
    back = load(tmp_path / "traces.parquet")
    assert back[0].report() == traces[0].report()
    with pytest.raises(QueryError, match="not the one that was searched"):
        back[2].report()
    assert back[2].report(part) == traces[2].report()
    other = whole.where("depth == 2", "gat == 0")
    ids = {table_id(table) for table in (whole, part, other)}
    assert len(ids) == 3


def test_the_same_rows_in_another_order_are_the_same_table() -> None:
    whole = lightread("cora")
    assert table_id(whole.take(np.arange(len(whole))[::-1])) == table_id(whole)
    assert table_id(whole.take([3, 1, 2])) == table_id(whole.take([1, 2, 3]))
    assert table_id(whole.take([1, 1, 2])) != table_id(whole.take([1, 2]))


def test_a_reward_that_is_missing_is_no_find(raced: Raced) -> None:
    trace = run("random", raced.table, 6)
    rewards = trace.rewards.copy()
    rewards[[0, 3]] = np.nan
    found = dataclasses.replace(trace, rewards=rewards).progress()
    assert found.rewards[-1] == np.nanmax(rewards)
    assert not np.isnan(found.rewards[1:]).any()


def test_seeds_without_a_test_figure_are_counted(raced: Raced, tmp_path: Path) -> None:
    def unlucky(oracle: Oracle, rng: random.Random) -> None:
        oracle.evaluate(oracle.hashes[FAILED if rng.random() < 0.5 else 0])

    traces = [run(s, raced.table, 5, seed=seed) for s in (unlucky, "random") for seed in range(6)]
    pair = differences(traces)[0]
    failed = sum(np.isnan(trace.report().perf) for trace in traces)
    assert 0 < failed < 6
    assert (pair.seeds, pair.left_out) == (6 - failed, failed)
