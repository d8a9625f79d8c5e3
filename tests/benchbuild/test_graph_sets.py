"""Sets of graphs: against PyG's and ogb's own readers, the published sizes, and bad input."""

from __future__ import annotations

import dataclasses
import shutil
import zipfile
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from ogb.graphproppred.mol_encoder import AtomEncoder
from ogb.io.read_graph_pyg import read_graph_pyg
from ogb.utils.features import get_atom_feature_dims
from torch_geometric.data import Batch, Data
from torch_geometric.datasets import TUDataset
from torch_geometric.nn import GIN, global_add_pool
from torch_geometric.transforms import OneHotDegree
from torch_geometric.utils import coalesce

from benchbuild.cli import main
from benchbuild.datasets import GraphSet, dataset_spec, load, load_graphs
from benchbuild.datasets.ogbg import atom_features
from benchbuild.datasets.splits import tenths_split
from benchbuild.datasets.tu import SEEDED
from benchbuild.errors import DatasetError, DatasetMissingError
from tests.benchbuild.real import real_root

SIZES = {
    "nci1": (4_110, 122_747, 265_506, 37, [2_053, 2_057], [3_288, 411, 411]),
    "dd": (1_178, 334_925, 1_686_092, 89, [691, 487], [942, 117, 119]),
    "proteins-tu": (1_113, 43_471, 162_088, 4, [663, 450], [890, 111, 112]),
    "mutag": (188, 3_371, 7_442, 7, [63, 125], [152, 18, 18]),
    "molbace": (1_513, 51_577, 2 * 55_768, 9, [822, 691], [1_210, 151, 152]),
    "molbbbp": (2_039, 49_068, 2 * 52_921, 9, [479, 1_560], [1_631, 204, 204]),
    "molhiv": (41_127, 1_049_163, 2 * 1_129_688, 9, [39_684, 1_443], [32_901, 4_113, 4_113]),
}
"""As published: graphs, nodes, directed edges, features, graphs of each class and of each part."""

FOLDERS = {"nci1": "NCI1", "proteins-tu": "PROTEINS", "mutag": "MUTAG"}


def copy_of(name: str, root: Path) -> Path:
    """Copy the files of a real dataset into a data root; gives the folder of the first one."""
    source, spec = real_root(name), dataset_spec(name)
    for file in spec.files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / file, root / file)
    return (root / spec.files[0]).parent


def sorted_edges(data: Batch) -> tuple[torch.Tensor, torch.Tensor | None]:
    if data.edge_attr is None:
        return coalesce(data.edge_index), None
    return coalesce(data.edge_index, data.edge_attr)


@pytest.mark.parametrize("name", SIZES)
def test_real_sets_have_the_published_sizes(name: str) -> None:
    data = load_graphs(name, real_root(name))
    graphs, spec = data.graphs, dataset_spec(name)
    parts = [data.train, data.valid, data.test]
    assert SIZES[name] == (
        len(graphs),
        graphs.num_nodes,
        graphs.num_edges,
        graphs.num_features,
        torch.bincount(graphs.y).tolist(),
        [len(part) for part in parts],
    )
    assert torch.cat(parts).sort().values.equal(torch.arange(len(graphs)))
    assert (data.metric, data.split) == (spec.metric, spec.split)
    assert (spec.num_items, spec.trained, spec.sort) == (len(graphs), len(data.train), "graphs")
    assert spec.num_features == graphs.num_features


# -------------------------------------------------------------------- TUDataset


