"""What the explorer sends of condensed tables is what the tables hold."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchquery import BenchQueryError, CondensedTable, condread
from benchquery.errors import QueryError, TableNotFoundError, UnknownNameError
from benchquery.explorer import Site, write_site
from benchquery.kinds.condensed.published import published
from benchquery.kinds.condensed.view import _MOST_EDGES, _drawing
from benchquery.table.manifest import CURVES
from benchquery.table.schema import CURVE_COLUMNS, is_of_one_seed
from tests.benchquery.condensing import FAILED, GCN, GCOND, RELEASED, SGC, graph_of, write_condensed
from tests.benchquery.image_tables import COLOUR, GREY, pixels_of, write_images

LARGEST_TABLE = 1_500_000
CORA = GCOND.replace(dataset="cora")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    write_condensed(folder / "cora-condensed", "cora")
    return folder


@pytest.fixture(scope="module")
def site(folder: Path) -> Site:
    return Site(folder)


@pytest.fixture(scope="module")
def cond(folder: Path) -> CondensedTable:
    return condread("cora-condensed", folder)


def arrow(site: Site, path: str) -> pa.Table:
    return pa.ipc.open_stream(gzip.decompress(site.read(path).body)).read_all()


def described(site: Site, config: str) -> dict[str, Any]:
    body = site.read(f"data/configs/cora-condensed/{config}.json.gz").body
    return dict(json.loads(gzip.decompress(body)))


def row_of(cond: CondensedTable, config: Any, evaluation: Any) -> int:
    """Return where an evaluated graph stands in its table."""
    wanted = config.valid_hash(), evaluation.valid_hash()
    pairs = zip(cond.column("config"), cond.column("evaluation"), strict=True)
    return list(pairs).index(wanted)


def test_the_catalogue_tells_kinds_and_choices(site: Site) -> None:
    catalogue = json.loads(site.read("data/catalogue.json").body)
    (table,) = catalogue["tables"]
    assert (table["kind"], table["rows"], table["curves"]) == ("condensed", 19, True)
    assert table["choices"] == [
        "method", "ratio", "init", "backbone", "task", "model", "protocol", "seed",
    ]  # fmt: skip
    assert catalogue["start"] == "cora-condensed"
    (kind,) = catalogue["kinds"]
    assert (kind["name"], kind["one"], kind["has_script"]) == ("condensed", "condensed graph", True)
    assert kind["key"] == table["key"] == ["config", "evaluation"]
    assert kind["facts"]["methods"][0] == "random"


def test_figures_are_sent_exactly(site: Site, cond: CondensedTable) -> None:
    sent = arrow(site, "data/tables/cora-condensed.arrow.gz")
    assert sent.column_names == [name for name in cond.columns if not is_of_one_seed(name)]
    for name in sent.column_names:
        np.testing.assert_array_equal(sent[name].to_numpy(zero_copy_only=False), cond.column(name))
    assert len(site.read("data/tables/cora-condensed.arrow.gz").body) < LARGEST_TABLE


@pytest.mark.parametrize("evaluation", [GCN, SGC])
def test_curves_of_each_evaluation(site: Site, cond: CondensedTable, evaluation: Any) -> None:
    sent = arrow(site, f"data/curves/cora-condensed/{row_of(cond, CORA, evaluation)}.arrow.gz")
    seeds = sorted(set(sent["seed"].to_pylist()))
    assert seeds == ([0, 1, 2] if evaluation == GCN else [0, 1])
    for seed in seeds:
        of_seed = sent.filter(pa.compute.equal(sent["seed"], seed))
        expected = cond.curve(CORA, evaluation.model, seed)
        for position, column in enumerate(CURVE_COLUMNS):
            np.testing.assert_array_equal(of_seed[column.name].to_numpy(), expected[:, position])


def test_a_configuration_with_its_snapshots_and_the_paper(site: Site, cond: CondensedTable) -> None:
    sent = described(site, CORA.valid_hash())
    assert sent["values"] == dict(CORA.values)
    trace = cond.trace(CORA)
    assert sent["trace"] == {name: values.tolist() for name, values in trace.items()}
    (figure,) = published("2", dataset="cora", method="gcond", ratio=0.026)
    assert set(sent["published"]) == {"gcn", "sgc"}
    assert sent["published"]["gcn"]["mean"] == figure.mean
    assert sent["published"]["gcn"]["source"] == figure.source


@pytest.mark.parametrize("config", [CORA, RELEASED.replace(dataset="cora")])
def test_a_graph_is_sent_as_it_is(site: Site, cond: CondensedTable, config: Any) -> None:
    sent = described(site, config.valid_hash())["graph"]
    stored = graph_of(config)
    y = stored["y"]
    assert sent["classes"] == (y if y.ndim == 1 else y.argmax(axis=1)).tolist()
    threshold = np.float32(cond[config]["threshold"])
    edges = {
        (i, j): stored["adjacency"][i, j]
        for i in range(len(y))
        for j in range(i + 1, len(y))
        if stored["adjacency"][i, j] >= threshold
    }
    assert sent["edges"] == len(edges) == cond[config]["edges"]
    assert set(zip(sent["from"], sent["to"], strict=True)) == set(edges)
    for i, j, weight in zip(sent["from"], sent["to"], sent["weight"], strict=True):
        assert weight == pytest.approx(edges[i, j], abs=1e-4)
    assert sent["weight"] == sorted(sent["weight"], reverse=True)
    degrees = np.bincount(np.array(list(edges)).ravel(), minlength=len(y))
    assert sent["degrees"] == degrees.tolist()


def test_of_many_edges_the_strongest_are_sent() -> None:
    rng = np.random.default_rng(0)
    weights = rng.random((90, 90), dtype=np.float32)
    sent = _drawing({"y": np.zeros(90, int), "adjacency": weights + weights.T}, 0.0)
    assert sent["edges"] == 90 * 89 // 2
    assert len(sent["weight"]) == _MOST_EDGES
    all_weights = np.sort((weights + weights.T)[np.triu_indices(90, 1)])[::-1]
    np.testing.assert_allclose(sent["weight"], all_weights[:_MOST_EDGES], atol=1e-4)


@pytest.mark.parametrize("config", [GREY, COLOUR])
def test_images_are_sent_as_they_are(config: Any, tmp_path: Path) -> None:
    """Of 12 of a class, the first ten."""
    site = Site(write_images(tmp_path / "images"))
    body = site.read(f"data/configs/images/{config.valid_hash()}.json.gz").body
    sent = json.loads(gzip.decompress(body))
    assert sent["graph"] is None
    images, stored = sent["images"], pixels_of(config)
    chosen = [number for one in range(3) for number in range(one, len(stored), 3)[:10]]
    shape = (-1, images["height"], images["width"], images["channels"])
    pixels = np.frombuffer(base64.b64decode(images["pixels"]), np.uint8).reshape(shape)
    assert np.array_equal(pixels, stored[chosen])
    assert images["classes"] == [number % 3 for number in chosen]
    assert images["of"] == len(stored)


def test_a_failed_condensation_has_no_graph(condensed: Path) -> None:
    site = Site(condensed)
    body = site.read(f"data/configs/toy-condensed/{FAILED.valid_hash()}.json.gz").body
    sent = json.loads(gzip.decompress(body))
    assert (sent["graph"], sent["trace"]) == (None, None)
    assert sent["values"]["seed"] == 2
    row = row_of(condread("toy", condensed), FAILED, GCN)
    assert len(arrow(site, f"data/curves/toy-condensed/{row}.arrow.gz")) == 0


def test_every_listed_path_can_be_read(site: Site, tmp_path: Path) -> None:
    paths = list(site.paths())
    assert len(set(paths)) == len(paths)
    assert sum(path.startswith("data/curves/") for path in paths) == 19
    assert sum(path.startswith("data/configs/") for path in paths) == 13
    assert write_site(site, tmp_path / "site") == len(paths)


@pytest.mark.parametrize(
    ("path", "error", "named"),
    [
        ("data/configs/cora-condensed/nope.json.gz", UnknownNameError, "nothing at"),
        ("data/configs/nope/x.json.gz", TableNotFoundError, "'nope'; there are: cora-cond"),
        (f"data/configs/cora-condensed/{CORA.valid_hash()}.json", UnknownNameError, "nothing at"),
        ("data/configs/cora-condensed/../x.json.gz", UnknownNameError, "nothing at"),
        ("data/curves/cora-condensed/nope.arrow.gz", UnknownNameError, "nothing at"),
        ("data/curves/cora-condensed/19.arrow.gz", UnknownNameError, "nothing at"),
        ("data/curves/cora-condensed/-1.arrow.gz", UnknownNameError, "nothing at"),
        ("data/kinds/condensed/configs.json.gz", UnknownNameError, "nothing at"),
        ("data/comparisons/cora-condensed/cora-condensed.json", UnknownNameError, "nothing at"),
    ],
)
def test_other_paths_are_named_and_refused(
    site: Site, path: str, error: type[BenchQueryError], named: str
) -> None:
    with pytest.raises(error, match=re.escape(named)):
        site.read(path)


def test_what_is_not_there_is_a_404_in_json(folder: Path) -> None:
    pytest.importorskip("starlette", reason="the explorer's server needs graphtab[web]")
    pytest.importorskip("httpx2", reason="the tests of the server need httpx2")
    from starlette.testclient import TestClient

    from benchquery.explorer.app import create_app

    client = TestClient(create_app(Site(folder)), base_url="http://127.0.0.1:8765")
    for path in ("configs/cora-condensed/nope.json.gz", "curves/cora-condensed/19.arrow.gz",
                 "configs/nope/x.json.gz", "configs/cora-condensed/"):  # fmt: skip
        answer = client.get(f"/data/{path}")
        assert answer.status_code == 404
        assert answer.json()["error"]
    good = client.get(f"/data/configs/cora-condensed/{CORA.valid_hash()}.json.gz")
    assert good.status_code == 200


def test_architectures_have_no_configurations(built: Path) -> None:
    site = Site(built)
    with pytest.raises(UnknownNameError, match="nothing at"):
        site.read("data/configs/toy/61237.json.gz")


def test_tables_without_curves_say_so(folder: Path, cond: CondensedTable) -> None:
    files = {name: file for name, file in cond.manifest.files.items() if name != CURVES}
    manifest = dataclasses.replace(cond.manifest, files=files)
    bare = CondensedTable(manifest, cond._columns, folder / cond.name)
    with pytest.raises(QueryError, match="no learning curves"):
        bare.seed_curves(CORA)
