"""ACM and DBLP: heterogeneous graphs made homogeneous, as GC-Bench does.

Nodes of all types are the nodes of one graph. The adjacency matrices of all edge types are summed;
features are padded with zeros to the widest type, and a type without features gets one-hot ones.
Only papers (ACM) or authors (DBLP) have a class: the others have the label -1 and are in no mask.
"""

from __future__ import annotations

from collections.abc import Sequence
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

ACM_FOLDER = "hetero/ACM_HeCo"
ACM_NAMES = ("p_feat.npz", "a_feat.npz", "pa.txt", "ps.txt", "labels.npy")
ACM_SPLITS = ("train_60.npy", "val_60.npy", "test_60.npy")
ACM_FILES = tuple(f"{ACM_FOLDER}/{name}" for name in (*ACM_NAMES, *ACM_SPLITS))
ACM_SPLIT = (
    "HeCo's split of the papers: 60 training papers a class, 1,000 validation and 1,000 test "
    "papers; authors and subjects have no class"
)
ACM_SOURCE = (
    "HeCo's data/acm (https://github.com/liun-online/HeCo): 4,019 papers, 7,167 authors and 60 "
    "subjects. Its 1,902 features are those of GC-Bench's ACM, its 11,246 nodes the nearest to "
    "GC-Bench's 10,942"
)

DBLP_FOLDER = "hetero/DBLP"
DBLP_NAMES = (
    "adjM.npz",
    "node_types.npy",
    "features_0.npz",
    "features_1.npz",
    "features_2.npy",
    "labels.npy",
    "train_val_test_idx.npz",
)
DBLP_FILES = tuple(f"{DBLP_FOLDER}/raw/{name}" for name in DBLP_NAMES)
DBLP_SPLIT = (
    "MAGNN's split of the authors: 400 training, 400 validation and 3,257 test authors; papers, "
    "terms and venues have no class"
)
DBLP_SOURCE = (
    "MAGNN's DBLP, through torch_geometric.datasets.DBLP: 4,057 authors, 14,328 papers, 7,723 "
    "terms and 20 venues, 26,128 nodes; GC-Bench states 37,791 for its DBLP"
)


def padded(blocks: Sequence[sparse.csr_matrix]) -> sparse.csr_matrix:
    """Stack the features of the node types, padded with zeros to the widest."""
    width = max(block.shape[1] for block in blocks)
    for block in blocks:
        block.resize(block.shape[0], width)
    return sparse.vstack(blocks).tocsr()


def labelled(classes: np.ndarray, nodes: int) -> Tensor:
    """Return a label for every node: the classes of the first ones, none for the others."""
    from benchbuild.datasets.graph import UNLABELLED

    y = torch.full((nodes,), UNLABELLED, dtype=torch.int64)
    y[: len(classes)] = torch.from_numpy(classes.astype(np.int64))
    return y


def both_ways(source: np.ndarray, target: np.ndarray) -> Tensor:
    """Return edges in both directions."""
    one = np.stack([source, target]).astype(np.int64)
    return torch.from_numpy(np.concatenate([one, one[::-1]], axis=1))


def _fetch_acm(_root: Path) -> None:
    """Refuse: no library downloads it.

    Raises:
        OSError: Always.
    """
    raise OSError("no library has it; copy data/acm of https://github.com/liun-online/HeCo")


def _load_acm(root: Path) -> Graph:
    from torch_geometric.utils import index_to_mask

    from benchbuild.datasets.graph import Graph
    from benchbuild.datasets.npz import sparse_features

    ensure_files("acm", root, ACM_FILES, _fetch_acm)
    folder = root / ACM_FOLDER
    papers, authors = (
        sparse.load_npz(folder / f"{name}_feat.npz").tocsr().astype(np.float32) for name in "pa"
    )
    written, about = (np.loadtxt(folder / f"p{to}.txt", dtype=np.int64, ndmin=2) for to in "as")
    subjects = int(about[:, 1].max()) + 1
    features = padded([papers, authors, sparse.identity(subjects, np.float32, format="csr")])
    first_author, first_subject = papers.shape[0], papers.shape[0] + authors.shape[0]
    edges = torch.cat(
        [
            both_ways(written[:, 0], written[:, 1] + first_author),
            both_ways(about[:, 0], about[:, 1] + first_subject),
        ],
        dim=1,
    )
    nodes = features.shape[0]
    train, valid, test = (
        index_to_mask(torch.from_numpy(np.load(folder / name).astype(np.int64)), nodes)
        for name in ACM_SPLITS
    )
    return Graph.build(
        "acm",
        sparse_features(features),
        edges,
        labelled(np.load(folder / "labels.npy"), nodes),
        (train, valid, test),
        num_classes=3,
        split=ACM_SPLIT,
    )


def _load_dblp(root: Path) -> Graph:
    from torch_geometric.datasets import DBLP
    from torch_geometric.utils import index_to_mask

    from benchbuild.datasets.graph import Graph
    from benchbuild.datasets.npz import sparse_features

    ensure_files("dblp", root, DBLP_FILES, lambda to: DBLP(str(to / DBLP_FOLDER)))
    folder = root / DBLP_FOLDER / "raw"
    types = np.load(folder / "node_types.npy")
    venues = int((types == 3).sum())
    blocks = [
        sparse.load_npz(folder / "features_0.npz").tocsr(),
        sparse.load_npz(folder / "features_1.npz").tocsr(),
        sparse.csr_matrix(np.load(folder / "features_2.npy")),
        sparse.identity(venues, np.float32, format="csr"),
    ]
    adjacency = sparse.load_npz(folder / "adjM.npz").tocoo()
    with np.load(folder / "train_val_test_idx.npz") as chosen:
        train, valid, test = (
            index_to_mask(torch.from_numpy(chosen[f"{part}_idx"].astype(np.int64)), len(types))
            for part in ("train", "val", "test")
        )
    return Graph.build(
        "dblp",
        sparse_features(padded([block.astype(np.float32) for block in blocks])),
        both_ways(adjacency.row, adjacency.col),
        labelled(np.load(folder / "labels.npy"), len(types)),
        (train, valid, test),
        num_classes=4,
        split=DBLP_SPLIT,
    )


FACTORIES: dict[str, SpecFactory] = {
    "acm": fixed(
        DatasetSpec(
            name="acm",
            **GraphSize(11_246, 34_852, 1_902, 1_229_306, 3, trained=180, labelled=2_180).stated,
            metric="accuracy",
            split=ACM_SPLIT,
            licence="not stated",
            source=ACM_SOURCE,
            files=ACM_FILES,
            loader=_load_acm,
        )
    ),
    "dblp": fixed(
        DatasetSpec(
            name="dblp",
            **GraphSize(26_128, 239_566, 4_231, 530_010, 4, trained=400, labelled=4_057).stated,
            metric="accuracy",
            split=DBLP_SPLIT,
            licence="not stated",
            source=DBLP_SOURCE,
            files=DBLP_FILES,
            loader=_load_dblp,
        )
    ),
}
