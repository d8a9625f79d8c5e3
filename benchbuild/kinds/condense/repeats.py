"""Configurations that condense to the same nodes although their ratios differ.

Every class with labels has at least one synthetic node. So below some ratio a graph can't become
smaller: GC-Bench's three smallest ratios of ACM are the same three nodes. In a grid such a cell is
run once.
"""

from __future__ import annotations

from collections.abc import Iterable

from benchbuild.datasets.registry import dataset_spec
from benchbuild.kinds.condense.costs import synthetic_nodes
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.domains.nodes import NODES

_ANY = 1.0


def without_repeats(configs: Iterable[CondenseConfig]) -> tuple[CondenseConfig, ...]:
    """Return configurations without those that give as many nodes as one before, all else equal."""
    found: dict[tuple[CondenseConfig, int], CondenseConfig] = {}
    for config in configs:
        found.setdefault(_cell(config), config)
    return tuple(found.values())


def _cell(config: CondenseConfig) -> tuple[CondenseConfig, int]:
    """Return what two configurations share that give the same; sets say their size exactly."""
    if config.domain is not NODES:
        return config, 0
    size = dataset_spec(config.dataset).size
    return config.replace(ratio=_ANY), max(synthetic_nodes(config, size), size.classes)