@pytest.mark.parametrize("name", FOLDERS)
def test_tu_sets_are_those_of_pyg(name: str, tmp_path: Path) -> None:
    copy_of(name, tmp_path)
    ours = load_graphs(name, tmp_path).graphs
    assert not list(tmp_path.rglob("processed"))
    listed = TUDataset(str(tmp_path / "TUDataset"), FOLDERS[name], use_node_attr=True)
    theirs = Batch.from_data_list(list(listed))
    edges, bonds = sorted_edges(theirs)
    assert ours.x.equal(theirs.x)
    assert ours.edge_index.equal(edges)
    assert ours.node_ptr.equal(theirs.ptr)
    assert ours.y.equal(theirs.y)
    if bonds is None:
        assert ours.edge_attr is None
    else:
        assert ours.edge_attr is not None
        assert ours.edge_attr.view(-1).equal(bonds.argmax(dim=1))


def test_features_can_be_made_of_degrees(tmp_path: Path) -> None:
    copy_of("mutag", tmp_path)
    ours = load_graphs("mutag:features=degree", tmp_path)
    listed = TUDataset(str(tmp_path / "TUDataset"), "MUTAG", transform=OneHotDegree(31, cat=False))
    assert ours.graphs.x.equal(Batch.from_data_list(list(listed)).x)
    constant = load_graphs("mutag:features=constant", tmp_path)
    assert constant.graphs.x.equal(torch.ones(3_371, 1))


def test_labels_alone_are_the_last_columns_of_the_features() -> None:
    root = real_root("proteins-tu")
    own, labels = (load_graphs(f"proteins-tu{more}", root) for more in ("", ":features=labels"))
    assert own.graphs.x[:, 1:].equal(labels.graphs.x)
    assert labels.name == "proteins-tu:features=labels"


def test_kidd_decides_the_split_where_its_file_is() -> None:
    root = real_root("nci1")
    text = (root / "kidd_splits/OriginalSplit/NCI1_split.txt").read_text()
    data = load_graphs("nci1", root)
    for part, numbers in zip((data.train, data.valid, data.test), text.split("\t"), strict=True):
        assert part.tolist() == [int(number) for number in numbers.split()]
    assert data.split.startswith("KIDD's split: 3,288 training")
    assert load_graphs("nci1:split=kidd", root).checksum == data.checksum


def test_without_kidd_s_file_a_split_is_drawn_and_said(tmp_path: Path) -> None:
    copy_of("nci1", tmp_path)
    (tmp_path / "kidd_splits/OriginalSplit/NCI1_split.txt").unlink()
    data = load_graphs("nci1", tmp_path)
    assert data.split.startswith("KIDD's split is not at kidd_splits/")
    seeded = load_graphs("nci1:split=seeded", tmp_path)
    assert seeded.split == SEEDED == dataset_spec("nci1:split=seeded").split
    assert data.checksum == seeded.checksum
    assert len(seeded.train) == dataset_spec("nci1:split=seeded").trained == 3_290
    with pytest.raises(DatasetMissingError, match=r"NCI1_split\.txt.*nci1:split=seeded"):
        load_graphs("nci1:split=kidd", tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("\t", " ", 1),
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("4084 ", "2196 ", 1),
        lambda text: text.replace("4084 ", "some ", 1),
    ],
    ids=["two lists", "cut off", "a graph twice", "no number"],
)
def test_a_split_that_is_damaged_is_named(damage: Callable[[str], str], tmp_path: Path) -> None:
    copy_of("nci1", tmp_path)
    path = tmp_path / "kidd_splits/OriginalSplit/NCI1_split.txt"
    path.write_text(damage(path.read_text()))
    with pytest.raises(DatasetError, match=r"NCI1_split\.txt is damaged"):
        load_graphs("nci1", tmp_path)


