"""Sets of graphs from end to end: condense, judge, merge, verify, ask, draw, load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import benchbuild
from benchbuild.cli import main
from benchbuild.datasets.coding import compact_bytes, dense_bytes
from benchbuild.datasets.registry import load_graphs
from benchbuild.errors import PlanError
from benchbuild.pipeline.verify import problems_in
from benchquery import CondenseConfig, EvalConfig, condread
from benchquery.cli import main as query
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.store import BUNDLED

DATASET = "motifs:graphs=60"
CONFIGS = [
    *(CondenseConfig(DATASET, "random", per_class=2, seed=seed) for seed in (0, 1)),
    CondenseConfig(DATASET, "mirage", per_class=2),
    *(CondenseConfig(DATASET, "kidd-lr", per_class=2, epochs=epochs) for epochs in (0, 2)),
    CondenseConfig(DATASET, "random", per_class=500),
]
EVALUATIONS = benchbuild.Evaluations.of(
    ["gcn", "gin"], [0, 1], {"epochs": 3, "hidden": 8, "layers": 2}, task="graph-classification"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tables with one of a few small condensations of motifs."""
    folder = tmp_path_factory.mktemp("graph-level")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        described = benchbuild.condense_run(DATASET, CONFIGS, EVALUATIONS)
        report = benchbuild.run(described, folder / "run", workers=1, device="cpu")
    assert (report.ends["ok"], report.ends["failed"]) == (5, 1)
    benchbuild.merge([folder / "run"], folder / "tables" / "motifs")
    return folder / "tables"


@pytest.fixture(scope="module")
def table(folder: Path) -> CondensedTable:
    return condread("motifs", source=folder)


def test_the_table_has_no_problems(folder: Path) -> None:
    assert list(problems_in(folder.parent / "run")) == []
    assert list(problems_in(folder / "motifs")) == []


def test_a_class_with_too_few_graphs_is_a_row_with_a_reason(table: CondensedTable) -> None:
    record = table[CONFIGS[-1]]
    assert record["status"] == "failed"
    assert "500 graphs of each class are asked for, but class 0 has" in record["reason"]
    assert (record["items"], record["nodes"]) == (0, 0)
    assert np.isnan([record["share_dense"], record["share_compact"], record["peak_memory"]]).all()
    smallest = table.top(table.num_rows, "bytes_dense").records()
    assert smallest[0]["status"] == "ok"
    assert smallest[-1]["status"] == "failed"


def test_rows_say_how_large_sets_are(table: CondensedTable) -> None:
    data = load_graphs(DATASET)
    trained = data.graphs.select(data.train)
    whole = dense_bytes(trained.sizes.numpy(), trained.num_features)
    record, graphs = table[CONFIGS[0]], table.graph(CONFIGS[0])
    assert (record["items"], record["per_class"], record["domain"]) == (4, 2, "graphs")
    assert record["nodes"] == graphs["sizes"].sum() == len(graphs["x"])
    assert record["bytes_dense"] == 4 * sum(
        int(n) * (int(n) + graphs["x"].shape[1]) for n in graphs["sizes"]
    )
    assert record["share_dense"] == record["bytes_dense"] / whole
    assert 0 < record["bytes_compact"] < record["bytes_dense"]


def test_rows_are_held_against_their_controls(table: CondensedTable) -> None:
    for model in ("gcn", "gin"):
        rows = {row["config"]: row for row in table.where(model=model).records()}
        control = np.mean([rows[config.valid_hash()]["perf"] for config in CONFIGS[:2]])
        began, learnt = (rows[config.valid_hash()] for config in CONFIGS[3:5])
        assert learnt["gain_over_random"] == pytest.approx(learnt["perf"] - control)
        assert learnt["gain_over_init"] == pytest.approx(learnt["perf"] - began["perf"])
        assert np.isnan(rows[CONFIGS[2].valid_hash()]["gain_over_init"])


def test_both_metrics_are_there(table: CondensedTable) -> None:
    known = [row for row in table.records() if row["status"] == "ok"]
    assert all(0 <= row["other_perf"] <= 1 for row in known)
    first = known[0]
    seeds = [first[f"other_perf_seed{seed}"] for seed in (0, 1)]
    assert first["other_perf"] == pytest.approx(np.mean(seeds))


