"""Coauthor CS and Physics: who wrote with whom; a seeded 20/30-per-class split."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import torch
from torch_geometric.datasets import Coauthor

from benchbuild.datasets.download import ensure_files
from benchbuild.datasets.graph import Graph
from benchbuild.datasets.npz import read_npz, sparse_features
from benchbuild.datasets.registry import DatasetSpec, SpecFactory, fixed
from benchbuild.datasets.splits import SPLIT_SEED, per_class_split

SPLIT = f"20 training and 30 validation nodes a class, the rest test; drawn with seed {SPLIT_SEED}"


def _load(root: Path, *, folder: str, file: str, num_classes: int) -> Graph:
    name = folder.lower()
    ensure_files(name, root, (file,), lambda: Coauthor(str(root / "Coauthor"), folder))
    raw = read_npz(root / file)
    y = torch.from_numpy(raw.labels)
    return Graph.build(
        name,
        sparse_features(raw.attributes),
        raw.edge_index,
        y,
        per_class_split(y, train=20, valid=30),
        num_classes=num_classes,
        split=SPLIT,
    )


def _spec(folder: str, stem: str, nodes: int, features: int, classes: int) -> SpecFactory:
    file = f"Coauthor/{folder}/raw/{stem}.npz"
    return fixed(
        DatasetSpec(
            name=folder.lower(),
            num_nodes=nodes,
            num_features=features,
            num_classes=classes,
            metric="accuracy",
            split=SPLIT,
            licence="MIT (shchur/gnn-benchmark)",
            source="shchur/gnn-benchmark, through torch_geometric.datasets.Coauthor",
            files=(file,),
            loader=partial(_load, folder=folder, file=file, num_classes=classes),
        )
    )


FACTORIES: dict[str, SpecFactory] = {
    "cs": _spec("CS", "ms_academic_cs", 18333, 6805, 15),
    "physics": _spec("Physics", "ms_academic_phy", 34493, 8415, 5),
}
