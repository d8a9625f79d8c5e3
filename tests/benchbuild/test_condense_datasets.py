"""ACM, DBLP, Flickr and Reddit, from small data of the same files, and the real ones if there."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse

from benchbuild.cli import main
from benchbuild.datasets import Graph, dataset_names, dataset_spec, load
from benchbuild.datasets.hetero import ACM_FOLDER, DBLP_FOLDER, padded
from benchbuild.datasets.root import data_root
from benchbuild.errors import DatasetError, DatasetMissingError
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.evaluate.evaluator import GraphEvaluator
from benchquery.kinds.condensed.config import EvalConfig

CPU = torch.device("cpu")


def masks_of(graph: Graph) -> list[list[int]]:
    masks = (graph.train_mask, graph.valid_mask, graph.test_mask)
    return [mask.nonzero().view(-1).tolist() for mask in masks]


@pytest.fixture
def acm(tmp_path: Path) -> Path:
    """Six papers, four authors, two subjects."""
    folder = tmp_path / ACM_FOLDER
    folder.mkdir(parents=True)
    papers, authors = np.eye(6, 5), np.ones((4, 5))
    sparse.save_npz(folder / "p_feat.npz", sparse.csr_matrix(papers))
    sparse.save_npz(folder / "a_feat.npz", sparse.csr_matrix(authors))
    np.savetxt(folder / "pa.txt", [[0, 0], [1, 0], [2, 1], [3, 2], [4, 3], [5, 3]], fmt="%d")
    np.savetxt(folder / "ps.txt", [[p, p % 2] for p in range(6)], fmt="%d")
    np.save(folder / "labels.npy", np.array([0.0, 1.0, 2.0, 0.0, 1.0, 2.0]))
    for name, nodes in (("train", [0, 1, 2]), ("val", [3]), ("test", [4, 5])):
        np.save(folder / f"{name}_60.npy", np.array(nodes))
    return tmp_path


def test_acm_is_one_graph_of_all_its_nodes(acm: Path) -> None:
    graph = load("acm", acm)
    assert (graph.num_nodes, graph.num_features, graph.num_edges) == (12, 5, 2 * 12)
    assert graph.y.tolist() == [0, 1, 2, 0, 1, 2, *[-1] * 6]
    assert masks_of(graph) == [[0, 1, 2], [3], [4, 5]]
    x = graph.x.to_dense()
    assert torch.equal(x[6:10], torch.ones(4, 5))
    assert torch.equal(x[10:], torch.eye(2, 5))
    edges = set(map(tuple, graph.edge_index.t().tolist()))
    assert {(0, 6), (6, 0), (5, 9), (0, 10), (10, 0), (1, 11)} <= edges
    assert all((b, a) in edges for a, b in edges)


@pytest.fixture
def dblp(tmp_path: Path) -> Path:
    """Four authors, three papers, two terms, one venue."""
    folder = tmp_path / DBLP_FOLDER / "raw"
    folder.mkdir(parents=True)
    adjacency = np.zeros((10, 10))
    for a, b in ((0, 4), (1, 4), (2, 5), (3, 6), (4, 7), (5, 8), (4, 9), (6, 9)):
        adjacency[a, b] = adjacency[b, a] = 1
    sparse.save_npz(folder / "adjM.npz", sparse.csr_matrix(adjacency))
    np.save(folder / "node_types.npy", np.array([0] * 4 + [1] * 3 + [2] * 2 + [3]))
    sparse.save_npz(folder / "features_0.npz", sparse.csr_matrix(np.ones((4, 2))))
    sparse.save_npz(folder / "features_1.npz", sparse.csr_matrix(np.full((3, 4), 2.0)))
    np.save(folder / "features_2.npy", np.full((2, 3), 3.0, dtype=np.float32))
    np.save(folder / "labels.npy", np.array([0, 1, 2, 3]))
    split = {"train_idx": [0, 1], "val_idx": [2], "test_idx": [3]}
    np.savez(folder / "train_val_test_idx.npz", **split)
    return tmp_path


def test_dblp_pads_the_features_of_its_types(dblp: Path) -> None:
    graph = load("dblp", dblp)
    assert (graph.num_nodes, graph.num_features, graph.num_edges) == (10, 4, 16)
    expected = torch.zeros(10, 4)
    expected[:4, :2], expected[4:7], expected[7:9, :3], expected[9, 0] = 1, 2, 3, 1
    assert torch.equal(graph.x.to_dense(), expected)
    assert graph.y.tolist() == [0, 1, 2, 3, *[-1] * 6]
    assert masks_of(graph) == [[0, 1], [2], [3]]


def test_nothing_trains_on_nodes_without_a_class(acm: Path) -> None:
    graph = load("acm", acm)
    problem = Problem.of(graph, CPU)
    assert problem.train_labels.tolist() == [0, 1, 2]
    assert problem.num_nodes == 12
    found = GraphEvaluator(graph, CPU).full(EvalConfig(epochs=3, hidden=4))
    assert found.status == "ok"
    everyone = torch.ones(12, dtype=torch.bool)
    with pytest.raises(DatasetError, match="train_mask selects a node without a class"):
        dataclasses.replace(graph, train_mask=everyone)


def test_padding() -> None:
    blocks = [sparse.csr_matrix(np.ones((1, 3))), sparse.csr_matrix(np.ones((2, 1)))]
    assert padded(blocks).toarray().tolist() == [[1, 1, 1], [1, 0, 0], [1, 0, 0]]


@pytest.fixture
def flickr(tmp_path: Path) -> Path:
    folder = tmp_path / "Flickr" / "raw"
    folder.mkdir(parents=True)
    ring = sparse.csr_matrix(np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1))
    parts = {"data": ring.data, "indices": ring.indices, "indptr": ring.indptr}
    np.savez(folder / "adj_full.npz", shape=ring.shape, **parts)
    np.save(folder / "feats.npy", np.arange(24.0).reshape(8, 3))
    (folder / "class_map.json").write_text(json.dumps({str(n): n % 7 for n in range(8)}))
    roles = {"tr": [0, 1, 2, 3], "va": [4, 5], "te": [6, 7]}
    (folder / "role.json").write_text(json.dumps(roles))
    return tmp_path


def test_flickr_is_inductive(flickr: Path) -> None:
    graph = load("flickr", flickr)
    assert graph.inductive
    assert (graph.num_nodes, graph.num_features, graph.num_edges) == (8, 3, 16)
    assert graph.y.tolist() == [0, 1, 2, 3, 4, 5, 6, 0]
    assert masks_of(graph) == [[0, 1, 2, 3], [4, 5], [6, 7]]
    problem = Problem.of(graph, CPU)
    assert problem.num_nodes == 4
    assert problem.edge_index.shape[1] == 6
    found = GraphEvaluator(graph, CPU).full(EvalConfig(epochs=3, hidden=4))
    assert found.status == "ok"


def test_networks_are_not_trained_on_an_inductive_graph(
    flickr: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "--dataset", "flickr", "--data-root", str(flickr), "--workers", "1"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 2
    assert "'flickr' is inductive" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.fixture
def reddit(tmp_path: Path) -> Path:
    folder = tmp_path / "Reddit" / "raw"
    folder.mkdir(parents=True)
    np.savez(
        folder / "reddit_data.npz",
        feature=np.ones((5, 2)),
        label=np.array([0, 1, 0, 1, 40]),
        node_types=np.array([1, 1, 2, 3, 3]),
    )
    pairs = np.array([[0, 1, 1, 3, 4], [1, 0, 3, 1, 3]])
    sparse.save_npz(
        folder / "reddit_graph.npz", sparse.coo_matrix((np.ones(5), tuple(pairs)), shape=(5, 5))
    )
    return tmp_path


def test_reddit_is_inductive(reddit: Path) -> None:
    graph = load("reddit", reddit)
    assert graph.inductive
    assert (graph.num_nodes, graph.num_edges, graph.num_classes) == (5, 5, 41)
    assert masks_of(graph) == [[0, 1], [2], [3, 4]]
    assert graph.x.dtype == torch.float32


@pytest.mark.parametrize("name", ["acm", "dblp", "flickr", "reddit"])
def test_a_dataset_that_can_not_be_had_says_where_it_was_looked_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch_geometric.datasets

    def offline(*args: object) -> None:
        raise OSError("no network")

    for library in ("DBLP", "Flickr", "Reddit"):
        monkeypatch.setattr(torch_geometric.datasets, library, offline)
    assert name in dataset_names()
    assert not dataset_spec(name).on_disk(tmp_path)
    with pytest.raises(DatasetMissingError) as raised:
        load(name, tmp_path)
    assert str(tmp_path / dataset_spec(name).files[0]) in str(raised.value)


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "labelled"),
    [("acm", 11_246, 34_852, 4_019), ("dblp", 26_128, 239_566, 4_057)],
)
def test_the_real_ones(name: str, nodes: int, edges: int, labelled: int) -> None:
    spec = dataset_spec(name)
    if not spec.on_disk():
        pytest.skip(f"{name} is not in {data_root()}")
    graph = load(name)
    assert (graph.num_nodes, graph.num_edges) == (nodes, edges)
    assert int((graph.y >= 0).sum()) == labelled
    assert graph.num_features == spec.num_features
    assert int(graph.y.max()) + 1 == graph.num_classes
