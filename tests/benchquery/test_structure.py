"""What is said of the edges of condensed graphs, and where their nodes are drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchquery import condread
from benchquery.cli import main
from benchquery.errors import QueryError
from benchquery.kinds.condensed.structure import (
    degrees_of,
    force_directed,
    projected,
    structure_of,
    structures,
)
from benchquery.kinds.condensed.table import CondensedTable
from tests.benchquery.condensing import usual


def test_a_small_graph_by_hand() -> None:
    weights = np.zeros((4, 4), np.float16)
    for one, other, weight in ((0, 1, 1.0), (1, 2, 0.25), (2, 3, 0.5), (0, 3, 0.01)):
        weights[one, other] = weights[other, one] = weight
    graph = {"x": np.zeros((4, 2)), "y": np.array([0, 0, 1, 1]), "adjacency": weights}
    found = structure_of(graph, 0.05)
    assert (found.nodes, found.edges, found.density) == (4, 3, 0.5)
    assert (found.mean_degree, found.weighted_degree) == (1.5, 2 * 1.75 / 4)
    assert found.homophily == pytest.approx(1.5 / 1.75)
    assert found.unweighted == pytest.approx(2 / 3)
    assert found.chance == pytest.approx(2 / 6)
    assert degrees_of(graph, 0.05).tolist() == [1, 2, 2, 1]
    none = structure_of({"x": graph["x"], "y": np.eye(2)[graph["y"]]}, 0.05)
    assert (none.edges, none.chance) == (0, found.chance)
    assert np.isnan(none.homophily)


@pytest.fixture(scope="module")
def cora() -> CondensedTable:
    return usual(condread("cora-condensed")).where(ratio=0.026, protocol="corrected")


def test_homophily_is_that_of_the_rows(cora: CondensedTable) -> None:
    found = structures(cora)
    assert {row["config"] for row in found} == cora.graphs.configs & set(cora)
    for row in found:
        record = cora[str(row["config"])]
        assert row["homophily"] == pytest.approx(record["homophily"], nan_ok=True, rel=1e-3)
        assert row["edges"] == record["edges"]
    # Table B4 prints 0.19 for SGDD: near what chance gives, and no threshold gives it here.
    sgdd = next(row for row in found if row["method"] == "sgdd")
    assert sgdd["paper"] == 0.19
    for threshold in (0.0, 0.05, 0.2):
        one = structure_of(cora.graph(str(sgdd["config"])), threshold)
        assert one.chance < 0.19 < one.homophily


def test_joined_nodes_are_drawn_together() -> None:
    weights = np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10)
    places = force_directed(weights)
    assert np.abs(places).max() == pytest.approx(1.0)
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert distance[weights > 0].mean() < 0.7 * distance[weights == 0][10:].mean()
    np.testing.assert_array_equal(places, force_directed(weights))


def test_projection_is_that_of_the_principal_components() -> None:
    from sklearn.decomposition import PCA

    x = np.random.default_rng(0).random((20, 6))
    wanted = PCA(2).fit_transform(x / np.linalg.norm(x, axis=1, keepdims=True))
    found = projected(x)
    for axis in range(2):
        assert abs(np.corrcoef(found[:, axis], wanted[:, axis])[0, 1]) == pytest.approx(1.0)
    assert projected(np.ones((1, 3))).shape == (1, 2)


def test_the_pictures_and_the_command(
    cora: CondensedTable, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for method, edges in (("sgdd", True), ("sfgc", False)):
        config = next(iter(cora.where(method=method)))
        figure = cora.plot.graph(key=config)
        assert bool(figure.axes[0].lines) is edges
        assert ("no edges" in figure.axes[0].get_xlabel()) is not edges
    with pytest.raises(QueryError, match="share is 0"):
        cora.plot.graph(share=0)
    words = ["condensed", "structure", "cora", "--where", "method == sgdd"]
    assert main([*words, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) >= 3
    assert main(words) == 0
    assert "chance" in capsys.readouterr().out
    assert main(["condensed", "structure", "nci1"]) == 2
    assert "of sets" in capsys.readouterr().err
    out = tmp_path / "graph.png"
    named = ["--hash", next(iter(cora))]
    assert main(["plot", "cora-condensed", "graph", *named, "-o", str(out)]) == 0
    assert out.exists()
