"""The sorts of data that can be condensed, each in a file of its own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchquery.kinds.condensed.domains.graphs import GRAPHS
from benchquery.kinds.condensed.domains.images import IMAGES
from benchquery.kinds.condensed.domains.nodes import NODES
from benchquery.kinds.condensed.domains.spec import DomainSpec

DOMAINS: Mapping[str, DomainSpec] = MappingProxyType(
    {one.name: one for one in (NODES, GRAPHS, IMAGES)}
)
"""The domains by name."""


def domain_of_dataset(dataset: str) -> DomainSpec:
    """Return the domain of a dataset by its name: that of one graph if no domain names it."""
    base = dataset.partition(":")[0]
    return next((one for one in DOMAINS.values() if base in one.datasets), NODES)


def domain_of_task(task: str) -> DomainSpec:
    """Return the domain that has a task.

    Args:
        task: One that some domain has.
    """
    return next(one for one in DOMAINS.values() if task in one.tasks)