def test_released_kidd_keeps_the_snapshot_of_best_test_figure(tmp_path: Path) -> None:
    config = CondenseConfig(
        DATASET,
        "kidd-lr",
        per_class=2,
        epochs=6,
        evaluate_every=1,
        lr_feat=0.3,
        protocol="as-released",
    )
    changed = {"epochs": 30, "hidden": 8, "layers": 2, "report": "last"}
    evaluations = benchbuild.Evaluations.of(["gin"], [0, 1], changed, task="graph-classification")
    described = benchbuild.condense_run(DATASET, [config], evaluations)
    benchbuild.run(described, tmp_path / "run", workers=1, device="cpu")
    benchbuild.merge([tmp_path / "run"], tmp_path / "motifs")
    assert list(problems_in(tmp_path / "motifs")) == []
    table = condread(tmp_path / "motifs")
    tried = table.trace(config)["valid_perf"]
    assert len(set(tried.tolist())) > 1
    assert table[config]["perf"] == pytest.approx(tried.max())


def test_tables_that_are_judged_otherwise_are_joined(folder: Path, tmp_path: Path) -> None:
    config = CondenseConfig(DATASET, "random", per_class=2)
    changed = {"epochs": 2, "hidden": 8, "layers": 3, "report": "last"}
    evaluations = benchbuild.Evaluations.of(["gin"], [0], changed, task="graph-classification")
    described = benchbuild.condense_run(DATASET, [config], evaluations)
    benchbuild.run(described, tmp_path / "run", workers=1, device="cpu")
    benchbuild.merge([tmp_path / "run"], tmp_path / "other")
    both = [str(folder / "motifs"), str(tmp_path / "other")]
    assert main(["join", *both, "--out", str(tmp_path / "joined")]) == 0
    assert list(problems_in(tmp_path / "joined")) == []
    whole, one, two = (condread(path) for path in (tmp_path / "joined", *both))
    assert len(list(whole.records())) == len(list(one.records())) + len(list(two.records()))
    for part in (one, two):
        for record in part.records():
            (found,) = whole.where(
                config=record["config"], evaluation=record["evaluation"]
            ).records()
            assert np.array_equal([found["perf"]], [record["perf"]], equal_nan=True)
    assert len(whole.manifest.provenance["judge"]) == 2
    again = tmp_path / "again"
    assert main(["join", str(tmp_path / "joined"), "--out", str(again)]) == 0
    assert condread(again).manifest.provenance == whole.manifest.provenance


