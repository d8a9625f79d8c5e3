"""The graphs of shchur/gnn-benchmark, with a seeded 20/30-per-class split.

CS and Physics say who wrote with whom, Photo and Computers what was bought together. The latter
are used without what lies outside their largest component, as the published sizes show.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from benchbuild.datasets.download import ensure_files
from benchbuild.datasets.size import SPLIT_SEED, GraphSize
from benchbuild.datasets.spec import DatasetSpec, SpecFactory, fixed
from benchbuild.hyperparameters import HyperParameters

if TYPE_CHECKING:
    from benchbuild.datasets.graph import Graph

Family = Literal["Amazon", "Coauthor"]
"""The class of torch-geometric that downloads a graph, and the folder that it is in."""

SPLIT = f"20 training and 30 validation nodes a class, the rest test; drawn with seed {SPLIT_SEED}"
_SPLITS: dict[Family, str] = {
    "Coauthor": SPLIT,
    "Amazon": f"largest connected component; {SPLIT}",
}


def _load(root: Path, *, family: Family, folder: str, file: str, num_classes: int) -> Graph:
    import torch
    import torch_geometric.datasets as pyg

    from benchbuild.datasets.graph import Graph
    from benchbuild.datasets.npz import read_npz, sparse_features
    from benchbuild.datasets.splits import largest_component, per_class_split

    name = folder.lower()
    ensure_files(name, root, (file,), lambda to: getattr(pyg, family)(str(to / family), folder))
    raw = read_npz(root / file)
    if family == "Amazon":
        raw = raw.restrict(largest_component(raw.adjacency))
        x = torch.from_numpy(raw.attributes.toarray())
    else:
        x = sparse_features(raw.attributes)
    y = torch.from_numpy(raw.labels)
    masks = per_class_split(y, train=20, valid=30)
    return Graph.build(
        name, x, raw.edge_index, y, masks, num_classes=num_classes, split=_SPLITS[family]
    )


def _spec(
    family: Family, folder: str, stem: str, size: GraphSize, hp: HyperParameters
) -> SpecFactory:
    file = f"{family}/{folder}/raw/{stem}.npz"
    return fixed(
        DatasetSpec(
            name=folder.lower(),
            **size.stated,
            metric="accuracy",
            split=_SPLITS[family],
            licence="MIT (shchur/gnn-benchmark)",
            source=f"shchur/gnn-benchmark, through torch_geometric.datasets.{family}",
            files=(file,),
            loader=partial(
                _load, family=family, folder=folder, file=file, num_classes=size.classes
            ),
            hyperparameters=hp,
        )
    )


FACTORIES: dict[str, SpecFactory] = {
    "cs": _spec(
        "Coauthor",
        "CS",
        "ms_academic_cs",
        GraphSize(18_333, 163_788, 6_805, 1_092_079, 15, trained=300, labelled=18_333),
        HyperParameters(1, 0, 128, 0.6, "sgd", 0.5, 5e-4, 400),
    ),
    "physics": _spec(
        "Coauthor",
        "Physics",
        "ms_academic_phy",
        GraphSize(34_493, 495_924, 8_415, 1_137_311, 5, trained=100, labelled=34_493),
        HyperParameters(1, 0, 256, 0.4, "sgd", 0.01, 0.0, 200),
    ),
    "photo": _spec(
        "Amazon",
        "Photo",
        "amazon_electronics_photo",
        GraphSize(7_487, 238_086, 745, 1_950_178, 8, trained=160, labelled=7_487),
        HyperParameters(0, 0, 128, 0.7, "adam", 0.0002, 5e-4, 500),
    ),
    "computers": _spec(
        "Amazon",
        "Computers",
        "amazon_electronics_computers",
        GraphSize(13_381, 491_556, 767, 3_607_444, 10, trained=200, labelled=13_381),
        HyperParameters(1, 1, 64, 0.1, "adam", 0.005, 5e-4, 500),
    ),
}
