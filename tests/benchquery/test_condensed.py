"""Tables of condensed graphs, asked as users ask them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchquery import CondenseConfig, CondensedTable, EvalConfig, condread, verify
from benchquery.errors import (
    CorruptTableError,
    QueryError,
    UnknownHashError,
    UnknownNameError,
)
from benchquery.kinds.condensed.graphs import new_graphs
from benchquery.kinds.condensed.kind import TABLE as KIND
from benchquery.table.columnfile import write_columns
from benchquery.table.manifest import describe_file, read_manifest
from tests.benchquery.condensing import (
    CONFIGS,
    EPOCHS,
    EVAL_SEEDS,
    FAILED,
    FULL,
    GCN,
    GCOND,
    RELEASED,
    SGC,
    curve_of,
    graph_of,
)
from tests.resealing import edit_sealed

ROWS = len(CONFIGS) + 6


@pytest.fixture
def cond(condensed: Path) -> CondensedTable:
    """The small table, opened."""
    return condread("toy", source=condensed.parent)


def test_a_mapping_from_configuration_to_record(cond: CondensedTable) -> None:
    assert len(cond) == len(CONFIGS)
    assert list(cond) == [config.valid_hash() for config in CONFIGS]
    assert cond.configs() == CONFIGS
    assert GCOND in cond
    assert GCOND.valid_hash() in cond
    assert GCOND.replace(epochs=41) not in cond
    assert 3 not in cond  # type: ignore[comparison-overlap]
    record = cond[GCOND.valid_hash()]
    assert record == cond[GCOND]
    assert (record["method"], record["ratio"], record["model"]) == ("gcond", 0.026, "gcn")
    assert record["retained"] == record["perf"] / FULL
    assert CondenseConfig.from_text(record["config_text"]) == GCOND
    assert EvalConfig.from_text(record["evaluation_text"]) == GCN
    assert "13 condensed graphs in 19 rows, synthetic" in repr(cond)
    with pytest.raises(UnknownHashError, match="'nope' is none of the 13 configurations"):
        cond["nope"]
    with pytest.raises(UnknownHashError, match=r"epochs=41.* is none"):
        cond[GCOND.replace(epochs=41)]
    with pytest.raises(TypeError):
        record["perf"] = 1  # type: ignore[index]


def test_the_usual_evaluation_is_by_gcn_else_the_first(cond: CondensedTable) -> None:
    both = cond.evaluations(GCOND)
    assert both.column("model").tolist() == ["gcn", "sgc"]
    for order in (both.top(2), both.top(2, by="perf")):
        assert order[GCOND]["model"] == "gcn"
    assert cond.where(model="sgc")[GCOND]["model"] == "sgc"
    with pytest.raises(UnknownHashError):
        cond.evaluations("nope")


def test_questions_to_all_rows(cond: CondensedTable) -> None:
    frame = cond.frame()
    assert len(frame) == ROWS
    assert frame.index.name == "config"
    some = cond.where("ratio < 0.02", "perf_std >= 0", method="gcond", model="gcn")
    expected = frame[(frame.ratio < 0.02) & (frame.method == "gcond") & (frame.model == "gcn")]
    assert list(some) == expected.index.tolist()
    assert len(cond.where("method == 'gcond'")) == len(cond.where("method=gcond")) == 6
    assert len(cond.where(ratio=0.026)) == 7
    assert len(cond.where(np.array([True] + [False] * (ROWS - 1)))) == 1
    with pytest.raises(QueryError, match="unknown column 'depth'; allowed: config, eval"):
        cond.where(depth=2)
    with pytest.raises(QueryError, match="holds numbers, not 'big'"):
        cond.where("ratio > big")


def test_the_best_is_chosen_by_validation(cond: CondensedTable) -> None:
    frame = cond.frame().reset_index()
    frame = frame[frame["protocol"] == "corrected"]
    best = cond.best(by="valid")
    for same in (cond.best(), cond.best("valid_perf"), next(iter(cond.top(1).records()))):
        assert same["config"] == best["config"]
    assert best["valid_perf"] == frame["valid_perf"].max()
    assert cond.best(by="perf")["perf"] == frame["perf"].max()
    assert cond.best(by="condense_time")["condense_time"] == 10
    order = frame.sort_values("valid_perf", ascending=False, kind="stable")
    top = cond.top(ROWS)
    pairs = ("config", "evaluation")
    assert [tuple(r[n] for n in pairs) for r in top.records()] == [
        tuple(row) for row in order[list(pairs)].to_numpy()
    ]
    assert top.records()[-1]["status"] == "failed"
    front = cond.pareto()
    assert {r["condense_time_best"] for r in front.records()} <= {5.0, 6.0, 7.0}
    assert cond.best(by="test")["config"] == cond.best(by="perf")["config"]
    with pytest.raises(UnknownNameError, match="no column 'tset'"):
        cond.best(by="tset")
    with pytest.raises(QueryError, match="neither way is better for column 'nodes'"):
        cond.best(by="nodes")
    with pytest.raises(QueryError, match=r"no row .* has a figure"):
        cond.where(status="failed").best()
    with pytest.raises(QueryError, match=r"no row has the method 'nope'"):
        cond.where(method="nope").best()


def test_protocols_are_not_ranked_with_each_other(cond: CondensedTable) -> None:
    assert "as-released" in cond.column("protocol")
    for ranked in (cond.top(100), cond.pareto(), cond.pareto("perf", "nodes")):
        assert set(ranked.column("protocol")) == {"corrected"}
    released = cond.where(protocol="as-released")
    assert len(released.top(100)) == len(released) > 0
    assert released.best()["protocol"] == "as-released"


def test_means_over_condensation_seeds(cond: CondensedTable) -> None:
    means = {(m["method"], m["ratio"], m["model"], m["protocol"]): m for m in cond.mean()}
    assert len(means) == 7
    mean = means["gcond", 0.026, "gcn", "corrected"]
    values = [cond[GCOND.replace(seed=seed)]["perf"] for seed in range(3)]
    assert mean["perf"] == pytest.approx(np.mean(values))
    assert mean["perf_std"] == pytest.approx(np.std(values, ddof=1))
    assert (mean["count"], mean["failed"], mean["hyperparameters"]) == (3, 0, {"epochs": 40})
    assert "seed" not in mean
    part = means["random", 0.026, "gcn", "corrected"]
    assert (part["count"], part["failed"]) == (2, 1)
    assert part["condense_time"] == 10.5
    alone = means["gcdm", 0.026, "gcn", "as-released"]
    assert alone["perf"] == cond[RELEASED]["perf"]
    assert np.isnan(alone["perf_std"])
    (lost,) = cond.where(status="failed").mean()
    assert (lost["count"], lost["failed"]) == (0, 1)
    assert np.isnan(lost["perf"])
    wide = cond.where(method="gcond", model="gcn").mean(over=["seed", "ratio"])
    assert [m["count"] for m in wide] == [6]
    with pytest.raises(QueryError, match="average over 'protocol'; allowed: method"):
        cond.mean(over="protocol")


def test_curves_of_evaluations(cond: CondensedTable) -> None:
    truth = curve_of(GCOND, GCN)
    np.testing.assert_allclose(cond.curve(GCOND), truth.mean(axis=0))
    for seed in EVAL_SEEDS:
        np.testing.assert_array_equal(cond.curve(GCOND, seed=seed), truth[seed])
    short = cond.curve(GCOND.valid_hash(), model="sgc")
    assert len(short) == EPOCHS - 2
    np.testing.assert_allclose(short, curve_of(GCOND, SGC)[:2, :-2].mean(axis=0))
    narrowed = cond.where(method="gcond", ratio=0.026).top(3)
    for config in narrowed:
        np.testing.assert_array_equal(narrowed.curve(config), narrowed.curve(config))
        if narrowed[config]["model"] == "gcn":
            np.testing.assert_array_equal(narrowed.curve(config), cond.curve(config))
    with pytest.raises(QueryError, match="evaluation seed 2; allowed: mean, 0, 1"):
        cond.curve(GCOND, model="sgc", seed=2)
    with pytest.raises(QueryError, match="not evaluated by 'mlp'; allowed: gcn, sgc"):
        cond.curve(GCOND, model="mlp")
    with pytest.raises(QueryError, match="allowed: none"):
        cond.curve(FAILED)


def test_graphs_and_traces(cond: CondensedTable) -> None:
    for config in (GCOND, RELEASED, CONFIGS[0]):
        truth = {name: values for name, values in graph_of(config).items() if values is not None}
        graph = cond.where(method=config.method).graph(config)
        assert list(graph) == list(truth)
        for name, values in truth.items():
            np.testing.assert_array_equal(graph[name], values)
    assert cond.trace(GCOND)["epoch"].tolist() == [0, 20]
    with pytest.raises(UnknownHashError, match="no graph"):
        cond.graph(FAILED)
    with pytest.raises(UnknownHashError, match="is none of"):
        cond.trace("nope")


def test_degrees_count_the_edges_that_are_left(cond: CondensedTable) -> None:
    for config in (GCOND, CONFIGS[0]):
        truth = graph_of(config)
        nodes = len(truth["x"])
        kept = np.zeros((nodes, nodes), bool)
        if truth["adjacency"] is not None:
            kept = truth["adjacency"] >= np.float32(cond[config]["threshold"])
        counts = [int(row.sum()) for row in kept]
        found = cond.degrees(config).tolist()
        assert found == [counts.count(degree) for degree in range(max(counts) + 1)]
        assert sum(found) == nodes


def test_tables_without_curves_or_graphs(condensed: Path) -> None:
    path = condensed / "manifest.json"
    files = json.loads(path.read_text())["files"]
    edit_sealed(path, files={"summary.parquet": files["summary.parquet"]})
    verify(condensed)
    cond = condread("toy", source=condensed)
    with pytest.raises(QueryError, match="no learning curves"):
        cond.curve(GCOND)
    with pytest.raises(QueryError, match="no condensed graphs"):
        cond.graph(GCOND)


def rewrite(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the columns of a table's summary, checksums included."""
    columns = {
        name: values.to_numpy(zero_copy_only=False).copy()
        for name, values in pq.read_table(folder / "summary.parquet").to_pydict().items()
        for values in [pa.array(values)]
    }
    change(columns)
    manifest = read_manifest(folder)
    files = json.loads((folder / "manifest.json").read_text())["files"]
    types = {column.name: column.dtype for column in manifest.columns}
    columns = {
        name: values if types[name] == "string" else values.astype(types[name])
        for name, values in columns.items()
    }
    stored = write_columns(folder / "summary.parquet", columns, KIND)
    edit_sealed(
        folder / "manifest.json",
        columns=[vars(column) for column in stored],
        rows=len(columns["config"]),
        files=files | {"summary.parquet": vars(describe_file(folder / "summary.parquet"))},
    )


