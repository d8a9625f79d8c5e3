"""Datasets: a registry, one file a family, and the :class:`Graph` they are loaded into."""

from benchbuild.datasets.graph import Graph
from benchbuild.datasets.registry import DatasetSpec, dataset_names, dataset_spec, load

__all__ = ["DatasetSpec", "Graph", "dataset_names", "dataset_spec", "load"]