@pytest.mark.parametrize(
    ("file", "damage", "told"),
    [
        ("A", lambda text: text[:-20], r"MUTAG_A\.txt is damaged"),
        ("A", lambda text: text.replace("2, 1\n", "2, 999999\n", 1), "an edge names node 999998"),
        ("A", lambda text: text.replace("2, 1\n", "2, 3000\n", 1), "an edge joins two graphs"),
        ("A", lambda text: text.replace("2, 1\n", "5, 1\n", 1), "and none back"),
        ("A", lambda text: text.replace("2, 1\n", "2, x\n", 1), r"MUTAG_A\.txt is damaged"),
        ("A", lambda text: "", r"MUTAG_A\.txt is damaged"),
        ("graph_indicator", lambda text: text[:-4], "3,370 rows of 1, not 3,371 of 1"),
        ("graph_indicator", lambda text: "2\n" + text[2:], "graphs are not in their order"),
        ("graph_labels", lambda text: text[3:], r"MUTAG_graph_labels\.txt is damaged"),
        ("node_labels", lambda text: "7\n" + text[2:], "more than 7 labels"),
        ("node_labels", lambda text: "0.5\n" + text[2:], r"MUTAG_node_labels\.txt is damaged"),
        ("edge_labels", lambda text: text[2:], r"MUTAG_edge_labels\.txt is damaged"),
    ],
)
def test_text_that_is_damaged_is_one_line(
    file: str, damage: Callable[[str], str], told: str, tmp_path: Path
) -> None:
    path = copy_of("mutag", tmp_path) / f"MUTAG_{file}.txt"
    path.write_text(damage(path.read_text()))
    with pytest.raises(DatasetError, match=told) as raised:
        load_graphs("mutag", tmp_path)
    assert "\n" not in str(raised.value)


def test_tu_sets_are_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = copy_of("mutag", tmp_path / "published")
    with zipfile.ZipFile(tmp_path / "MUTAG.zip", "w") as archive:
        for path in raw.iterdir():
            archive.write(path, f"MUTAG/{path.name}")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(TUDataset, "url", f"http://127.0.0.1:{server.server_port}")
        data = load_graphs("mutag", tmp_path / "root")
        server.shutdown()
    assert data.checksum == load_graphs("mutag", real_root("mutag")).checksum
    found = {path.name for path in (tmp_path / "root").rglob("*.*")}
    assert found == {Path(file).name for file in dataset_spec("mutag").files}


# -------------------------------------------------------------------- ogb's molecules


def test_molecules_are_those_of_ogb() -> None:
    root = real_root("molbace")
    data = load_graphs("molbace", root)
    ours, folder = data.graphs, root / "ogb" / "ogbg_molbace"
    theirs = Batch.from_data_list(read_graph_pyg(str(folder / "raw"), add_inverse_edge=True))
    edges, bonds = sorted_edges(theirs)
    assert ours.x.equal(theirs.x.float())
    assert ours.edge_index.equal(edges)
    assert ours.edge_attr is not None
    assert ours.edge_attr.equal(bonds)
    assert ours.node_ptr.equal(theirs.ptr)
    labels = pd.read_csv(folder / "raw" / "graph-label.csv.gz", header=None)[0]
    assert ours.y.tolist() == labels.tolist()
    for part in ("train", "valid", "test"):
        listed = pd.read_csv(folder / "split" / "scaffold" / f"{part}.csv.gz", header=None)[0]
        assert getattr(data, part).tolist() == listed.tolist()


def test_a_linear_layer_over_one_hot_fields_is_ogb_s_encoder() -> None:
    torch.manual_seed(0)
    widths = get_atom_feature_dims()
    fields = torch.stack([torch.randint(width, (50,)) for width in widths], dim=1)
    encoder = AtomEncoder(16)
    weight = torch.cat([table.weight for table in encoder.atom_embedding_list])
    ours = atom_features(fields, "atom-encoder")
    assert ours.shape[1] == dataset_spec("molbace:features=atom-encoder").num_features
    assert torch.allclose(ours @ weight, encoder(fields), atol=1e-6)


def test_one_hot_fields_hold_the_raw_ones() -> None:
    root = real_root("molbbbp")
    raw, encoded = (
        load_graphs(f"molbbbp:features={features}", root)
        for features in ("raw-float", "atom-encoder")
    )
    assert raw.name == "molbbbp"
    fields = encoded.graphs.x.split(get_atom_feature_dims(), dim=1)
    back = torch.stack([field.argmax(dim=1) for field in fields], dim=1)
    assert raw.graphs.x.equal(back.float())
    assert encoded.graphs.edge_index.equal(raw.graphs.edge_index)


