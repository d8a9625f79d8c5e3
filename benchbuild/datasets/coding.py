"""How many bytes a set of graphs takes, in two codings that don't depend on any file format.

*Dense*: the adjacency and the features of every graph as float32 matrices, as GC-Bench counts.

*Compact*: nothing is wasted. Features take the smallest type that holds all of them exactly; zeros
are left out where that is shorter, and ones need no value. Edges are pairs of numbers within their
graph; one that is there in both directions is kept once.
"""

from __future__ import annotations

import numpy as np

_FLOAT32 = 4
_HALF = 2
_COUNT = 2
"""Bytes of a count of nodes or edges."""
_LABEL = 1


def dense_bytes(sizes: np.ndarray, features: int) -> int:
    """Return the size of graphs as matrices.

    Args:
        sizes: How many nodes each has.
        features: Features of a node.
    """
    nodes = sizes.astype(np.int64)
    return int(_FLOAT32 * (nodes * nodes + nodes * features).sum())


def compact_bytes(
    x: np.ndarray, sizes: np.ndarray, edges: np.ndarray, *, weighted: bool = False
) -> int:
    """Return the size of graphs when nothing is wasted.

    Args:
        x: (nodes, features) of all graphs.
        sizes: How many nodes each graph has.
        edges: (2, edges) from source to target, in numbers of all nodes.
        weighted: Whether edges have weights other than 1.
    """
    place = index_bytes(int(sizes.max(initial=1)))
    kept = _edges_once(edges, len(x)) * (2 * place + weighted * _HALF)
    return feature_bytes(x) + kept + len(sizes) * (2 * _COUNT + _LABEL)


def feature_bytes(x: np.ndarray) -> int:
    """Return the size of features when nothing is wasted."""
    values = x[x != 0]
    value = _value_bytes(values)
    without_zeros = values.size * (index_bytes(x.shape[1]) + (0 if (values == 1).all() else value))
    return int(min(x.size * value, without_zeros + len(x)))


def index_bytes(count: int) -> int:
    """Return the bytes of a number below another one."""
    return np.min_scalar_type(max(count - 1, 0)).itemsize


def _value_bytes(values: np.ndarray) -> int:
    """Return the bytes of the smallest type that holds all of some numbers exactly."""
    whole = bool((values == np.round(values)).all())
    if whole and (not values.size or (values.min() >= 0 and values.max() < 256)):
        return 1
    in_half = np.isfinite(half := values.astype(np.float16)).all() and (half == values).all()
    return _HALF if in_half else _FLOAT32


def _edges_once(edges: np.ndarray, nodes: int) -> int:
    """Count edges, those that are there in both directions once."""
    low, high = edges.min(axis=0), edges.max(axis=0)
    return len(np.unique(low.astype(np.int64) * nodes + high))
