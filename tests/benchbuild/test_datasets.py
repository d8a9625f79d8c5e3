"""Datasets: against PyG's own readers, the published sizes, and what was asked for."""

from __future__ import annotations

import dataclasses
import os
import pickle
import shutil
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import one_hot
from torch_geometric.datasets import Planetoid
from torch_geometric.io import read_npz as pyg_read_npz
from torch_geometric.utils import coalesce, contains_self_loops, is_undirected, to_undirected

from benchbuild.datasets import Graph, dataset_spec, hyperparameters_for, load
from benchbuild.datasets.download import ensure_files
from benchbuild.datasets.npz import read_npz
from benchbuild.datasets.ogb import ARXIV_FILES, PROTEINS_FILES, mean_edge_features, undirected
from benchbuild.datasets.root import data_root
from benchbuild.datasets.splits import per_class_split
from benchbuild.errors import (
    BenchBuildError,
    DatasetError,
    DatasetMissingError,
    UnknownDatasetError,
)
from benchbuild.kinds.train.training import train
from benchquery import Arch
from tests.benchbuild.real import real_root

REAL = {
    "cora": (140, 500, 1000),
    "citeseer": (120, 500, 1000),
    "pubmed": (60, 500, 1000),
    "cs": (300, 450, 17583),
    "physics": (100, 150, 34243),
    "photo": (160, 240, 7087),
    "computers": (200, 300, 12881),
}
EDGES = {
    "cora": 2 * 5278,
    "citeseer": 2 * 4552,
    "pubmed": 2 * 44324,
    "cs": 2 * 81894,
    "physics": 2 * 247962,
}


def sizes(graph: Graph) -> tuple[int, int, int]:
    return tuple(int(m.sum()) for m in (graph.train_mask, graph.valid_mask, graph.test_mask))


def check_graph(graph: Graph, name: str) -> None:
    spec = dataset_spec(name)
    assert graph.num_nodes == spec.num_nodes
    assert graph.num_features == spec.num_features
    assert graph.num_classes == spec.num_classes
    assert graph.metric == spec.metric
    assert graph.split == spec.split
    masks = torch.stack([graph.train_mask, graph.valid_mask, graph.test_mask]).int()
    assert int(masks.sum(dim=0).max()) == 1
    assert is_undirected(graph.edge_index, num_nodes=graph.num_nodes)
    assert not contains_self_loops(graph.edge_index)
    assert torch.equal(graph.edge_index, coalesce(graph.edge_index))
    assert sorted(graph.y.unique().tolist()) == list(range(graph.num_classes))


@pytest.mark.parametrize("name", REAL)
def test_real_graph_is_what_its_spec_says(name: str) -> None:
    graph = load(name, real_root(name))
    check_graph(graph, name)
    assert sizes(graph) == REAL[name]
    size = dataset_spec(name).size
    assert (size.trained, size.labelled) == (REAL[name][0], sum(REAL[name]))
    assert graph.num_edges == EDGES.get(name, graph.num_edges)


@pytest.mark.parametrize("name", ["karate", "csbm", "csbm:nodes=2000,classes=5", "csbm:nodes=20"])
def test_embedded_graph_is_what_its_spec_says(name: str) -> None:
    graph = load(name)
    check_graph(graph, name)
    assert dataset_spec(name).on_disk("nowhere")
    assert load(name).checksum == graph.checksum


@pytest.mark.parametrize(("folder", "name"), [("Photo", "photo"), ("Computers", "computers")])
def test_npz_reader_agrees_with_pyg(folder: str, name: str) -> None:
    path = real_root(name) / dataset_spec(name).files[0]
    ours, theirs = read_npz(path), pyg_read_npz(str(path))
    assert np.array_equal(ours.attributes.toarray(), theirs.x.numpy())
    assert torch.equal(coalesce(ours.edge_index), coalesce(theirs.edge_index))
    assert np.array_equal(ours.labels, theirs.y.numpy())


def copy_of(name: str, folder: Path) -> Path:
    """Copy the files of a real dataset into a data root; gives the folder that they are in."""
    source = real_root(name)
    for file in dataset_spec(name).files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / file, folder / file)
    return (folder / file).parent