def test_an_atom_that_ogb_does_not_know_is_refused() -> None:
    fields = torch.zeros(3, 9, dtype=torch.int64)
    fields[1, 8] = 2
    with pytest.raises(DatasetError, match="field 8 of atom 1 is 2; it goes from 0 to 1"):
        atom_features(fields, "atom-encoder")


def rewritten(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        change(pd.read_csv(path, header=None)).to_csv(path, header=False, index=False)

    return damage


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


@pytest.mark.parametrize(
    ("table", "damage", "told"),
    [
        ("edge", cut_off, r"edge\.csv\.gz is damaged"),
        ("node-feat", cut_off, r"node-feat\.csv\.gz is damaged"),
        ("edge-feat", lambda path: path.write_bytes(b""), r"edge-feat\.csv\.gz is damaged"),
        ("edge", lambda path: path.write_bytes(b"not packed"), r"edge\.csv\.gz is damaged"),
        ("node-feat", rewritten(lambda rows: rows[:-1]), "has 51,576 rows of 9, not 51,577 of 9"),
        ("num-node-list", rewritten(lambda rows: rows + 1), r"num-node-list\.csv\.gz is damaged"),
        ("edge", rewritten(lambda rows: rows + 90), "an edge joins two graphs|names node"),
        ("graph-label", rewritten(lambda rows: rows.where(rows > 0)), "graph-label.*is damaged"),
        ("graph-label", rewritten(lambda rows: rows + 1), "y has labels from 1 to 2"),
    ],
)
def test_tables_that_are_damaged_are_one_line(
    table: str, damage: Callable[[Path], Any], told: str, tmp_path: Path
) -> None:
    damage(copy_of("molbace", tmp_path) / f"{table}.csv.gz")
    with pytest.raises(DatasetError, match=told) as raised:
        load_graphs("molbace", tmp_path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["nci1", "molhiv"])
def test_files_that_are_not_there_are_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TUDataset, "url", "http://127.0.0.1:9")
    monkeypatch.setattr("benchbuild.datasets.ogb.SERVER", "http://127.0.0.1:9")
    assert not dataset_spec(name).on_disk(tmp_path)
    with pytest.raises(DatasetMissingError) as raised:
        load_graphs(name, tmp_path)
    assert str(tmp_path / dataset_spec(name).files[0]) in str(raised.value)


# -------------------------------------------------------------------- motifs


def test_motifs_are_drawn_as_asked_for() -> None:
    data = load_graphs("motifs:graphs=90,classes=3,nodes=9,labels=4,noise=0,chords=0")
    assert torch.bincount(data.graphs.y).tolist() == [30, 30, 30]
    sizes = data.graphs.sizes
    assert 6 + 5 <= int(sizes.min()) <= int(sizes.max()) <= 12 + 5
    marked = data.graphs.x[:, 3].bool()
    assert torch.bincount(data.graphs.graph_of[marked]).tolist() == [5] * 90
    source, target = data.graphs.edge_index
    within = marked[source] & marked[target]
    of_motif = torch.bincount(data.graphs.graph_of[source[within]]) // 2
    assert of_motif.equal(torch.tensor([5, 6, 4])[data.graphs.y])
    edges = torch.bincount(data.graphs.graph_of[source]) // 2
    assert (edges - of_motif).equal(sizes - 5)


def test_motifs_are_named_by_what_they_are() -> None:
    assert dataset_spec("motifs:seed=3,graphs=50").name == "motifs:graphs=50,seed=3"
    assert dataset_spec("motifs:graphs=200").name == "motifs"
    assert load_graphs("motifs").checksum == load_graphs("motifs").checksum
    assert load_graphs("motifs:seed=1").checksum != load_graphs("motifs").checksum


