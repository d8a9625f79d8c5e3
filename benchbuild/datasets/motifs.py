"""Generated graphs that are told apart by a motif: a dataset of sets of graphs without a file.

A graph is a random tree (every node joins an earlier one in proportion to its degree) with some
chords, so that the number of edges does not give the class away, and a motif of five nodes that
hangs on it by one edge: the class. Nodes of the motif have the last label, nodes of the tree one of
the others, and a share of all labels is drawn anew. How many nodes have which label says nothing of
the class: only who is joined to whom does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from benchbuild.datasets.generated import GeneratedModel
from benchbuild.datasets.size import TENTHS, tenths
from benchbuild.datasets.spec import DatasetSpec, SpecFactory
from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np

    from benchbuild.datasets.graphset import GraphSet
else:
    np = LazyModule("numpy")

_RING = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0))
MOTIFS: Mapping[str, tuple[tuple[int, int], ...]] = MappingProxyType(
    {
        "cycle": _RING,
        "house": (*_RING, (1, 4)),
        "star": ((0, 1), (0, 2), (0, 3), (0, 4)),
        "bowtie": ((0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4)),
        "wheel": ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4), (4, 1)),
        "clique": (*_RING, (0, 2), (0, 3), (1, 3), (1, 4), (2, 4)),
    }
)
"""The edges of each motif; the first ones are the classes."""
MOTIF_NODES = 5


@dataclass(frozen=True)
class MotifModel(GeneratedModel):
    """A model that motif graphs are drawn from.

    Attributes:
        graphs: Number of graphs, shared out evenly among the classes.
        classes: Number of motifs.
        nodes: Mean number of nodes of the tree; it varies by up to a third.
        chords: How many edges the tree has more than a tree, at most.
        labels: Labels that nodes can have; each is a column of the features.
        noise: Share of the labels that are drawn anew.
        seed: Seed of everything that is drawn.
    """

    family: ClassVar[str] = "motifs"
    graphs: int = 200
    classes: int = 2
    nodes: int = 12
    chords: int = 4
    labels: int = 3
    noise: float = 0.3
    seed: int = 0

    def __post_init__(self) -> None:
        """Check that there is something to learn and to test on."""
        self._check("classes", 2 <= self.classes <= len(MOTIFS), f"from 2 to {len(MOTIFS)}")
        self._check("graphs", self.graphs >= 3 * self.classes, "at least 3 a class")
        self._check("nodes", self.nodes >= 1, "at least 1")
        self._check("chords", self.chords >= 0, "at least 0")
        self._check("labels", self.labels >= 2, "at least 2")
        self._check("noise", 0.0 <= self.noise <= 1.0, "in [0, 1]")
        self._check("seed", 0 <= self.seed < 2**32, "in [0, 2**32)")

    @property
    def members(self) -> tuple[int, ...]:
        """Graphs of each class."""
        each, more = divmod(self.graphs, self.classes)
        return tuple(each + (label < more) for label in range(self.classes))

    @property
    def split(self) -> str:
        """How the graphs are split, in words."""
        return f"{TENTHS}; drawn with seed {self.seed}"

    def generate(self) -> GraphSet:
        """Draw the graphs. RandomState's stream is frozen, so a name always means one set."""
        import torch

        from benchbuild.datasets.graphset import GraphSet
        from benchbuild.datasets.splits import tenths_split

        random = np.random.RandomState(self.seed)
        y = random.permutation(np.arange(self.graphs) % self.classes)
        drawn = [(*self._draw(random, list(MOTIFS.values())[label]), label) for label in y]
        return GraphSet.build(
            self.name,
            drawn,
            *tenths_split(torch.from_numpy(y), self.seed),
            num_classes=self.classes,
            split=self.split,
        )

    def _draw(
        self, random: np.random.RandomState, motif: tuple[tuple[int, int], ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw a graph: one-hot labels, and edges both ways."""
        spread = self.nodes // 3
        tree = self.nodes + int(random.randint(-spread, spread + 1))
        edges: list[tuple[int, int]] = []
        ends = [0]
        for node in range(1, tree):
            edges.append((node, ends[random.randint(len(ends))]))
            ends = [0, 1] if node == 1 else [*ends, *edges[-1]]
        chords = random.randint(tree, size=(random.randint(self.chords + 1), 2))
        edges += map(tuple, chords.tolist())
        edges += [(tree + one, tree + other) for one, other in motif]
        edges.append((int(random.randint(tree)), tree + int(random.randint(MOTIF_NODES))))
        nodes = tree + MOTIF_NODES
        labels = random.randint(self.labels - 1, size=nodes)
        labels[tree:] = self.labels - 1
        anew = random.random_sample(nodes) < self.noise
        labels = np.where(anew, random.randint(self.labels, size=nodes), labels)
        one_way = np.array(edges).T
        return np.eye(self.labels, dtype=np.float32)[labels], np.hstack([one_way, one_way[::-1]])


DEFAULT_NODES, DEFAULT_EDGES = 3_382, 7_596
"""Of the model without parameters, read off the graphs."""


def _spec(parameters: Mapping[str, str]) -> DatasetSpec:
    model = MotifModel.named(parameters)
    spec = DatasetSpec(
        name=model.name,
        num_nodes=None,
        num_features=model.labels,
        num_classes=model.classes,
        trained=sum(tenths(members)[0] for members in model.members),
        labelled=model.graphs,
        num_items=model.graphs,
        sort="graphs",
        metric="accuracy",
        split=model.split,
        licence="generated",
        source="trees with motifs, generated",
        files=(),
        loader=partial(_generate, model),
    )
    if model == MotifModel():
        return dataclasses.replace(spec, num_nodes=DEFAULT_NODES, num_edges=DEFAULT_EDGES)
    return spec


def _generate(model: MotifModel, _root: Path) -> GraphSet:
    return model.generate()


FACTORIES: dict[str, SpecFactory] = {"motifs": _spec}
