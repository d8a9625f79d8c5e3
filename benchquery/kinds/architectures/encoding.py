"""Architectures as numbers, many at a time: facts about them and inputs for predictors.

Every function takes an array of hashes and works on the canonical forms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import UnknownNameError
from benchquery.kinds.architectures.arch import LINKS, NODES, OPS

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Features, Ints
else:
    np = LazyModule("numpy")


def link_indices(hashes: Ints) -> Ints:
    """Return the index in `LINKS` of each architecture's link list."""
    indices: Ints = np.asarray(hashes) // 10**NODES
    return indices


def op_indices(hashes: Ints) -> Ints:
    """Return the indices in `OPS` of each architecture's operations: (n, 4)."""
    indices: Ints = np.asarray(hashes)[:, None] // 10 ** np.arange(NODES - 1, -1, -1) % 10
    return indices


@cache
def _routes() -> tuple[tuple[tuple[int, ...], ...], ...]:
    """For each link list, the ways from the input to each leaf, as node positions."""

    def route(link: tuple[int, ...], node: int) -> tuple[int, ...]:
        return (*route(link, link[node - 1]), node - 1) if node else ()

    return tuple(
        tuple(route(link, leaf) for leaf in range(1, NODES + 1) if leaf not in link)
        for link in LINKS
    )


def depths(hashes: Ints) -> Ints:
    """Return how many nodes the longest way through each architecture passes."""
    by_link = np.array([max(map(len, routes)) for routes in _routes()])
    return by_link[link_indices(hashes)]


def leaf_counts(hashes: Ints) -> Ints:
    """Return how many nodes make up the output of each architecture."""
    return np.array([len(routes) for routes in _routes()])[link_indices(hashes)]


def link_names(hashes: Ints) -> Array:
    """Return each architecture's link list as four digits, for example ``0112``."""
    names = np.array(["".join(map(str, link)) for link in LINKS], dtype=object)
    return names[link_indices(hashes)]


def op_count(op: str, hashes: Ints) -> Ints:
    """Return how often an operation stands in each architecture."""
    count: Ints = (op_indices(hashes) == OPS.index(op)).sum(axis=1)
    return count


FACTS: Mapping[str, Callable[[Ints], Array]] = {
    "link": link_names,
    "depth": depths,
    "leaves": leaf_counts,
    **{op: partial(op_count, op) for op in OPS},
}
"""What a query may ask of an architecture beside the table's columns."""


def one_hot(hashes: Ints) -> Features:
    """Encode the link list (9) and the four operations (4 x 9) as indicators: (n, 45)."""
    links = np.eye(len(LINKS), dtype=np.float32)[link_indices(hashes)]
    ops = np.eye(len(OPS), dtype=np.float32)[op_indices(hashes)]
    return np.concatenate([links, ops.reshape(len(ops), NODES * len(OPS))], axis=1)


def adjacency(hashes: Ints) -> Features:
    """Encode the graph and the operations: (n, 51).

    First the upper triangle, row by row, of the 6 x 6 adjacency matrix over the input,
    the four nodes and the output (15), then the operations as indicators (4 x 9).
    """
    matrices = np.zeros((len(LINKS), NODES + 2, NODES + 2), dtype=np.float32)
    for matrix, link in zip(matrices, np.array(LINKS), strict=True):
        nodes = np.arange(1, NODES + 1)
        matrix[link, nodes] = 1
        matrix[np.setdiff1d(nodes, link), NODES + 1] = 1
    triangles = matrices[:, *np.triu_indices(NODES + 2, k=1)]
    return np.concatenate(
        [triangles[link_indices(hashes)], one_hot(hashes)[:, len(LINKS) :]], axis=1
    )


def path(hashes: Ints) -> Features:
    """Encode which sequences of operations lead from input to output: (n, 7,380).

    There is one indicator for each sequence of one to four operations, shorter ones
    first, each group in the order of the operation indices.
    """
    hashes = np.asarray(hashes)
    sizes = len(OPS) ** np.arange(1, NODES + 1)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    encoded = np.zeros((len(hashes), starts[-1]), dtype=np.float32)
    links, ops = link_indices(hashes), op_indices(hashes)
    for index, routes in enumerate(_routes()):
        rows = np.flatnonzero(links == index)
        for route in routes:
            weights = len(OPS) ** np.arange(len(route) - 1, -1, -1)
            encoded[rows, starts[len(route) - 1] + ops[rows][:, route] @ weights] = 1
    return encoded


ENCODINGS: Mapping[str, Callable[[Ints], Features]] = {
    "one-hot": one_hot,
    "adjacency": adjacency,
    "path": path,
}


def encode(hashes: Ints, kind: str = "one-hot") -> Features:
    """Encode architectures by the encoding of a name from `ENCODINGS`.

    Raises:
        UnknownNameError: If there is no such encoding.
    """
    if kind not in ENCODINGS:
        raise UnknownNameError(f"unknown encoding {kind!r}; allowed: {', '.join(ENCODINGS)}")
    return ENCODINGS[kind](hashes)
