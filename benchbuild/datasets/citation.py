"""Cora, CiteSeer and PubMed: citation graphs with the public Planetoid split."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from torch_geometric.data import download_url
from torch_geometric.datasets import Planetoid
from torch_geometric.io import read_planetoid_data

from benchbuild.datasets.download import ensure_files
from benchbuild.datasets.graph import Graph
from benchbuild.datasets.registry import DatasetSpec, SpecFactory, fixed
from benchbuild.datasets.safe_pickles import check_pickle

SPLIT = "Planetoid public split: 20 training nodes a class, 500 validation and 1,000 test nodes"
PICKLES = ("x", "tx", "allx", "y", "ty", "ally", "graph")
PARTS = (*PICKLES, "test.index")


def _files(folder: str) -> tuple[str, ...]:
    return tuple(f"Planetoid/{folder}/raw/ind.{folder.lower()}.{part}" for part in PARTS)


def _load(root: Path, *, folder: str, num_classes: int) -> Graph:
    name, raw = folder.lower(), root / "Planetoid" / folder / "raw"
    ensure_files(name, root, _files(folder), partial(_download, folder))
    for part in PICKLES:
        check_pickle(raw / f"ind.{name}.{part}")
    data = read_planetoid_data(str(raw), name)
    masks = (data.train_mask, data.val_mask, data.test_mask)
    return Graph.build(
        name, data.x, data.edge_index, data.y, masks, num_classes=num_classes, split=SPLIT
    )


def _download(folder: str, root: Path) -> None:
    """Fetch the raw files, and no more: torch-geometric's own class would unpickle them at once."""
    for file in _files(folder):
        path = root / file
        download_url(f"{Planetoid.url}/{path.name}", str(path.parent), log=False)


def _spec(folder: str, nodes: int, features: int, classes: int) -> SpecFactory:
    return fixed(
        DatasetSpec(
            name=folder.lower(),
            num_nodes=nodes,
            num_features=features,
            num_classes=classes,
            metric="accuracy",
            split=SPLIT,
            licence="MIT (kimiyoung/planetoid)",
            source="kimiyoung/planetoid, through torch_geometric.datasets.Planetoid",
            files=_files(folder),
            loader=partial(_load, folder=folder, num_classes=classes),
        )
    )


FACTORIES: dict[str, SpecFactory] = {
    "cora": _spec("Cora", 2708, 1433, 7),
    "citeseer": _spec("CiteSeer", 3327, 3703, 6),
    "pubmed": _spec("PubMed", 19717, 500, 3),
}