def test_loading_leaves_the_data_root_as_it_was(tmp_path: Path) -> None:
    copy_of("cora", tmp_path)
    copy_of("photo", tmp_path)
    before = sorted(tmp_path.rglob("*"))
    load("cora", tmp_path)
    load("photo", tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_citation_graphs_are_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = real_root("cora") / Path(dataset_spec("cora").files[0]).parent
    handler = partial(SimpleHTTPRequestHandler, directory=str(raw))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(Planetoid, "url", f"http://127.0.0.1:{server.server_port}")
        graph = load("cora", tmp_path)
        server.shutdown()
    assert graph.checksum == load("cora", real_root("cora")).checksum
    assert not list(tmp_path.rglob("processed"))


class Harmful:
    """What a pickle can do to whoever loads it."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("harm",)


def test_a_pickle_that_runs_code_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = copy_of("cora", tmp_path)
    monkeypatch.chdir(tmp_path)
    (raw / "ind.cora.graph").write_bytes(pickle.dumps(Harmful(), protocol=2))
    with pytest.raises(DatasetError, match=r"ind\.cora\.graph is not loaded: it asks for .*mkdir"):
        load("cora", tmp_path)
    assert not (tmp_path / "harm").exists()


def test_a_truncated_pickle_is_named(tmp_path: Path) -> None:
    raw = copy_of("cora", tmp_path)
    whole = (raw / "ind.cora.allx").read_bytes()
    (raw / "ind.cora.allx").write_bytes(whole[:-1000])
    with pytest.raises(DatasetError, match=r"ind\.cora\.allx is damaged"):
        load("cora", tmp_path)


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(8, 30), min_size=1, max_size=5),
    train=st.integers(1, 4),
    valid=st.integers(0, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_per_class_split(counts: list[int], train: int, valid: int, seed: int) -> None:
    y = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    masks = torch.stack(per_class_split(y, train, valid, seed))
    assert masks.sum(dim=0).tolist() == [1] * sum(counts)
    for label, count in enumerate(counts):
        of_class = masks[:, y == label].sum(dim=1).tolist()
        assert of_class == [train, valid, count - train - valid]
    assert torch.equal(masks, torch.stack(per_class_split(y, train, valid, seed)))


def test_split_depends_on_its_seed_and_refuses_small_classes() -> None:
    y = torch.zeros(100, dtype=torch.long)
    assert not torch.equal(per_class_split(y, 20, 30, 0)[0], per_class_split(y, 20, 30, 1)[0])
    with pytest.raises(DatasetError, match="class 0 has 50 nodes, too few"):
        per_class_split(y[:50], 20, 30)


def test_block_model_has_the_structure_asked_for() -> None:
    graph = load("csbm:nodes=4000,classes=4,degree=10,homophily=0.9,signal=3.0")
    source, target = graph.edge_index
    within = (graph.y[source] == graph.y[target]).double().mean()
    assert abs(float(within) - 0.9) < 0.01
    assert abs(graph.num_edges / graph.num_nodes - 10) < 0.2
    centres = torch.stack([graph.x[graph.y == label].mean(dim=0) for label in range(4)])
    assert torch.allclose(centres.norm(dim=1), torch.full((4,), 3.0), atol=0.2)
    within_class = graph.x - centres[graph.y]
    assert abs(float(within_class.var()) - 1.0) < 0.02


def test_block_model_is_named_by_what_it_is() -> None:
    spec = dataset_spec("csbm:classes=5,nodes=2000")
    assert spec.name == "csbm:nodes=2000,classes=5"
    assert dataset_spec("csbm:nodes=500").name == "csbm"
    assert load("csbm:seed=1").checksum != load("csbm").checksum


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("csbm:colour=3", "unknown parameter 'colour'"),
        ("csbm:nodes=many", "nodes=many is not of type int"),
        ("csbm:nodes=7", "at least 5 a class"),
        ("csbm:classes=1", "at least 2"),
        ("csbm:homophily=2", "in \\[0, 1\\]"),
        ("csbm:nodes", "must be name=value"),
        ("csbm:nodes=50,nodes=60", "each name once"),
        ("karate:nodes=3", "takes no parameters"),
    ],
)
def test_wrong_parameters_are_named(name: str, words: str) -> None:
    with pytest.raises(DatasetError, match=words):
        dataset_spec(name)


def test_unknown_dataset_lists_the_known_ones() -> None:
    with pytest.raises(UnknownDatasetError, match=r"unknown dataset 'coral'.*cora.*karate") as info:
        load("coral")
    assert isinstance(info.value, BenchBuildError)


def test_missing_files_say_where_and_what_to_do(tmp_path: Path) -> None:
    def no_network(_root: Path) -> None:
        raise OSError("no route to host")

    with pytest.raises(DatasetMissingError, match=r"no route to host.*GRAPHTAB_DATA") as info:
        ensure_files("cora", tmp_path, ("here.txt",), no_network)
    assert str(tmp_path / "here.txt") in str(info.value)
    ensure_files("cora", tmp_path, ("here.txt",), lambda root: (root / "here.txt").touch())
    assert [path.name for path in tmp_path.iterdir()] == ["here.txt"]


def test_a_download_that_is_cut_off_leaves_nothing_by_half(tmp_path: Path) -> None:
    def cut_off(root: Path) -> None:
        (root / "first.txt").write_text("whole")
        (root / "second.txt").write_text("ha")
        raise ConnectionError("reset by peer")

    with pytest.raises(DatasetMissingError, match="reset by peer"):
        ensure_files("cora", tmp_path, ("first.txt", "second.txt"), cut_off)
    assert not list(tmp_path.iterdir())


def test_a_download_completes_what_is_there_in_part(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "first.txt").write_text("there")

    def fetch(root: Path) -> None:
        (root / "raw").mkdir()
        for name in ("first.txt", "second.txt", "unasked.txt"):
            (root / "raw" / name).write_text("new")

    ensure_files("cora", tmp_path, ("raw/first.txt", "raw/second.txt"), fetch)
    found = sorted(path.name for path in (tmp_path / "raw").iterdir())
    assert found == ["first.txt", "second.txt"]


@pytest.mark.parametrize("size", [0, 5000])
def test_a_damaged_file_is_one_line(tmp_path: Path, size: int) -> None:
    (path,) = copy_of("photo", tmp_path).iterdir()
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(
        DatasetError, match=f"'photo' can't be loaded, from {path.parent}: "
    ) as info:
        load("photo", tmp_path)
    assert "\n" not in str(info.value)


def test_data_root_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRAPHTAB_DATA", str(tmp_path / "variable"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_root(tmp_path / "given") == tmp_path / "given"
    assert data_root() == tmp_path / "variable"
    monkeypatch.delenv("GRAPHTAB_DATA")
    assert data_root() == tmp_path / "cache" / "graphtab" / "data"


def write_tables(root: Path, tables: dict[str, np.ndarray]) -> None:
    for file, table in tables.items():
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(table).to_csv(path, header=False, index=False)


def test_arxiv_is_read_from_ogb_tables(tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    edges = np.array([[0, 1], [1, 2], [2, 1], [3, 0], [4, 5]])
    features, labels = random.standard_normal((6, 128)), np.arange(6)[:, None] % 40
    split = [np.array([[0], [1], [2]]), np.array([[3]]), np.array([[4], [5]])]
    write_tables(tmp_path, dict(zip(ARXIV_FILES, [edges, labels, features, *split], strict=True)))
    graph = load("arxiv", tmp_path)
    assert np.allclose(graph.x.numpy(), features, atol=1e-6)
    pairs = {tuple(edge) for edge in graph.edge_index.t().tolist()}
    assert pairs == {(a, b) for a, b in edges} | {(b, a) for a, b in edges}
    assert graph.y.tolist() == labels[:, 0].tolist()
    assert sizes(graph) == (3, 1, 2)


def test_proteins_take_their_features_from_their_edges(tmp_path: Path) -> None:
    random = np.random.RandomState(1)
    edges = np.array([[0, 1], [0, 2], [1, 2], [3, 1]])
    edge_features = random.random_sample((4, 8))
    labels = random.randint(0, 2, size=(5, 112))
    split = [np.array([[0], [1]]), np.array([[2]]), np.array([[3], [4]])]
    write_tables(
        tmp_path, dict(zip(PROTEINS_FILES, [edges, labels, edge_features, *split], strict=True))
    )
    graph = load("proteins", tmp_path)
    for node in range(5):
        touching = [f for edge, f in zip(edges, edge_features, strict=True) if node in edge]
        expected = np.mean(touching, axis=0) if touching else np.zeros(8)
        assert np.allclose(graph.x[node].numpy(), expected, atol=1e-6)
    assert graph.metric == "rocauc"
    assert np.array_equal(graph.y.numpy(), labels)
    assert torch.equal(graph.x, mean_edge_features(edges.T, [edge_features], 5))


def test_long_tables_are_read_in_chunks_with_the_same_sums() -> None:
    random = np.random.RandomState(2)
    edges, features = random.randint(9, size=(2, 100)), random.random_sample((100, 3))
    chunks = np.split(features, [1, 40, 41])
    whole, parts = (mean_edge_features(edges, given, 9) for given in ([features], chunks))
    assert torch.equal(whole, parts)
    ends = edges.reshape(-1)
    sums = [np.bincount(ends, np.tile(column, 2), minlength=9) for column in features.T]
    expected = np.stack(sums, axis=1) / np.bincount(ends, minlength=9)[:, None]
    assert torch.equal(whole, torch.from_numpy(expected).float())
    both = to_undirected(torch.from_numpy(edges), num_nodes=9)
    assert torch.equal(undirected(edges[0], edges[1], 9), both)


@pytest.mark.parametrize("part", ["x", "edge_index", "y", "train_mask"])
def test_checksum_sees_every_tensor(part: str) -> None:
    graph = load("karate")
    tensor = getattr(graph, part).clone()
    if part == "edge_index":
        tensor = tensor[:, 1:]
    else:
        tensor[3] = ~tensor[3] if tensor.dtype == torch.bool else tensor[3] + 1
    assert dataclasses.replace(graph, **{part: tensor}).checksum != graph.checksum


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"metric": "f1"}, "metric 'f1' is not one of"),
        ({"y": torch.zeros(3, dtype=torch.long)}, "y has 3 rows for 34 nodes"),
        ({"y": torch.zeros(34, 4)}, r"shape \(34, 4\); for accuracy it must have \(34,\)"),
        ({"y": torch.full((34,), 4)}, "label 4; the highest is 3"),
        ({"y": torch.zeros(34), "metric": "rocauc"}, r"must have \(34, 4\)"),
        ({"y": torch.full((34, 4), 2.0), "metric": "rocauc"}, "label 2; the highest is 1"),
        ({"edge_index": torch.tensor([[0], [34]])}, "beyond the 34"),
        ({"edge_index": torch.tensor([[0], [-1]])}, "below 0"),
        ({"test_mask": torch.zeros(34, dtype=torch.bool)}, "test_mask selects no node"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(
    changes: dict[str, object], words: str
) -> None:
    with pytest.raises(DatasetError, match=words):
        dataclasses.replace(load("karate"), **changes)


def test_features_that_are_no_numbers_are_refused() -> None:
    karate = load("karate")
    x = karate.x.clone()
    x[3, 4] = torch.nan
    masks = (karate.train_mask, karate.valid_mask, karate.test_mask)
    with pytest.raises(DatasetError, match="mine: a feature is not a finite number"):
        Graph.build("mine", x, karate.edge_index, karate.y, masks, num_classes=4, split="its own")


@pytest.mark.parametrize("metric", ["accuracy", "rocauc"])
def test_types_of_raw_parts_are_settled(metric: str) -> None:
    karate = load("karate")
    y = karate.y.int()[:, None]
    if metric == "rocauc":
        y = one_hot(karate.y).int()
    masks = tuple(mask.int() for mask in (karate.train_mask, karate.valid_mask, karate.test_mask))
    graph = Graph.build(
        "mine",
        karate.x.double(),
        karate.edge_index.int(),
        y,
        masks,
        num_classes=4,
        split="its own",
        metric=metric,
    )
    hp = hyperparameters_for("karate").override(epochs=2)
    assert train(Arch.from_hash(61237), graph, hp, seed=0).status == "ok"
    assert (graph.checksum == karate.checksum) == (metric == "accuracy")


@pytest.mark.parametrize("sparse", [False, True])
def test_an_induced_subgraph_has_the_edges_between_its_nodes(sparse: bool) -> None:
    graph = load("karate")
    if sparse:
        graph = dataclasses.replace(graph, x=graph.x.to_sparse_csr())
    nodes = torch.arange(graph.num_nodes) % 2 == 0
    found = graph.induced(nodes)
    kept = nodes.nonzero().view(-1).tolist()
    expected = {
        (kept.index(a), kept.index(b))
        for a, b in graph.edge_index.T.tolist()
        if a in kept and b in kept
    }
    assert {(a, b) for a, b in found.edge_index.T.tolist()} == expected
    assert found.x.to_dense().equal(graph.x.to_dense()[nodes])
    assert found.y.equal(graph.y[nodes])
