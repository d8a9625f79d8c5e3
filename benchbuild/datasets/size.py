"""How large a dataset is, and the seed of its split: what is known without the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

SPLIT_SEED = 0
"""Seed of every split that is drawn here."""

TENTHS = "of each class a tenth for validation and a tenth for test, the rest for training"
"""How `tenths` shares out, in words."""

DEGREES = 32
"""How many columns one-hot degrees have; the last one is for all degrees from 31 up."""


def tenths(members: int) -> tuple[int, int, int]:
    """Return how many of a class are for training, validation and test."""
    tenth = max(1, members // 10)
    return members - 2 * tenth, tenth, tenth


class StatedSizes(TypedDict):
    """Sizes by the names that a `benchbuild.datasets.DatasetSpec` states them by."""

    num_nodes: int
    num_edges: int
    num_features: int
    nonzeros: int
    num_classes: int
    trained: int
    labelled: int


@dataclass(frozen=True)
class GraphSize:
    """How large a graph is.

    Those of the built-in datasets are read off the loaded graphs; those of arxiv, proteins, flickr
    and reddit are as their publishers state them, with dense features.

    Attributes:
        nodes: Nodes that are used.
        edges: Directed edges.
        features: Features of a node.
        nonzeros: Entries of the feature matrix that are not zero.
        classes: Classes, or tasks.
        trained: Training nodes.
        labelled: Training, validation and test nodes.
    """

    nodes: int
    edges: int
    features: int
    nonzeros: int
    classes: int
    trained: int
    labelled: int

    @property
    def stated(self) -> StatedSizes:
        """The same as a spec states it."""
        return {
            "num_nodes": self.nodes,
            "num_edges": self.edges,
            "num_features": self.features,
            "nonzeros": self.nonzeros,
            "num_classes": self.classes,
            "trained": self.trained,
            "labelled": self.labelled,
        }


TYPICAL = GraphSize(10_000, 100_000, 500, 5_000_000, 10, trained=500, labelled=10_000)
"""What is assumed of a dataset that does not state its sizes."""
