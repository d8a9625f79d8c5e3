"""Datasets: a registry, one file a family, and the values that they are loaded into.

Names are imported when they are first used. What is known of a dataset (`dataset_spec`) needs no
torch; only loading one does.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchbuild.datasets.graph import Graph
    from benchbuild.datasets.graphset import GraphBatch, GraphSet
    from benchbuild.datasets.images.image_set import ImageSet
    from benchbuild.datasets.registry import (
        dataset_names,
        dataset_spec,
        hyperparameters_for,
        load,
        load_data,
        load_graphs,
        load_images,
    )
    from benchbuild.datasets.spec import DatasetSpec

__all__ = [
    "DatasetSpec",
    "Graph",
    "GraphBatch",
    "GraphSet",
    "ImageSet",
    "dataset_names",
    "dataset_spec",
    "hyperparameters_for",
    "load",
    "load_data",
    "load_graphs",
    "load_images",
]

_HOMES = {
    "Graph": "graph",
    "GraphBatch": "graphset",
    "GraphSet": "graphset",
    "ImageSet": "images.image_set",
    "DatasetSpec": "spec",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name, "registry")
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)
