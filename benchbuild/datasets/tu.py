"""NCI1, DD, PROTEINS and MUTAG: molecules and proteins of the TUDataset collection.

The raw text is read directly: torch-geometric's own class would write a pickle next to it, and
reading the text works on a read-only data root too. The features are torch-geometric's: attributes
of nodes, if there are some, and after them the one-hot labels of nodes.

Three of the sets have a split that KIDD drew and published. Without its file another one is drawn,
and the loaded set says so; ``split=kidd`` insists on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.choices import choose
from benchbuild.datasets.download import ensure_files
from benchbuild.datasets.selections import read_selections
from benchbuild.datasets.size import DEGREES, SPLIT_SEED, TENTHS, tenths
from benchbuild.datasets.spec import DatasetSpec, SpecFactory
from benchbuild.datasets.tables import read_rows
from benchbuild.errors import DatasetError
from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np
    import torch
    from torch import Tensor

    from benchbuild.datasets.graphset import GraphSet
else:
    np = LazyModule("numpy")
    torch = LazyModule("torch", extra="build")

KIDD = "https://github.com/pricexu/KIDD"
SEEDED = f"{TENTHS}; drawn with seed {SPLIT_SEED}"


@dataclass(frozen=True)
class TUSet:
    """What is known of a set without its files.

    Attributes:
        name: What it is called here.
        folder: What it is called there.
        nodes: Nodes of all graphs.
        edges: Directed edges of all graphs.
        members: Graphs of each class.
        labels: Labels that nodes can have.
        attributes: Attributes of a node.
        bonds: Whether edges have labels.
        kidd: Training, validation and test graphs of KIDD's split; None if KIDD has none.
    """

    name: str
    folder: str
    nodes: int
    edges: int
    members: tuple[int, ...]
    labels: int
    attributes: int = 0
    bonds: bool = False
    kidd: tuple[int, int, int] | None = None

    @property
    def graphs(self) -> int:
        """Number of graphs."""
        return sum(self.members)

    @property
    def files(self) -> tuple[str, ...]:
        """Its files, relative to the data root."""
        optional = {"node_attributes": self.attributes, "edge_labels": self.bonds}
        tables = ["A", "graph_indicator", "graph_labels", "node_labels"]
        tables += [table for table, there in optional.items() if there]
        return tuple(f"TUDataset/{self.folder}/raw/{self.folder}_{table}.txt" for table in tables)

    @property
    def kidd_file(self) -> str:
        """The file of KIDD's split, relative to the data root."""
        return f"kidd_splits/OriginalSplit/{self.folder}_split.txt"

    @property
    def kidd_split(self) -> str:
        """KIDD's split in words."""
        train, valid, test = self.kidd or (0, 0, 0)
        return (
            f"KIDD's split: {train:,} training, {valid:,} validation and {test:,} test graphs, "
            "drawn at random"
        )

    def widths(self) -> dict[str, int]:
        """Return how many features a node has, by what they are; the first is the usual one."""
        widths = {"own": self.attributes + self.labels}
        if self.attributes:
            widths["labels"] = self.labels
        return {**widths, "degree": DEGREES, "constant": 1}


def _load(root: Path, *, known: TUSet, name: str, features: str, split: str | None) -> GraphSet:
    from benchbuild.datasets.graphset import GraphBatch, GraphSet
    from benchbuild.datasets.splits import tenths_split
    from benchbuild.datasets.union import tidied

    ensure_files(known.name, root, known.files, partial(_download, known.folder))
    if split == "kidd":
        ensure_files(name, root, (known.kidd_file,), partial(_no_split, known.name))
    raw = root / "TUDataset" / known.folder / "raw"
    edges = _numbers(raw, known, "A", known.edges, 2) - 1
    fields = _numbers(raw, known, "edge_labels", known.edges) if known.bonds else None
    edge_index, edge_attr = tidied(name, edges.T.contiguous(), fields, known.nodes)
    labels = _numbers(raw, known, "graph_labels", known.graphs)
    y = torch.unique(labels, return_inverse=True)[1].view(-1)
    if split == "seeded" or not (root / known.kidd_file).exists():
        parts, words = tenths_split(y), SEEDED
    else:
        parts, words = _read_split(root / known.kidd_file, known), known.kidd_split
    if split is None and words == SEEDED:
        words = f"KIDD's split is not at {known.kidd_file}: {SEEDED}"
    return GraphSet(
        name,
        GraphBatch(
            _features(raw, known, features, edge_index),
            edge_index,
            _node_ptr(raw, known),
            y,
            edge_attr,
        ),
        *parts,
        num_classes=len(known.members),
        metric="accuracy",
        split=words,
        selections=read_selections(root, known.folder, len(parts[0]), len(known.members))
        if words == known.kidd_split
        else {},
    )


