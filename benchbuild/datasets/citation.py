"""Cora, CiteSeer and PubMed: citation graphs with the public Planetoid split."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.download import ensure_files
from benchbuild.datasets.safe_pickles import check_pickle
from benchbuild.datasets.size import GraphSize
from benchbuild.datasets.spec import DatasetSpec, SpecFactory, fixed
from benchbuild.hyperparameters import HyperParameters

if TYPE_CHECKING:
    from benchbuild.datasets.graph import Graph

SPLIT = "Planetoid public split: 20 training nodes a class, 500 validation and 1,000 test nodes"
PICKLES = ("x", "tx", "allx", "y", "ty", "ally", "graph")
PARTS = (*PICKLES, "test.index")


def _files(folder: str) -> tuple[str, ...]:
    return tuple(f"Planetoid/{folder}/raw/ind.{folder.lower()}.{part}" for part in PARTS)


def _load(root: Path, *, folder: str, num_classes: int) -> Graph:
    from torch_geometric.io import read_planetoid_data

    from benchbuild.datasets.graph import Graph

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
    from torch_geometric.data import download_url
    from torch_geometric.datasets import Planetoid

    for file in _files(folder):
        path = root / file
        download_url(f"{Planetoid.url}/{path.name}", str(path.parent), log=False)


def _spec(folder: str, size: GraphSize, hp: HyperParameters) -> SpecFactory:
    return fixed(
        DatasetSpec(
            name=folder.lower(),
            **size.stated,
            metric="accuracy",
            split=SPLIT,
            licence="MIT (kimiyoung/planetoid)",
            source="kimiyoung/planetoid, through torch_geometric.datasets.Planetoid",
            files=_files(folder),
            loader=partial(_load, folder=folder, num_classes=size.classes),
            hyperparameters=hp,
            scaling="rows",
        )
    )


FACTORIES: dict[str, SpecFactory] = {
    "cora": _spec(
        "Cora",
        GraphSize(2_708, 10_556, 1_433, 49_216, 7, trained=140, labelled=1_640),
        HyperParameters(0, 1, 256, 0.7, "sgd", 0.1, 5e-4, 400),
    ),
    "citeseer": _spec(
        "CiteSeer",
        GraphSize(3_327, 9_104, 3_703, 105_165, 6, trained=120, labelled=1_620),
        HyperParameters(0, 1, 256, 0.7, "sgd", 0.2, 5e-4, 400),
    ),
    "pubmed": _spec(
        "PubMed",
        GraphSize(19_717, 88_648, 500, 988_031, 3, trained=60, labelled=1_560),
        HyperParameters(0, 0, 128, 0.3, "sgd", 0.2, 5e-4, 500),
    ),
}