@pytest.mark.usefixtures("one_thread")
def test_motifs_are_learnt_from_edges_and_not_from_labels() -> None:
    data = load_graphs("motifs:graphs=300")
    train = data.graphs.select(data.train)
    rest = data.graphs.select(torch.cat([data.valid, data.test]))

    def score(network: GIN | torch.nn.Module, *, linked: bool) -> float:
        head = torch.nn.Linear(16, 2)
        adam = torch.optim.Adam([*network.parameters(), *head.parameters()], lr=0.01)

        def logits(batch: Any) -> torch.Tensor:
            hidden = network(batch.x, batch.edge_index) if linked else network(batch.x)
            return head(global_add_pool(hidden, batch.graph_of))

        for _ in range(100):
            adam.zero_grad()
            torch.nn.functional.cross_entropy(logits(train), train.y).backward()
            adam.step()
        return float((logits(rest).argmax(dim=1) == rest.y).float().mean())

    torch.manual_seed(0)
    assert score(GIN(3, 16, 3), linked=True) > 0.8
    alone = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16))
    assert score(alone, linked=False) < 0.7


# -------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("NCI1", "nci1"),
        ("tu-proteins", "proteins-tu"),
        ("PROTEINS", "proteins"),
        ("ogbg-molhiv", "molhiv"),
        ("ogbg_molbace:features=atom-encoder", "molbace:features=atom-encoder"),
        ("nci1:features=own", "nci1"),
        ("mutag:split=seeded", "mutag"),
        ("DD:split=seeded,features=degree", "dd:features=degree,split=seeded"),
    ],
)
def test_sets_go_by_their_usual_names(asked: str, name: str) -> None:
    assert dataset_spec(asked).name == name


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nci1:colour=red", "nci1: unknown parameter 'colour'; known: features, split"),
        ("nci1:features=labels", "features=labels is unknown; allowed: own, degree, constant"),
        ("mutag:split=kidd", "split=kidd is unknown; allowed: seeded"),
        ("molhiv:features=float", "allowed: raw-float, atom-encoder"),
        ("motifs:classes=7", "from 2 to 6"),
        ("motifs:graphs=5", "at least 3 a class"),
        ("motifs:labels=1", "at least 2"),
        ("motifs:noise=2", r"in \[0, 1\]"),
        ("motifs:size=3", "motifs: unknown parameter 'size'"),
    ],
)
def test_wrong_parameters_are_named(name: str, told: str) -> None:
    with pytest.raises(DatasetError, match=told):
        dataset_spec(name)


