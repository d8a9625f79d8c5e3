"""Grids: the sets of configurations that papers ran, each in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from benchquery.errors import UnknownNameError
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.domains.graphs import GRAPHS
from benchquery.kinds.condensed.domains.nodes import METHODS
from benchquery.kinds.condensed.published import published
from benchquery.naming import DATASET_ALIASES, match_name, unknown

_LEARNT = tuple(name for name, spec in METHODS.items() if spec.family != "core-set")
_BACKBONES = ("sgc", "transformer")


def _gc_bench_node() -> Iterator[CondenseConfig]:
    """GC-Bench on nodes: Table 2, the initialisations of B11 and B12, Figure 3's backbones.

    Figure 3 condenses cora at 2.6% with SGC and with a graph transformer.
    """
    for figure in (*published("2"), *published("b11"), *published("b12")):
        method, ratio = figure.method, figure.ratio
        if method in METHODS and method is not None and ratio is not None:
            yield CondenseConfig(figure.dataset, method, ratio, figure.init)
    for method in _LEARNT:
        for backbone in _BACKBONES:
            yield CondenseConfig("cora", method, 0.026, backbone=backbone)


_PAPER_SIZES = (1, 5, 10, 20, 50)


def _gc_bench_graph() -> Iterator[CondenseConfig]:
    """GC-Bench on sets of graphs: Tables 3 and B3, which judge the same sets by GIN and by GCN."""
    for dataset in ("nci1", "dd", "molbace", "molbbbp", "molhiv"):
        for per_class in _PAPER_SIZES:
            for method in GRAPHS.methods:
                yield CondenseConfig(dataset, method, per_class=per_class)


GRIDS: Mapping[str, Callable[[], Iterator[CondenseConfig]]] = MappingProxyType(
    {"gc-bench-node": _gc_bench_node, "gc-bench-graph": _gc_bench_graph}
)
"""The grids by name; each gives its configurations with seed 0."""


def grid(
    name: str, datasets: Sequence[str] | None = None, seeds: Sequence[int] = (0,)
) -> tuple[CondenseConfig, ...]:
    """Return the configurations of a grid, each once, seed by seed.

    Args:
        name: A name in `GRIDS`.
        datasets: The datasets to keep; None for all of them.
        seeds: The condensation seeds to run each with.

    Raises:
        UnknownNameError: If there is no such grid, or it has no such dataset.
        ConfigError: If a seed is no whole number from 0 up.

    Example:
        >>> len(grid("gc-bench-node")), len(grid("gc-bench-node", ["cora"], seeds=range(3)))
        (487, 381)
    """
    if name not in GRIDS:
        raise UnknownNameError(unknown("grid", name, GRIDS))
    configs = tuple(dict.fromkeys(GRIDS[name]()))
    known = dict.fromkeys(config.dataset for config in configs)
    kept = set(known)
    if datasets is not None:
        kept = {_dataset_of(name, dataset, known) for dataset in datasets}
    return tuple(
        config.replace(seed=seed) for seed in seeds for config in configs if config.dataset in kept
    )


def _dataset_of(grid_name: str, dataset: str, known: Iterable[str]) -> str:
    """Return the dataset of a grid that is meant."""
    found = match_name(dataset, known, DATASET_ALIASES)
    if found is None:
        raise UnknownNameError(f"grid {grid_name!r}: {unknown('dataset', dataset, known)}")
    return found
