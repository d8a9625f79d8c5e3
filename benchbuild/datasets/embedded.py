"""Datasets that need no files: Zachary's karate club and a contextual stochastic block model."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from benchbuild.datasets.generated import GeneratedModel
from benchbuild.datasets.size import SPLIT_SEED, GraphSize
from benchbuild.datasets.spec import DatasetSpec, SpecFactory, fixed
from benchbuild.hyperparameters import HyperParameters
from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np
    import torch

    from benchbuild.datasets.graph import Graph
else:
    np = LazyModule("numpy")
    torch = LazyModule("torch", extra="build")

KARATE_SPLIT = (
    "one training node a class (torch-geometric's), one validation node a class drawn with seed "
    f"{SPLIT_SEED}, the rest test"
)


def _load_karate(_root: Path) -> Graph:
    from torch_geometric.datasets import KarateClub

    from benchbuild.datasets.graph import Graph
    from benchbuild.datasets.splits import per_class_split

    data = KarateClub()[0]
    rest = ~data.train_mask
    valid_mask = torch.zeros_like(rest)
    drawn = per_class_split(data.y[rest], train=1, valid=0)[0]
    valid_mask[rest.nonzero().flatten()[drawn]] = True
    masks = (data.train_mask, valid_mask, rest & ~valid_mask)
    return Graph.build(
        "karate", data.x, data.edge_index, data.y, masks, num_classes=4, split=KARATE_SPLIT
    )


_MOST_NODES, _MOST_ENTRIES = 10_000_000, 1_000_000_000


@dataclass(frozen=True)
class BlockModel(GeneratedModel):
    """A contextual stochastic block model: who is in which block decides edges and features.

    Attributes:
        nodes: Number of nodes, shared out evenly among the classes.
        classes: Number of blocks.
        features: Number of features.
        degree: Mean degree.
        homophily: Share of the drawn edges that stay within their block.
        signal: Distance of the block centres from the origin; the noise has unit variance per
            feature.
        seed: Seed of everything that is drawn.
    """

    family: ClassVar[str] = "csbm"
    nodes: int = 500
    classes: int = 4
    features: int = 32
    degree: float = 8.0
    homophily: float = 0.7
    signal: float = 2.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Check that there is something to learn and to test on."""
        self._check("classes", self.classes >= 2, "at least 2")
        self._check("nodes", self.nodes >= 5 * self.classes, "at least 5 a class")
        self._check("nodes", self.nodes <= _MOST_NODES, f"at most {_MOST_NODES:,}")
        self._check("features", self.features >= 1, "at least 1")
        entries = f"at most {_MOST_ENTRIES:,} divided by nodes={self.nodes}"
        self._check("features", self.features * self.nodes <= _MOST_ENTRIES, entries)
        self._check("degree", 0.0 < self.degree < self.nodes, "above 0 and below nodes")
        self._check("degree", self.degree * self.nodes <= _MOST_ENTRIES, entries)
        self._check("homophily", 0.0 <= self.homophily <= 1.0, "in [0, 1]")
        self._check("signal", 0.0 <= self.signal < math.inf, "a finite number from 0")
        self._check("seed", 0 <= self.seed < 2**32, "in [0, 2**32)")

    @property
    def per_class(self) -> tuple[int, int]:
        """Training and validation nodes a class: 20 and 30, or a fifth each of a small class."""
        smallest = self.nodes // self.classes
        return min(20, smallest // 5), min(30, smallest // 5)

    @property
    def split(self) -> str:
        """How the nodes are split, in words."""
        train, valid = self.per_class
        return f"{train} training and {valid} validation nodes a class, the rest test; seeded"

    def generate(self) -> Graph:
        """Draw the graph. RandomState's stream is frozen, so a name always means one graph."""
        from torch_geometric.utils import to_undirected

        from benchbuild.datasets.graph import Graph
        from benchbuild.datasets.splits import per_class_split

        random = np.random.RandomState(self.seed)
        block = random.permutation(np.arange(self.nodes) % self.classes)
        centres = random.standard_normal((self.classes, self.features))
        centres *= self.signal / np.linalg.norm(centres, axis=1, keepdims=True)
        x = centres[block] + random.standard_normal((self.nodes, self.features))
        y = torch.from_numpy(block)
        train, valid = self.per_class
        return Graph.build(
            self.name,
            torch.from_numpy(x).float(),
            to_undirected(torch.from_numpy(self._edges(random, block)), num_nodes=self.nodes),
            y,
            per_class_split(y, train, valid, seed=self.seed),
            num_classes=self.classes,
            split=self.split,
        )

    def _edges(self, random: np.random.RandomState, block: np.ndarray) -> np.ndarray:
        """Draw edges one by one: an end, a block for the other end, a node of that block."""
        count = round(self.nodes * self.degree / 2)
        members = [np.flatnonzero(block == label) for label in range(self.classes)]
        source = random.randint(self.nodes, size=count)
        stays = random.random_sample(count) < self.homophily
        shift = np.where(stays, 0, random.randint(1, self.classes, size=count))
        other_block = (block[source] + shift) % self.classes
        pick = random.random_sample(count)
        sizes = np.array([nodes.size for nodes in members])
        start = np.cumsum(sizes) - sizes
        by_block = np.concatenate(members)
        target = by_block[start[other_block] + (pick * sizes[other_block]).astype(np.int64)]
        apart = source != target
        return np.stack([source[apart], target[apart]]).astype(np.int64)


DEFAULT_SIZE = GraphSize(500, 3_914, 32, 16_000, 4, trained=80, labelled=500)
"""Of the model without parameters, read off the graph."""


def _csbm_spec(parameters: Mapping[str, str]) -> DatasetSpec:
    model = BlockModel.named(parameters)
    spec = DatasetSpec(
        name=model.name,
        num_nodes=model.nodes,
        num_features=model.features,
        num_classes=model.classes,
        metric="accuracy",
        split=model.split,
        licence="generated",
        source="contextual stochastic block model, generated",
        files=(),
        loader=partial(_generate, model),
        hyperparameters=HyperParameters(0, 1, 32, 0.5, "adam", 0.01, 5e-4, 100),
    )
    return dataclasses.replace(spec, **DEFAULT_SIZE.stated) if model == BlockModel() else spec


def _generate(model: BlockModel, _root: Path) -> Graph:
    return model.generate()


FACTORIES: dict[str, SpecFactory] = {
    "karate": fixed(
        DatasetSpec(
            name="karate",
            **GraphSize(34, 156, 34, 34, 4, trained=4, labelled=34).stated,
            metric="accuracy",
            split=KARATE_SPLIT,
            licence="MIT (torch-geometric)",
            source="Zachary's karate club, embedded in torch-geometric",
            files=(),
            loader=_load_karate,
            hyperparameters=HyperParameters(0, 1, 16, 0.3, "adam", 0.01, 5e-4, 100),
        )
    ),
    "csbm": _csbm_spec,
}