def _numbers(raw: Path, known: TUSet, table: str, rows: int, columns: int = 1) -> Tensor:
    path = raw / f"{known.folder}_{table}.txt"
    return torch.from_numpy(read_rows(path, np.int64, rows, columns))


def _node_ptr(raw: Path, known: TUSet) -> Tensor:
    from torch_geometric.utils import cumsum

    graph_of = _numbers(raw, known, "graph_indicator", known.nodes).view(-1) - 1
    if bool((graph_of.diff() < 0).any()) or int(graph_of[0]) < 0:
        raise DatasetError(
            f"{raw / known.folder}_graph_indicator.txt is damaged: graphs are not in their order"
        )
    node_ptr: Tensor = cumsum(torch.bincount(graph_of, minlength=known.graphs))
    return node_ptr


def _features(raw: Path, known: TUSet, features: str, edge_index: Tensor) -> Tensor:
    from benchbuild.datasets.union import FEATURES, one_hot

    if features in FEATURES:
        return FEATURES[features](edge_index, known.nodes)
    labels = _numbers(raw, known, "node_labels", known.nodes)
    labels = labels - labels.min()
    if int(labels.max()) >= known.labels:
        raise DatasetError(
            f"{raw / known.folder}_node_labels.txt is damaged: it has more than {known.labels} "
            "labels"
        )
    x = one_hot(labels, [known.labels])
    if not known.attributes or features == "labels":
        return x
    path = raw / f"{known.folder}_node_attributes.txt"
    attributes = read_rows(path, np.float32, known.nodes, known.attributes)
    return torch.cat([torch.from_numpy(attributes), x], dim=1)


def _read_split(path: Path, known: TUSet) -> tuple[Tensor, Tensor, Tensor]:
    """Read the three lists of KIDD's file, and see that each graph is in one of them.

    Raises:
        DatasetError: If that is not so.
    """
    try:
        train, valid, test = (
            torch.tensor([int(number) for number in part.split()])
            for part in path.read_text(encoding="utf-8").strip().split("\t")
        )
    except ValueError as error:
        raise DatasetError(f"{path} is damaged: {error}") from error
    found = torch.cat([train, valid, test]).sort().values
    if not torch.equal(found, torch.arange(known.graphs)):
        raise DatasetError(
            f"{path} is damaged: it does not name each of the {known.graphs:,} graphs once"
        )
    return train, valid, test


def _download(folder: str, root: Path) -> None:
    """Fetch the raw files, and no more: torch-geometric's own class would pickle them at once."""
    from torch_geometric.data import download_url, extract_zip
    from torch_geometric.datasets import TUDataset

    into = root / "TUDataset" / folder
    archive = download_url(f"{TUDataset.url}/{folder}.zip", str(into), log=False)
    extract_zip(archive, str(into), log=False)
    (into / folder).rename(into / "raw")


def _no_split(name: str, _root: Path) -> None:
    """Refuse: no library downloads it.

    Raises:
        OSError: Always.
    """
    raise OSError(
        f"no library has it; copy splits/OriginalSplit of {KIDD}, or draw one: {name}:split=seeded"
    )


def _spec(known: TUSet, parameters: Mapping[str, str]) -> DatasetSpec:
    widths = known.widths()
    name, chosen = choose(
        known.name,
        parameters,
        {"features": tuple(widths), "split": ("kidd", "seeded") if known.kidd else ("seeded",)},
        {"features": "own"} if known.kidd else {"features": "own", "split": "seeded"},
    )
    features, split = chosen["features"], chosen.get("split")
    seeded = split == "seeded" or known.kidd is None
    trained = sum(tenths(members)[0] for members in known.members)
    return DatasetSpec(
        name=name,
        num_nodes=known.nodes,
        num_edges=known.edges,
        num_features=widths[features],
        num_classes=len(known.members),
        trained=known.kidd[0] if known.kidd and not seeded else trained,
        labelled=known.graphs,
        num_items=known.graphs,
        sort="graphs",
        metric="accuracy",
        split=SEEDED if seeded else known.kidd_split,
        licence="not stated",
        source=f"TUDataset {known.folder}, through torch_geometric.datasets.TUDataset",
        files=known.files if seeded else (*known.files, known.kidd_file),
        loader=partial(_load, known=known, name=name, features=features, split=split),
    )


SETS = (
    TUSet("nci1", "NCI1", 122_747, 265_506, (2_053, 2_057), 37, kidd=(3_288, 411, 411)),
    TUSet("dd", "DD", 334_925, 1_686_092, (691, 487), 89, kidd=(942, 117, 119)),
    TUSet(
        "proteins-tu",
        "PROTEINS",
        43_471,
        162_088,
        (663, 450),
        3,
        attributes=1,
        kidd=(890, 111, 112),
    ),
    TUSet("mutag", "MUTAG", 3_371, 7_442, (63, 125), 7, bonds=True),
)

FACTORIES: dict[str, SpecFactory] = {known.name: partial(_spec, known) for known in SETS}