@pytest.mark.parametrize(
    "words", [["train", "--sample", "2"], ["tune", "--trials", "1"], ["darts"], ["inspect"]]
)
def test_commands_on_one_graph_refuse_a_set(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--hash", "0"] if words == ["inspect"] else ["--out", str(tmp_path / "run")]
    assert main([*words, "--dataset", "motifs", *out]) == 2
    assert capsys.readouterr().err == (
        f"benchbuild: error: dataset 'motifs' is a set of graphs; {words[0]} needs one graph with "
        "labelled nodes\n"
    )
    assert not (tmp_path / "run").exists()


def test_the_two_ways_of_loading_refuse_each_other_s_data() -> None:
    with pytest.raises(DatasetError, match="'motifs' is a set of graphs; load needs one graph"):
        load("motifs")
    with pytest.raises(DatasetError, match=r"'karate' is one graph .* load_graphs needs a set"):
        load_graphs("karate")


# -------------------------------------------------------------------- one's own

PAIR = torch.tensor([[0, 1], [1, 0]])
SPLIT: dict[str, Any] = {
    "train": [0, 1],
    "valid": [2, 3],
    "test": [4, 5],
    "split": "by hand",
}


def pairs(**changes: Any) -> list[tuple[Any, Any, Any]]:
    """Six graphs of two nodes, class 0 and 1 in turn; the second one may be changed."""
    graphs = [{"x": torch.eye(2), "edges": PAIR, "y": at % 2} for at in range(6)]
    graphs[1] |= changes
    return [(graph["x"], graph["edges"], graph["y"]) for graph in graphs]


def test_a_set_is_built_from_tuples_as_from_data() -> None:
    plain = GraphSet.build("mine", pairs(), **SPLIT)
    listed = [Data(x=x.double(), edge_index=edges, y=torch.tensor([y])) for x, edges, y in pairs()]
    assert GraphSet.build("mine", listed, **SPLIT).checksum == plain.checksum
    masks = {part: torch.zeros(6, dtype=torch.bool) for part in ("train", "valid", "test")}
    for part, mask in masks.items():
        mask[SPLIT[part]] = True
    assert GraphSet.build("mine", pairs(), **SPLIT | masks).checksum == plain.checksum
    assert (plain.num_classes, plain.num_features, plain.graphs.num_edges) == (2, 2, 12)


def test_edges_are_merged_sorted_and_freed_of_loops() -> None:
    edges = torch.tensor([[1, 0, 0, 1, 0], [0, 1, 1, 0, 0]])
    data = GraphSet.build("mine", pairs(edges=edges), **SPLIT)
    assert data.checksum == GraphSet.build("mine", pairs(), **SPLIT).checksum


def test_a_graph_without_edges_is_fine() -> None:
    data = GraphSet.build("mine", pairs(edges=torch.zeros(2, 0)), **SPLIT)
    assert data.graphs.num_edges == 10
    assert GraphSet.build("mine", pairs(edges=[[], []]), **SPLIT).checksum == data.checksum


def test_nodes_without_features_get_some_by_name() -> None:
    star = torch.tensor([[0] * 40 + list(range(1, 41)), list(range(1, 41)) + [0] * 40])
    data = GraphSet.build("mine", pairs(x=None, edges=star), **SPLIT, features="degree")
    assert data.graphs.sizes.tolist() == [2, 41, 2, 2, 2, 2]
    assert data.graphs.x[2].argmax() == 31
    assert data.graphs.x[3].argmax() == 1
    listed = [Data(edge_index=PAIR, num_nodes=3, y=at % 2) for at in range(6)]
    constant = GraphSet.build("mine", listed, **SPLIT, features="constant")
    assert constant.graphs.x.equal(torch.ones(18, 1))


def test_labels_of_edges_are_kept() -> None:
    listed = [
        Data(x=torch.eye(2), edge_index=PAIR, edge_attr=torch.tensor([at, at]), y=at % 2)
        for at in range(6)
    ]
    fields = GraphSet.build("mine", listed, **SPLIT).graphs.edge_attr
    assert fields is not None
    assert fields.view(-1).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    listed[2].edge_attr = torch.tensor([0.5, 0.5])
    with pytest.raises(DatasetError, match="graph 2: edge_attr has other than whole numbers"):
        GraphSet.build("mine", listed, **SPLIT)
    listed[2].edge_attr = None
    with pytest.raises(DatasetError, match="graph 2 has no edge_attr, others have"):
        GraphSet.build("mine", listed, **SPLIT)
    twice = PAIR.repeat(1, 2)
    listed[2] = Data(x=torch.eye(2), edge_index=twice, edge_attr=torch.arange(4), y=0)
    with pytest.raises(DatasetError, match="an edge is there twice, with different labels"):
        GraphSet.build("mine", listed, **SPLIT)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"x": None}, "graph 1 has no node features; features='degree' or 'constant'"),
        ({"x": torch.zeros(0, 2), "edges": [[], []]}, "graph 1 has no nodes; leave it out"),
        ({"x": torch.zeros(2, 3)}, "x of graph 1 has 3 columns, that of graph 0 2"),
        ({"x": torch.zeros(2)}, r"graph 1: x has the shape \(2,\)"),
        ({"x": torch.full((2, 2), torch.nan)}, "a feature is not a finite number"),
        ({"edges": torch.tensor([[0], [1]])}, "graph 1 has an edge from node 0 to 1 and none back"),
        ({"edges": torch.tensor([[0, 2], [2, 0]])}, "graph 1 has an edge to a node .* has 2"),
        ({"edges": torch.tensor([[0, -1], [-1, 0]])}, "graph 1 has an edge to a node"),
        ({"edges": None}, "graph 1 has no edge_index"),
        ({"y": 0.5}, "graph 1 has the label 0.5; classes are whole numbers"),
        ({"y": torch.nan}, "graph 1 has the label nan"),
        ({"y": -1}, "labels from -1 to 1"),
        ({"y": torch.tensor([0, 1])}, "graph 1: y has 2 entries"),
        ({"y": 0}, "all graphs of train are of class 0|train has no graph of class 1"),
    ],
)
def test_a_graph_that_can_t_be_used_is_named(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(DatasetError, match=f"^mine: .*({told})|^mine: ({told})"):
        GraphSet.build("mine", pairs(**changes), **SPLIT)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"valid": [2, 4], "test": [3, 5]}, "all graphs of valid are of class 0"),
        ({"valid": [2, 4], "test": [3, 5], "metric": "rocauc"}, "valid has no graph of class 1"),
        ({"test": [3, 4]}, "a graph is in both valid and test"),
        ({"test": [4, 5, 4]}, "test names a graph twice"),
        ({"test": [4, 6]}, "test names a graph that is not there"),
        ({"test": []}, "test has no graph"),
        ({"test": [4.0, 5.0]}, "test is torch.float32"),
        ({"metric": "f1"}, "metric 'f1' is not one of"),
        ({"num_classes": 3}, "train has no graph of class 2"),
        ({"features": "colour"}, "features 'colour'; allowed: degree, constant"),
    ],
)
def test_a_split_that_can_t_be_used_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(DatasetError, match=f"^mine: {told}"):
        GraphSet.build("mine", pairs(), **SPLIT | changes)