def put(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(columns: dict[str, Any]) -> None:
        columns[name][0] = value

    return change


def repeat(columns: dict[str, Any]) -> None:
    for name in ("config", "config_text", "seed"):
        columns[name][1] = columns[name][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("config", "0" * 16), "row 0: config is '0000000000000000', the hash of its text"),
        (put("evaluation_text", "{}"), "row 0: evaluation is"),
        (put("method", "gcond"), "method is 'gcond', its config_text says 'random'"),
        (put("ratio", 0.5), "ratio is 0.5, its config_text says 0.013"),
        (put("model", "mlp"), "model is 'mlp', its evaluation_text says 'gcn'"),
        (put("perf", 80.1), "perf is 80.1, not a fraction"),
        (put("perf_seed1", -0.5), "perf_seed1 is -0.5, not a fraction"),
        (put("perf", 0.5), "perf is 0.5, the mean of its seeds is"),
        (put("retained", 0.5), "retained is 0.5, perf / full_perf is"),
        (put("perf", np.nan), "status is ok, but it has no figure"),
        (put("nodes", 5), "has 13 nodes, summary.parquet says 5"),
        (repeat, "a configuration and evaluation twice"),
    ],
)
def test_verify_finds_rows_that_cannot_be(
    condensed: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    verify(condensed)
    rewrite(condensed, lambda columns: None)
    verify(condensed)
    rewrite(condensed, change)
    with pytest.raises(CorruptTableError, match=message):
        verify(condensed)


def test_verify_finds_graphs_that_are_missing(condensed: Path) -> None:
    path = condensed / "graphs.h5"
    with new_graphs(path):
        pass
    with pytest.raises(CorruptTableError, match=r"graphs\.h5"):
        condread("toy", source=condensed)
    files = json.loads((condensed / "manifest.json").read_text())["files"]
    files["graphs.h5"] = vars(describe_file(path))
    edit_sealed(condensed / "manifest.json", files=files)
    with pytest.raises(CorruptTableError, match="lacks the graph of"):
        verify(condensed)


@pytest.mark.parametrize("name", ["summary.parquet", "curves.h5", "graphs.h5"])
def test_damage_is_named(condensed: Path, name: str) -> None:
    content = bytearray((condensed / name).read_bytes())
    content[len(content) // 2] ^= 1
    (condensed / name).write_bytes(content)
    with pytest.raises(CorruptTableError, match=f"{name} is damaged"):
        verify(condensed)
    (condensed / name).write_bytes(content[:-1])
    with pytest.raises(CorruptTableError, match=name):
        condread("toy", source=condensed)


def test_configurations_need_no_package() -> None:
    program = (
        "import sys; from benchquery import CondenseConfig, EvalConfig, condread;"
        "from benchquery.kinds.condensed.grids import grid; grid('gc-bench-node');"
        "EvalConfig().valid_hash();"
        "print([n for n in ('numpy', 'pyarrow', 'h5py', 'pandas', 'torch') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
