"""The graphs of shchur/gnn-benchmark, with a seeded 20/30-per-class split.

CS and Physics say who wrote with whom, Photo and Computers what was bought together. The latter
are used without what lies outside their largest component, as the published sizes show.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import torch
from torch_geometric.datasets import Amazon, Coauthor

from benchbuild.datasets.download import ensure_files
from benchbuild.datasets.graph import Graph
from benchbuild.datasets.npz import read_npz, sparse_features
from benchbuild.datasets.registry import DatasetSpec, SpecFactory, fixed
from benchbuild.datasets.splits import SPLIT_SEED, largest_component, per_class_split

Family = type[Amazon] | type[Coauthor]

SPLIT = f"20 training and 30 validation nodes a class, the rest test; drawn with seed {SPLIT_SEED}"
_SPLITS: dict[Family, str] = {Coauthor: SPLIT, Amazon: f"largest connected component; {SPLIT}"}


def _load(root: Path, *, family: Family, folder: str, file: str, num_classes: int) -> Graph:
    name = folder.lower()
    ensure_files(name, root, (file,), lambda to: family(str(to / family.__name__), folder))
    raw = read_npz(root / file)
    if family is Amazon:
        raw = raw.restrict(largest_component(raw.adjacency))
        x = torch.from_numpy(raw.attributes.toarray())
    else:
        x = sparse_features(raw.attributes)
    y = torch.from_numpy(raw.labels)
    masks = per_class_split(y, train=20, valid=30)
    return Graph.build(
        name, x, raw.edge_index, y, masks, num_classes=num_classes, split=_SPLITS[family]
    )


def _spec(family: Family, folder: str, stem: str, sizes: tuple[int, int, int]) -> SpecFactory:
    nodes, features, classes = sizes
    file = f"{family.__name__}/{folder}/raw/{stem}.npz"
    return fixed(
        DatasetSpec(
            name=folder.lower(),
            num_nodes=nodes,
            num_features=features,
            num_classes=classes,
            metric="accuracy",
            split=_SPLITS[family],
            licence="MIT (shchur/gnn-benchmark)",
            source=f"shchur/gnn-benchmark, through torch_geometric.datasets.{family.__name__}",
            files=(file,),
            loader=partial(_load, family=family, folder=folder, file=file, num_classes=classes),
        )
    )


FACTORIES: dict[str, SpecFactory] = {
    "cs": _spec(Coauthor, "CS", "ms_academic_cs", (18333, 6805, 15)),
    "physics": _spec(Coauthor, "Physics", "ms_academic_phy", (34493, 8415, 5)),
    "photo": _spec(Amazon, "Photo", "amazon_electronics_photo", (7487, 745, 8)),
    "computers": _spec(Amazon, "Computers", "amazon_electronics_computers", (13381, 767, 10)),
}
