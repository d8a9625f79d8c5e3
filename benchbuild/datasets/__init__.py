"""Datasets: a registry, one file a family, and the :class:`Graph` they are loaded into.

Names are imported when they are first used: where the datasets are (`root`) needs no torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchbuild.datasets.graph import Graph
    from benchbuild.datasets.registry import DatasetSpec, dataset_names, dataset_spec, load

__all__ = ["DatasetSpec", "Graph", "dataset_names", "dataset_spec", "load"]


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "graph" if name == "Graph" else "registry"
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)