def test_a_set_without_graphs_or_with_parts_missing_is_refused() -> None:
    with pytest.raises(DatasetError, match="mine: there is no graph"):
        GraphSet.build("mine", [], **SPLIT)
    with pytest.raises(DatasetError, match="graph 0 has 2 parts; give features, edges and a class"):
        GraphSet.build("mine", [(torch.eye(2), PAIR)], **SPLIT)
    with pytest.raises(DatasetError, match="graph 0 has no y"):
        GraphSet.build("mine", [Data(x=torch.eye(2), edge_index=PAIR)], **SPLIT)


@settings(max_examples=30, deadline=None)
@given(counts=st.lists(st.integers(3, 60), min_size=2, max_size=4), seed=st.integers(0, 2**32 - 1))
def test_a_tenth_of_each_class_is_for_validation_and_test(counts: list[int], seed: int) -> None:
    y = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    parts = tenths_split(y, seed)
    assert torch.cat(parts).sort().values.equal(torch.arange(len(y)))
    for label, count in enumerate(counts):
        tenth = max(1, count // 10)
        found = [int((y[part] == label).sum()) for part in parts]
        assert found == [count - 2 * tenth, tenth, tenth]
    assert all(map(torch.equal, parts, tenths_split(y, seed)))


def test_a_class_that_can_t_be_split_is_named() -> None:
    with pytest.raises(DatasetError, match="class 1 has 2 graphs, too few"):
        tenths_split(torch.tensor([0, 0, 0, 1, 1]))


def test_the_checksum_sees_edges_and_their_labels() -> None:
    data = load_graphs("motifs:graphs=20")
    labelled = dataclasses.replace(
        data.graphs, edge_attr=torch.zeros(data.graphs.num_edges, 1, dtype=torch.int64)
    )
    assert dataclasses.replace(data, graphs=labelled).checksum != data.checksum
    assert np.all(data.graphs.sizes.numpy() > 0)
