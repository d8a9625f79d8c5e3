"""Flickr and Reddit: training, validation and test nodes are graphs that don't see each other.

The raw files are read directly, so that a read-only data root works and nothing is unpickled;
torch-geometric downloads them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.download import ensure_files
from benchbuild.datasets.size import GraphSize
from benchbuild.datasets.spec import DatasetSpec, SpecFactory, fixed
from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np
    import torch
    from scipy import sparse
    from torch import Tensor

    from benchbuild.datasets.graph import Graph
else:
    np = LazyModule("numpy")
    torch = LazyModule("torch", extra="build")
    sparse = LazyModule("scipy.sparse", extra="build")

FLICKR_FILES = tuple(
    f"Flickr/raw/{name}" for name in ("adj_full.npz", "feats.npy", "class_map.json", "role.json")
)
FLICKR_SPLIT = "GraphSAINT's split: half of the images training, a quarter each validation and test"
REDDIT_FILES = tuple(f"Reddit/raw/{name}" for name in ("reddit_data.npz", "reddit_graph.npz"))
REDDIT_SPLIT = "GraphSAGE's split by time: posts of the first 20 days training, the rest held out"


def _edge_index(adjacency: sparse.csr_matrix) -> Tensor:
    edges = adjacency.tocoo()
    return torch.from_numpy(np.stack([edges.row, edges.col]).astype(np.int64))


def _load_flickr(root: Path) -> Graph:
    from torch_geometric.datasets import Flickr
    from torch_geometric.utils import index_to_mask

    from benchbuild.datasets.graph import UNLABELLED, Graph

    ensure_files("flickr", root, FLICKR_FILES, lambda to: Flickr(str(to / "Flickr")))
    adjacency_path, features_path, classes_path, roles_path = (root / f for f in FLICKR_FILES)
    with np.load(adjacency_path, allow_pickle=False) as file:
        parts = (file["data"], file["indices"], file["indptr"])
        adjacency = sparse.csr_matrix(parts, shape=tuple(file["shape"]))
    x = torch.from_numpy(np.load(features_path)).float()
    y = torch.full((x.shape[0],), UNLABELLED, dtype=torch.int64)
    for node, label in json.loads(classes_path.read_text()).items():
        y[int(node)] = label
    roles = json.loads(roles_path.read_text())
    train, valid, test = (
        index_to_mask(torch.tensor(roles[part]), x.shape[0]) for part in ("tr", "va", "te")
    )
    return Graph.build(
        "flickr",
        x,
        _edge_index(adjacency),
        y,
        (train, valid, test),
        num_classes=7,
        split=FLICKR_SPLIT,
        inductive=True,
    )


def _load_reddit(root: Path) -> Graph:
    from torch_geometric.datasets import Reddit

    from benchbuild.datasets.graph import Graph

    ensure_files("reddit", root, REDDIT_FILES, lambda to: Reddit(str(to / "Reddit")))
    data_path, graph_path = (root / file for file in REDDIT_FILES)
    with np.load(data_path, allow_pickle=False) as file:
        x, y, role = (torch.from_numpy(file[name]) for name in ("feature", "label", "node_types"))
    return Graph.build(
        "reddit",
        x,
        _edge_index(sparse.load_npz(graph_path)),
        y.long(),
        (role == 1, role == 2, role == 3),
        num_classes=41,
        split=REDDIT_SPLIT,
        inductive=True,
    )


FACTORIES: dict[str, SpecFactory] = {
    "flickr": fixed(
        DatasetSpec(
            name="flickr",
            **GraphSize(
                89_250, 899_756, 500, 44_625_000, 7, trained=44_625, labelled=89_250
            ).stated,
            metric="accuracy",
            split=FLICKR_SPLIT,
            licence="not stated",
            source="GraphSAINT, through torch_geometric.datasets.Flickr",
            files=FLICKR_FILES,
            loader=_load_flickr,
            scaling="columns",
        )
    ),
    "reddit": fixed(
        DatasetSpec(
            name="reddit",
            **GraphSize(
                232_965, 114_615_892, 602, 140_244_930, 41, trained=153_431, labelled=232_965
            ).stated,
            metric="accuracy",
            split=REDDIT_SPLIT,
            licence="not stated",
            source="GraphSAGE, through torch_geometric.datasets.Reddit",
            files=REDDIT_FILES,
            loader=_load_reddit,
            scaling="columns",
        )
    ),
}
