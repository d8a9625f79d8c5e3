"""Amazon Photo and Computers: goods bought together; largest component, 20/30-per-class split."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import torch
from torch_geometric.datasets import Amazon

from benchbuild.datasets.download import ensure_files
from benchbuild.datasets.graph import Graph
from benchbuild.datasets.npz import read_npz
from benchbuild.datasets.registry import DatasetSpec, SpecFactory, fixed
from benchbuild.datasets.splits import SPLIT_SEED, largest_component, per_class_split

SPLIT = (
    "largest connected component; 20 training and 30 validation nodes a class, the rest test; "
    f"drawn with seed {SPLIT_SEED}"
)


def _load(root: Path, *, folder: str, file: str, num_classes: int) -> Graph:
    name = folder.lower()
    ensure_files(name, root, (file,), lambda: Amazon(str(root / "Amazon"), folder))
    raw = read_npz(root / file)
    used = raw.restrict(largest_component(raw.adjacency))
    y = torch.from_numpy(used.labels)
    return Graph.build(
        name,
        torch.from_numpy(used.attributes.toarray()),
        used.edge_index,
        y,
        per_class_split(y, train=20, valid=30),
        num_classes=num_classes,
        split=SPLIT,
    )


def _spec(folder: str, nodes: int, features: int, classes: int) -> SpecFactory:
    file = f"Amazon/{folder}/raw/amazon_electronics_{folder.lower()}.npz"
    return fixed(
        DatasetSpec(
            name=folder.lower(),
            num_nodes=nodes,
            num_features=features,
            num_classes=classes,
            metric="accuracy",
            split=SPLIT,
            licence="MIT (shchur/gnn-benchmark)",
            source="shchur/gnn-benchmark, through torch_geometric.datasets.Amazon",
            files=(file,),
            loader=partial(_load, folder=folder, file=file, num_classes=classes),
        )
    )


FACTORIES: dict[str, SpecFactory] = {
    "photo": _spec("Photo", 7487, 745, 8),
    "computers": _spec("Computers", 13381, 767, 10),
}
