"""The forms of what is kept of a condensation: which arrays each has, and what must hold of them.

========  ==========================================================================================
graph     one graph: ``x`` (n, f), ``y`` (n) classes or (n, c) probabilities of the classes,
          ``adjacency`` (n, n) where there are edges
graphs    a set of graphs: ``x`` (n, f) of all nodes, ``sizes`` (g) nodes of each graph, ``y`` (g)
          classes, ``edges`` (2, e) between nodes of the set where there are some, ``weights`` (e)
          where they are not all 1, ``by_row`` (1) where the features of each node sum to 1
trees     a set of patterns, each some rooted trees: ``x`` (n, f) of all nodes, ``parents`` (n) with
          -1 for a root, ``trees`` (t) nodes of each tree, ``patterns`` (p) trees of each pattern,
          ``y`` (p) classes, ``weights`` (p), ``bonds`` (n, k) labels of the edges to the parents
images    a set of images: ``x`` (n, c, h, w) pixels from 0 to 255, or numbers that were normalised
          with ``mean`` (c) and ``std`` (c) of pixels from 0 to 1; ``y`` (n) classes or (n, k)
          probabilities of the classes
========  ==========================================================================================
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array
else:
    np = LazyModule("numpy")

GRAPH = "graph"
"""The form of one graph."""
IMAGES = "images"
"""The form of a set of images."""
_ARRAYS = ("x", "y", "adjacency")
_WIDEST = 8
"""Bytes of a number."""


@dataclass(frozen=True)
class Form:
    """A form of what is kept of a condensation.

    Attributes:
        arrays: The names that its arrays may have.
        problem: Says why arrays are not of this form; nothing if they are.
    """

    arrays: tuple[str, ...]
    problem: Callable[[Mapping[str, Array]], str]


def _graph_problems(arrays: Mapping[str, Array]) -> Iterator[str]:
    """Say why arrays are not those of a graph."""
    yield from _misnamed(arrays, ("x", "y"), "adjacency")
    x, y, adjacency = arrays["x"], arrays["y"], arrays.get("adjacency")
    kinds = {name: values.dtype.kind for name, values in arrays.items()}
    if kinds["x"] != "f" or kinds.get("adjacency", "f") != "f":
        yield "x and adjacency are floating-point numbers"
    if x.ndim != 2 or not x.size:
        yield f"x has the shape {x.shape}, not (nodes, features)"
    if len(y) != len(x) or (kinds["y"], y.ndim) not in {("i", 1), ("u", 1), ("f", 2)}:
        yield f"y is {y.dtype}{y.shape}, not {len(x)} integers or rows of probabilities"
    if adjacency is not None and adjacency.shape != (len(x), len(x)):
        yield f"adjacency has the shape {adjacency.shape}, not {(len(x), len(x))}"


def _misnamed(
    arrays: Mapping[str, Array], needed: tuple[str, ...], *optional: str
) -> Iterator[str]:
    if not set(needed) <= arrays.keys() <= {*needed, *optional}:
        maybe = f" and maybe {', '.join(optional)}" if optional else ""
        yield f"it has {', '.join(arrays) or 'nothing'}, not {', '.join(needed)}{maybe}"


def _misfeatured(x: Array) -> Iterator[str]:
    if x.dtype.kind != "f" or x.ndim != 2 or not x.size:
        yield f"x is {x.dtype}{x.shape}, not (nodes, features)"


def _miscounted(arrays: Mapping[str, Array], name: str, total: int, of: str) -> Iterator[str]:
    """Say why an array does not share a number of things out."""
    counts = arrays[name]
    if counts.ndim != 1 or counts.dtype.kind != "i" or not counts.size or int(counts.min()) < 1:
        yield f"{name} is {counts.dtype}{counts.shape}, not whole numbers from 1 up"
    # Each must be so small that the sum of all, which is used to take memory, can't overflow.
    elif int(counts.max()) > total or len(counts) > total or int(counts.sum()) != total:
        yield f"{name} do not share out {total} {of}"


def _mislabelled(y: Array, items: int) -> Iterator[str]:
    if y.dtype.kind != "i" or y.shape != (items,) or int(y.min()) < 0:
        yield f"y is {y.dtype}{y.shape}, not {items} classes"


def _misweighted(weights: Array | None, shape: tuple[int, ...], of: str) -> Iterator[str]:
    if weights is not None and (weights.dtype.kind != "f" or weights.shape != shape):
        yield f"weights is {weights.dtype}{weights.shape}, not one number {of}"


def _graphs_problems(arrays: Mapping[str, Array]) -> Iterator[str]:
    """Say why arrays are not those of a set of graphs."""
    yield from _misnamed(arrays, ("x", "sizes", "y"), "edges", "weights", "by_row")
    nodes, edges = len(arrays["x"]), arrays.get("edges", np.empty((2, 0), np.int32))
    yield from _misfeatured(arrays["x"])
    yield from _miscounted(arrays, "sizes", nodes, "nodes")
    yield from _mislabelled(arrays["y"], len(arrays["sizes"]))
    if edges.dtype.kind != "i" or edges.ndim != 2 or len(edges) != 2:
        yield f"edges is {edges.dtype}{edges.shape}, not (2, edges) whole numbers"
    if edges.size and not 0 <= int(edges.min()) <= int(edges.max()) < nodes:
        yield f"an edge names a node that is none of the {nodes}"
    graph_of = np.repeat(np.arange(len(arrays["sizes"])), arrays["sizes"])
    if (graph_of[edges[0]] != graph_of[edges[1]]).any():
        yield "an edge joins two graphs"
    yield from _misweighted(arrays.get("weights"), edges.shape[1:], "an edge")
    by_row = arrays.get("by_row")
    if by_row is not None and by_row.tolist() != [1]:
        yield f"by_row is {by_row.dtype}{by_row.shape}, not a 1"


def _trees_problems(arrays: Mapping[str, Array]) -> Iterator[str]:
    """Say why arrays are not those of a set of patterns of trees."""
    yield from _misnamed(arrays, ("x", "parents", "trees", "patterns", "y", "weights"), "bonds")
    nodes, trees = len(arrays["x"]), len(arrays["trees"])
    yield from _misfeatured(arrays["x"])
    yield from _miscounted(arrays, "trees", nodes, "nodes")
    yield from _miscounted(arrays, "patterns", trees, "trees")
    yield from _mislabelled(arrays["y"], len(arrays["patterns"]))
    yield from _misweighted(arrays["weights"], arrays["patterns"].shape, "a pattern")
    parents = arrays["parents"]
    if parents.dtype.kind != "i" or parents.shape != (nodes,):
        yield f"parents is {parents.dtype}{parents.shape}, not one node a node"
    if not -1 <= int(parents.min()) <= int(parents.max()) < nodes:
        yield "a parent is no node"
    tree_of, children = np.repeat(np.arange(trees), arrays["trees"]), parents >= 0
    if (tree_of[parents[children]] != tree_of[children]).any():
        yield "a parent is in another tree"
    if (np.bincount(tree_of[~children], minlength=trees) != 1).any():
        yield "a tree has not one root"
    if _has_circle(parents):
        yield "a node is its own ancestor"
    bonds = arrays.get("bonds")
    if bonds is not None and (bonds.dtype.kind != "i" or bonds.ndim != 2 or len(bonds) != nodes):
        yield f"bonds is {bonds.dtype}{bonds.shape}, not whole numbers of each node"


def _has_circle(parents: Array) -> bool:
    """Tell whether some node never comes to a root; each step looks twice as far up."""
    above = np.append(parents, -1)
    for _ in range(len(parents).bit_length()):
        above = above[above]
    return bool((above >= 0).any())


def _images_problems(arrays: Mapping[str, Array]) -> Iterator[str]:
    """Say why arrays are not those of a set of images."""
    yield from _misnamed(arrays, ("x", "y", "mean", "std"))
    x, y = arrays["x"], arrays["y"]
    if x.ndim != 4 or not x.size or not (x.dtype.kind == "f" or x.dtype == np.uint8):
        yield f"x is {x.dtype}{x.shape}, not (images, channels, height, width)"
    if len(y) != len(x) or (y.dtype.kind, y.ndim) not in {("i", 1), ("f", 2)}:
        yield f"y is {y.dtype}{y.shape}, not {len(x)} classes or rows of probabilities"
    if y.ndim == 1 and int(y.min()) < 0:
        yield f"y has the class {int(y.min())}; classes are from 0 up"
    for name in ("mean", "std"):
        values = arrays[name]
        if values.dtype.kind != "f" or values.shape != x.shape[1:2]:
            yield f"{name} is {values.dtype}{values.shape}, not one number a channel"


def _first(
    problems: Callable[[Mapping[str, Array]], Iterator[str]],
) -> Callable[[Mapping[str, Array]], str]:
    """Return a function that says the first of some problems; later ones may follow from it."""
    return lambda arrays: next(itertools.chain(_mistyped(arrays), problems(arrays)), "")


def _mistyped(arrays: Mapping[str, Array]) -> Iterator[str]:
    """Say which arrays are none, or of numbers that not every machine computes with."""
    for name, values in arrays.items():
        known = values.dtype.isnative and values.dtype.itemsize <= _WIDEST
        if values.dtype.kind not in "fiu" or not known or not values.ndim:
            yield f"{name} is {values.dtype}{values.shape}, no array of common numbers"


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        GRAPH: Form(_ARRAYS, _first(_graph_problems)),
        "graphs": Form(("x", "edges", "sizes", "y", "weights", "by_row"), _first(_graphs_problems)),
        "trees": Form(
            ("x", "parents", "trees", "patterns", "y", "weights", "bonds"), _first(_trees_problems)
        ),
        IMAGES: Form(("x", "y", "mean", "std"), _first(_images_problems)),
    }
)
"""The forms by name."""
