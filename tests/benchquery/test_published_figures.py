"""What the paper says of condensed graphs, and the grid that it ran."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchquery import CondenseConfig
from benchquery.errors import ConfigError, CorruptTableError, QueryError, UnknownNameError
from benchquery.kinds.condensed import published as module
from benchquery.kinds.condensed.config import TASKS
from benchquery.kinds.condensed.domains.nodes import INITS, METHODS
from benchquery.kinds.condensed.grids import grid
from benchquery.kinds.condensed.published import (
    Published,
    paper_accuracy,
    published,
    published_tables,
)

GCOND = CondenseConfig("cora", "gcond", 0.026)


def test_every_table_can_be_read() -> None:
    assert {"2", "3", "a1", "b1", "b2", *(f"b{n}" for n in range(3, 16))} == set(published_tables())
    for table in published_tables():
        figures = published(table)
        assert figures
        for figure in figures:
            assert figure.dataset
            assert figure.table == table
            if figure.unit == "percent" and figure.mean is not None:
                assert -1 <= figure.mean <= 100
            if figure.unit and figure.mean is None:
                assert figure.note


def test_figures_are_found_by_what_they_are() -> None:
    (figure,) = published("2", dataset="cora", method="gcond", ratio=0.026)
    assert (figure.mean, figure.std, figure.unit, figure.metric) == (
        80.5,
        0.3,
        "percent",
        "accuracy",
    )
    assert figure.source.endswith("Graph Condensation, Table 2")
    assert published("2", dataset="nowhere") == ()
    with pytest.raises(AttributeError):
        figure.mean = 90  # type: ignore[misc]
    with pytest.raises(UnknownNameError, match=r"no published table '99'; there are 2, 3"):
        published("99")
    with pytest.raises(UnknownNameError):
        published("../gc-bench/2")
    with pytest.raises(QueryError, match="figures have no colour"):
        published("2", colour="red")


@pytest.mark.parametrize(
    "text", ["dataset,mean\ncora,many\n", "dataset,colour\ncora,red\n", "dataset\ncora,1\n", "x"]
)
def test_files_that_make_no_sense_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "gc-bench").mkdir()
    (tmp_path / "gc-bench" / "table-9.csv").write_text(text)
    monkeypatch.setattr(module, "BUNDLED", tmp_path)
    if text == "x":
        assert published("9") == ()
    else:
        with pytest.raises(CorruptTableError, match=r"table-9\.csv is no file of published"):
            published("9")


def test_the_figure_beside_a_configuration() -> None:
    def mean(
        config: CondenseConfig, model: str = "gcn", task: str = TASKS[0]
    ) -> tuple[str, float | None] | None:
        figure = paper_accuracy(config, model, task)
        return None if figure is None else (figure.table, figure.percent)

    assert mean(GCOND) == mean(GCOND.replace(seed=3, epochs=5)) == ("2", 80.5)
    assert mean(CondenseConfig("cora", "gcdm", 0.026, "center")) == ("b11", 77.4)
    assert mean(CondenseConfig("cora", "gcdm", 0.0026, "center")) == ("b12", 78.7)
    assert mean(CondenseConfig("cora", "herding", 0.026), "mlp") == ("b10", 74.1)
    assert mean(CondenseConfig("cora", "herding", 0.026)) == ("2", 74.2)
    for none in (
        GCOND.replace(ratio=0.3),
        GCOND.replace(dataset="pubmed"),
        GCOND.replace(backbone="transformer"),
        GCOND.replace(ratio_of="labelled"),
    ):
        assert mean(none) is None
    assert mean(GCOND, "mlp") is None
    citeseer = CondenseConfig("citeseer", "gcond", 0.009)
    assert mean(citeseer, task="link-prediction") == ("b5", 65.0)
    assert mean(citeseer, "mlp", "link-prediction") is None
    assert mean(citeseer.replace(init="noise"), task="link-prediction") is None


FIGURE_3 = ("sgc", "transformer")


def test_the_grid_of_the_paper() -> None:
    configs = grid("gc-bench-node")
    learnt = [spec for spec in METHODS.values() if spec.family != "core-set"]
    other_backbones = sum(spec.backbone != other for spec in learnt for other in FIGURE_3)
    assert len(configs) == len(set(configs)) == 7 * 6 * 10 + 2 * 7 * 4 + other_backbones
    usual = [c for c in configs if c == CondenseConfig(c.dataset, c.method, c.ratio)]
    assert len(usual) == 420
    assert Counter(c.dataset for c in usual) == dict.fromkeys(
        ("cora", "citeseer", "arxiv", "flickr", "reddit", "acm", "dblp"), 60
    )
    assert Counter(c.method for c in usual) == dict.fromkeys(METHODS, 42)
    assert {c.ratio for c in usual if c.dataset == "cora"} == {
        0.0026, 0.0052, 0.013, 0.026, 0.039, 0.052,
    }  # fmt: skip
    inits = [c for c in configs if c.dataset == "cora" and c.ratio == 0.026 and c.method == "dm"]
    assert Counter((c.init, c.backbone) for c in inits) == dict.fromkeys(
        [*((init, "sgc") for init in INITS), ("sample", "transformer")], 1
    )


def test_grids_by_dataset_and_seed() -> None:
    assert len(grid("gc-bench-node", ["citeseer"])) == 60
    assert grid("gc-bench-node", ["CiteSeer"]) == grid("gc-bench-node", ["citeseer"])
    seeded = grid("gc-bench-node", ["acm", "dblp"], seeds=range(3))
    assert Counter((c.dataset, c.seed) for c in seeded) == {
        (dataset, seed): 60 for dataset in ("acm", "dblp") for seed in range(3)
    }
    with pytest.raises(UnknownNameError, match="unknown grid 'all'; allowed: gc-bench-node"):
        grid("all")
    with pytest.raises(UnknownNameError, match=r"unknown dataset 'pubmed'; .*cora"):
        grid("gc-bench-node", ["pubmed"])
    with pytest.raises(ConfigError, match="seed is -1"):
        grid("gc-bench-node", seeds=[-1])


def test_figures_are_values() -> None:
    assert Published("2", "cora", mean=1.0) == Published("2", "cora", mean=1.0)
    assert len({Published("2", "cora"), Published("2", "cora")}) == 1