def test_joining_refuses_what_is_not_of_one_piece(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, out = str(folder / "motifs"), str(tmp_path / "out")
    assert main(["join", table, table, "--out", out]) == 2
    assert "has a row that one before it has too" in capsys.readouterr().err
    assert main(["join", table, str(BUNDLED / "molbace-condensed"), "--out", out]) == 2
    assert "is of other data than" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_models_of_a_preset_may_have_settings_of_their_own() -> None:
    """GIN has five layers anyway, GCN by the preset only."""
    preset = EvalConfig.preset("gc-bench", "graph-classification", "gcn")
    changed = {name: preset[name] for name in ("layers", "norm", "report", "epochs")}
    chosen = benchbuild.Evaluations.of(["gcn", "gin"], [0], changed, task="graph-classification")
    assert {config.model: config["layers"] for config in chosen.configs} == {"gcn": 5, "gin": 5}
    with pytest.raises(PlanError, match="trained for as many epochs"):
        benchbuild.Evaluations((chosen.configs[0].replace(epochs=3), chosen.configs[1]), (0,))


def test_sets_come_back_as_graphs_of_pyg(folder: Path, table: CondensedTable) -> None:
    graphs = benchbuild.load_condensed(CONFIGS[0], source=folder)
    arrays = table.graph(CONFIGS[0])
    assert [graph.num_nodes for graph in graphs] == arrays["sizes"].tolist()
    assert torch.cat([graph.y for graph in graphs]).tolist() == arrays["y"].tolist()
    assert torch.equal(torch.cat([graph.x for graph in graphs]), torch.tensor(arrays["x"]).float())
    assert all(graph.is_undirected() for graph in graphs)
    trees = benchbuild.load_condensed(CONFIGS[2], source=folder)
    assert len(trees) == table[CONFIGS[2]]["items"]
    assert all(int(tree.pooled.sum()) == tree.num_nodes - tree.num_edges for tree in trees)


def test_the_shell_answers_for_sets_as_for_graphs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = ["--source", str(folder)]
    for words in (
        ["top", "motifs", "-k", "3"],
        ["condensed", "compare", "motifs", "--where", "method == random"],
        ["condensed", "show", "motifs", "--hash", CONFIGS[2].valid_hash()],
        ["pareto", "motifs"],
        ["show", "motifs", "--method", "mirage"],
    ):
        assert query([*words, *source]) == 0
        assert "per_class" in capsys.readouterr().out
    assert query(["export", "motifs", "-o", str(folder / "motifs.csv"), *source]) == 0
    assert "per_class" in (folder / "motifs.csv").read_text().splitlines()[0]


def test_sets_are_drawn_and_explored(folder: Path, table: CondensedTable) -> None:
    from benchquery.kinds.condensed.view import VIEW

    for draw in (table.plot.ratios, table.plot.models, table.plot.costs):
        figure = draw()
        assert figure.axes
    assert "per class 2" in table.plot.trace(CONFIGS[4])._suptitle.get_text()
    for config in CONFIGS[:5]:
        sent = VIEW.files["configs"].make(table, config.valid_hash())
        assert sent
    assert (
        query(["report", "motifs", "-o", str(folder / "report.html"), "--source", str(folder)]) == 0
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--method", "random", "--ratio", "0.1"],
            "name what to condense it with: --method M --per",
        ),
        (["--method", "random"], "is one of graphs; name what to condense it with"),
        (["--method", "gcond", "--per-class", "1"], "it condenses nodes, not graphs"),
        (["--method", "random", "--per-class", "0"], "per_class is 0"),
        (
            ["--method", "random", "--per-class", "1", "--task", "link-prediction"],
            "graphs can be judged by graph-classification",
        ),
        (
            ["--method", "random", "--per-class", "1", "--eval-preset", "mine"],
            "graph-classification has doscond, gc-bench, kidd, mirage",
        ),
        (["--method", "random", "--per-class", "1", "--models", "sgc"], "model is 'sgc'"),
        (["--method", "kidd-lr", "--per-class", "1", "--init", "noise"], "init is 'noise'"),
    ],
)
def test_what_can_not_be_is_one_line(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["condense", "--dataset", DATASET, *words]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1


def test_the_grid_of_the_paper_is_planned(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--models", "gcn,gin", "--dataset", "nci1", "--json"]
    assert main(["plan", "--grid", "gc-bench-graph", *words]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert {row["configurations"] for row in rows} == {5}
    assert all(row["seconds"] > 0 for row in rows)


@pytest.mark.parametrize(
    ("nodes", "features", "per_class", "printed"),
    [(30, 37, 1, 16_080), (285, 89, 1, 852_720), (26, 9, 1, 7_280)],
)
def test_dense_sizes_are_those_of_the_paper(
    nodes: int, features: int, per_class: int, printed: int
) -> None:
    """Table B1 of GC-Bench counts DosCond's sets so, with about 2.4 kB for the file around them."""
    assert dense_bytes(np.full(2 * per_class, nodes), features) == printed


def test_compact_sizes_waste_nothing() -> None:
    x = np.eye(4, dtype=np.float32)
    edges = np.array([[0, 1, 2], [1, 0, 3]])
    # A place for each of four ones, a count a node; two edges of two places; two graphs of 5 bytes.
    assert compact_bytes(x, np.array([2, 2]), edges) == (4 + 4) + 2 * 2 + 2 * 5
    assert compact_bytes(x / 2, np.array([2, 2]), edges) == (4 * 3 + 4) + 2 * 2 + 2 * 5
    assert compact_bytes(x / 3, np.array([2, 2]), edges) == (4 * 5 + 4) + 2 * 2 + 2 * 5
