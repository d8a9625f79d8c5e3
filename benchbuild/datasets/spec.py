"""What is known of a dataset without having it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from benchbuild.datasets.root import data_root
from benchbuild.datasets.size import TYPICAL, GraphSize
from benchbuild.errors import DatasetError
from benchbuild.hyperparameters import DEFAULT_HYPERPARAMETERS, HyperParameters

if TYPE_CHECKING:
    from benchbuild.datasets.graph import Graph
    from benchbuild.datasets.graphset import GraphSet
    from benchbuild.datasets.images.image_set import ImageSet

Loader = Callable[[Path], "Graph | GraphSet | ImageSet"]

SORTS: Mapping[str, str] = MappingProxyType(
    {
        "nodes": "one graph with labelled nodes",
        "graphs": "a set of graphs",
        "images": "a set of images",
    }
)
"""The sorts of data that there are, and what they are."""

Scaling = Literal["none", "rows", "columns"]
"""How features are scaled before a graph is condensed: as they are; every row divided by its sum;
every column standardised by the training nodes."""


@dataclass(frozen=True)
class DatasetSpec:
    """What is known of a dataset without having it, all in one place.

    Only what has no default need be stated; what is None is not known.

    Attributes:
        name: Name it is asked for by, parameters included.
        num_nodes: Number of nodes that are used, of all graphs together where it is a set.
        num_features: Number of features per node.
        num_classes: Number of classes, or of tasks.
        metric: "accuracy" or "rocauc".
        split: How train, validation and test nodes are chosen.
        licence: Licence as its source states it.
        source: Where it comes from.
        files: Files it is read from, relative to the data root; none if it is embedded.
        loader: Reads it from a data root.
        num_edges: Number of directed edges.
        nonzeros: Entries of the feature matrix that are not zero.
        trained: Number of training nodes, or graphs of a set.
        labelled: Number of training, validation and test nodes, or graphs.
        hyperparameters: How networks are built and trained on it, unless told otherwise.
        space: The space that its architectures come from.
        scaling: How its features are scaled before it is condensed.
        sort: The sort of data that it is: one graph with labelled ``nodes``, a set of ``graphs`` or
            of ``images``.
        num_items: Number of graphs or images of a set.
        instead: Other lists of files that do as well as `files`, such as an archive of them.
    """

    name: str
    num_nodes: int | None
    num_features: int | None
    num_classes: int | None
    metric: str
    split: str
    licence: str
    source: str
    files: tuple[str, ...]
    loader: Loader
    num_edges: int | None = None
    nonzeros: int | None = None
    trained: int | None = None
    labelled: int | None = None
    hyperparameters: HyperParameters = DEFAULT_HYPERPARAMETERS
    space: str = "full"
    scaling: Scaling = "none"
    sort: str = "nodes"
    num_items: int | None = None
    instead: tuple[tuple[str, ...], ...] = ()

    def require(self, sort: str, by: str) -> DatasetSpec:
        """Return this very spec if its data is of a sort.

        Args:
            sort: The sort that is needed.
            by: What needs it.

        Raises:
            DatasetError: If the data is of another sort.
        """
        if self.sort != sort:
            raise DatasetError(
                f"dataset {self.name!r} is {SORTS[self.sort]}; {by} needs {SORTS[sort]}"
            )
        return self

    @property
    def size(self) -> GraphSize:
        """How large it is, for planning.

        What it does not state is assumed: dense features, and for all else `TYPICAL`.
        """
        nodes = self.num_nodes or TYPICAL.nodes
        features = self.num_features or TYPICAL.features
        return GraphSize(
            nodes=nodes,
            edges=self.num_edges or nodes * TYPICAL.edges // TYPICAL.nodes,
            features=features,
            nonzeros=self.nonzeros or nodes * features,
            classes=self.num_classes or TYPICAL.classes,
            trained=self.trained or nodes * TYPICAL.trained // TYPICAL.nodes,
            labelled=self.labelled or nodes,
        )

    @property
    def stated_size(self) -> GraphSize:
        """The same where what decides how networks look is not assumed.

        Raises:
            DatasetError: If it does not state how many features and classes it has.
        """
        if self.num_features is None or self.num_classes is None:
            raise DatasetError(
                f"dataset {self.name!r} does not state how many features and classes it has; "
                "docs/adding-a-dataset.md says how it can"
            )
        return self.size

    def on_disk(self, root: Path | str | None = None) -> bool:
        """Tell whether it can be loaded without a download."""
        base = data_root(root)
        return any(
            all(os.path.exists(base / file) for file in files)  # noqa: PTH110  (never raises)
            for files in (self.files, *self.instead)
        )


SpecFactory = Callable[[Mapping[str, str]], DatasetSpec]
"""Makes the spec of a dataset from the parameters in its name."""


def fixed(spec: DatasetSpec) -> SpecFactory:
    """Return the factory of a dataset that takes no parameters."""

    def make(parameters: Mapping[str, str]) -> DatasetSpec:
        if parameters:
            raise DatasetError(f"dataset {spec.name!r} takes no parameters, got {dict(parameters)}")
        return spec

    return make
