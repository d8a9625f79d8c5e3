"""ogbg-molbace, -molbbbp and -molhiv: molecules of the Open Graph Benchmark, official splits.

Atoms are nodes with nine fields of whole numbers, bonds are edges with three. Those of the bonds
are the labels of edges. Those of the atoms become features in one of two ways: ``raw-float``, the
numbers themselves, as the papers on condensation take them; ``atom-encoder``, every field one-hot,
side by side, so that a linear layer without bias is ogb's AtomEncoder, a sum of embeddings.

The raw tables are read directly, as in `benchbuild.datasets.ogb`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.choices import choose
from benchbuild.datasets.download import ensure_files
from benchbuild.datasets.ogb import fetch
from benchbuild.datasets.selections import read_selections
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

TABLES = ("edge", "edge-feat", "graph-label", "node-feat", "num-edge-list", "num-node-list")
PARTS = ("train", "valid", "test")
SPLIT = "official split by scaffold"
ATOM_FIELDS, BOND_FIELDS = 9, 3
WIDTHS = {"raw-float": ATOM_FIELDS, "atom-encoder": 174}
"""How many features an atom has, by what they are; the first is the usual one."""


@dataclass(frozen=True)
class MoleculeSet:
    """What is known of a set without its files.

    Attributes:
        name: What it is called here; ogb puts ``ogbg-`` in front.
        atoms: Atoms of all molecules.
        bonds: Bonds of all molecules.
        parts: Training, validation and test molecules.
        licence: Licence as ogb states it.
    """

    name: str
    atoms: int
    bonds: int
    parts: tuple[int, int, int]
    licence: str = "not stated"

    @property
    def folder(self) -> str:
        """Its folder, relative to the data root."""
        return f"ogb/ogbg_{self.name}"

    @property
    def files(self) -> tuple[str, ...]:
        """Its files, relative to the data root."""
        raw = (f"{self.folder}/raw/{table}.csv.gz" for table in TABLES)
        splits = (f"{self.folder}/split/scaffold/{part}.csv.gz" for part in PARTS)
        return (*raw, *splits)


def atom_features(fields: Tensor, features: str) -> Tensor:
    """Return the features of atoms, float32.

    Args:
        fields: (atoms, 9) int64 as ogb has them.
        features: A key of `WIDTHS`.

    Raises:
        DatasetError: If a field has a value that ogb does not know.
    """
    if features == "raw-float":
        return fields.float()
    from ogb.utils.features import get_atom_feature_dims

    from benchbuild.datasets.union import one_hot

    widths = get_atom_feature_dims()
    wrong = (fields < 0) | (fields >= torch.tensor(widths))
    if bool(wrong.any()):
        atom, field = wrong.nonzero()[0].tolist()
        raise DatasetError(
            f"field {field} of atom {atom} is {int(fields[atom, field])}; it goes from 0 to "
            f"{widths[field] - 1}"
        )
    return one_hot(fields, widths)


def _load(root: Path, *, known: MoleculeSet, name: str, features: str) -> GraphSet:
    from torch_geometric.utils import cumsum

    from benchbuild.datasets.graphset import GraphBatch, GraphSet
    from benchbuild.datasets.union import tidied

    archive = f"graphproppred/csv_mol_download/{known.name.removeprefix('mol')}"
    ensure_files(known.name, root, known.files, partial(fetch, archive, Path(known.folder).name))
    folder, graphs = root / known.folder, sum(known.parts)
    node_ptr = cumsum(_numbers(folder / "raw" / "num-node-list.csv.gz", graphs).view(-1))
    bonds = _numbers(folder / "raw" / "num-edge-list.csv.gz", graphs).view(-1)
    edges = _numbers(folder / "raw" / "edge.csv.gz", known.bonds, 2)
    _check_sum(folder / "raw" / "num-node-list.csv.gz", int(node_ptr[-1]), known.atoms)
    _check_sum(folder / "raw" / "num-edge-list.csv.gz", int(bonds.sum()), known.bonds)
    there = (edges + node_ptr[:-1].repeat_interleave(bonds)[:, None]).T
    fields = _numbers(folder / "raw" / "edge-feat.csv.gz", known.bonds, BOND_FIELDS)
    edge_index, edge_attr = tidied(
        name, torch.cat([there, there.flip(0)], dim=1), fields.repeat(2, 1), known.atoms
    )
    atoms = _numbers(folder / "raw" / "node-feat.csv.gz", known.atoms, ATOM_FIELDS)
    y = _numbers(folder / "raw" / "graph-label.csv.gz", graphs).view(-1)
    train, valid, test = (
        _numbers(folder / "split" / "scaffold" / f"{part}.csv.gz", count).view(-1)
        for part, count in zip(PARTS, known.parts, strict=True)
    )
    return GraphSet(
        name,
        GraphBatch(atom_features(atoms, features), edge_index, node_ptr, y, edge_attr),
        train,
        valid,
        test,
        num_classes=2,
        metric="rocauc",
        split=SPLIT,
        selections=read_selections(root, f"ogbg-{known.name}", len(train), 2),
    )


def _numbers(path: Path, rows: int, columns: int = 1) -> Tensor:
    return torch.from_numpy(read_rows(path, np.int64, rows, columns))


def _check_sum(path: Path, found: int, stated: int) -> None:
    if found != stated:
        raise DatasetError(f"{path} is damaged: it sums to {found:,}, not to {stated:,}")


def _spec(known: MoleculeSet, parameters: Mapping[str, str]) -> DatasetSpec:
    name, chosen = choose(
        known.name, parameters, {"features": tuple(WIDTHS)}, {"features": "raw-float"}
    )
    return DatasetSpec(
        name=name,
        num_nodes=known.atoms,
        num_edges=2 * known.bonds,
        num_features=WIDTHS[chosen["features"]],
        num_classes=2,
        trained=known.parts[0],
        labelled=sum(known.parts),
        num_items=sum(known.parts),
        sort="graphs",
        metric="rocauc",
        split=SPLIT,
        licence=known.licence,
        source=f"Open Graph Benchmark, ogbg-{known.name}",
        files=known.files,
        loader=partial(_load, known=known, name=name, features=chosen["features"]),
    )


SETS = (
    MoleculeSet("molbace", 51_577, 55_768, (1_210, 151, 152)),
    MoleculeSet("molbbbp", 49_068, 52_921, (1_631, 204, 204)),
    MoleculeSet("molhiv", 1_049_163, 1_129_688, (32_901, 4_113, 4_113), licence="MIT"),
)

FACTORIES: dict[str, SpecFactory] = {known.name: partial(_spec, known) for known in SETS}
