"""Condensed graphs of one's own: read from files, and made a table that can be evaluated.

A file is an ``.npz`` with ``x``, the features of the nodes on the scale of
`benchbuild.kinds.condense.nodes.scaling`; ``y``, their classes or the probabilities of the classes;
and, unless the graph has no edges, either ``adj``, (nodes, nodes) symmetric weights from 0 to 1, or
``edges``, (2, edges) with each edge in one direction or both, and maybe ``weights``. Nothing in it
is unpickled.

Such a graph is one of a method that is not installed here: its row opens, ranks and draws, and can
be judged by more models, but not made again. Its configuration names its content.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchbuild.errors import DatasetError, PlanError
from benchbuild.kinds.condense.arrays import read_npz
from benchbuild.kinds.condense.nodes.payload import StoredGraph
from benchbuild.kinds.condense.table import ENDED, Kept, Row, Source, write_rows
from benchbuild.pipeline.records import OK
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig
from benchquery.kinds.condensed.domains.nodes import NODES
from benchquery.kinds.condensed.domains.spec import NONE, RECIPE
from benchquery.kinds.condensed.graphs import arrays_digest
from benchquery.kinds.condensed.published import published
from benchquery.kinds.condensed.table import CONTENT

if TYPE_CHECKING:
    from benchbuild.datasets import Graph
    from benchbuild.datasets.spec import DatasetSpec
    from benchbuild.kinds.condense.evaluations import Evaluations

NAME = "own"
"""What graphs are called that are given no name."""
_NAMES = re.compile(r"\w[\w.+-]{0,59}")
_ARRAYS = ("x", "y", "adj", "edges", "weights")
_NUMBER = 16
"""Bytes of the largest number; of edges there are three for two nodes."""
_DIGITS = 16


@dataclass(frozen=True)
class Given:
    """What is said of graphs beside their files.

    Attributes:
        name: What the method that made them is called.
        ratio: The ratio that they are listed under; None for the one of the paper that has as many
            nodes, else for nodes relative to the dataset's.
    """

    name: str = NAME
    ratio: float | None = None

    def __post_init__(self) -> None:
        """Refuse a name that can't be.

        Raises:
            PlanError: If it is that of a method of the house, or none.
        """
        if not _NAMES.fullmatch(self.name):
            raise PlanError(f"--name {self.name!r}: allowed are up to 60 letters, digits and ._+-")
        if self.name.lower() in NODES.methods:
            raise PlanError(
                f"--name {self.name!r} is a method of this project; call yours otherwise, so that "
                "their rows can't be taken for each other"
            )


def read_graph(path: Path, num_nodes: int, num_features: int, num_classes: int) -> StoredGraph:
    """Read a condensed graph, rounded to what is kept of one.

    Args:
        path: The file.
        num_nodes: Nodes of the dataset; the graph must have fewer.
        num_features: Features of a node of the dataset.
        num_classes: Its classes.

    Raises:
        DatasetError: If it can't be read, or does not fit the dataset; the message says why.
    """
    arrays = _read(path, _NUMBER * num_nodes * (num_features + num_classes + 3 * num_nodes))
    x = _features(path, arrays["x"], num_features)
    if len(x) >= num_nodes:
        raise DatasetError(f"{path} has {len(x):,} nodes, the dataset itself has {num_nodes:,}")
    with np.errstate(over="ignore"):
        y = _labels(path, arrays["y"], len(x), num_classes)
        adjacency = _adjacency(path, arrays, len(x))
        graph = StoredGraph(
            x.astype(np.float16), y, None if adjacency is None else adjacency.astype(np.float16)
        )
    if not graph.is_finite:
        raise DatasetError(
            f"{path}: a feature is beyond {np.finfo(np.float16).max:,.0f}, the largest number of "
            "the half precision that graphs are kept in"
        )
    return graph


def write_own_table(
    files: Sequence[Path], given: Given, data: tuple[Graph, DatasetSpec], out: Path,
    evaluations: Evaluations,
) -> None:  # fmt: skip
    """Write a table of graphs that are yet to be evaluated.

    Args:
        files: The graphs; condensation seeds count them from 0.
        given: What is said of them.
        data: The dataset, and what is known of it.
        out: The folder to fill.
        evaluations: How they will be.

    Raises:
        DatasetError: If a graph can't be read or does not fit the dataset.
        PlanError: If two are the same, or have more nodes than their ratio says.
    """
    graph, spec = data
    rows: list[Row] = []
    kept: dict[str, Kept] = {}
    seen: dict[str, Path] = {}
    trace = {"epoch": np.zeros(1, np.int32), "valid_perf": np.full(1, np.nan, np.float32)}
    for seed, path in enumerate(files):
        payload = read_graph(path, graph.num_nodes, graph.num_features, graph.num_classes)
        content = arrays_digest(payload.to_arrays())[:_DIGITS]
        if content in seen:
            raise PlanError(f"{path} and {seen[content]} hold the same graph")
        seen[content] = path
        ratio = _ratio(path, len(payload.x), given.ratio, spec.name, graph.num_nodes)
        config = _config(spec.name, given.name, ratio, seed, content)
        kept[config.valid_hash()] = Kept(payload, trace)
        costs = dict.fromkeys(ENDED, math.nan) | {"expert_bytes": 0, "best_epoch": 0.0}
        about = {**costs, "status": OK, "reason": ""}
        rows += [
            Row(config, one, {**payload.columns(one.threshold), **about}, {})
            for one in evaluations.configs
        ]
    source = Source(
        spec.name, RECIPE, EvalConfig().text, graph.facts, graph.split, spec.source,
        f"the graphs are their makers'; dataset: {spec.licence}",
    )  # fmt: skip
    write_rows(out, rows, kept, source, space="custom", environments=[])


def _config(dataset: str, name: str, ratio: float, seed: int, content: str) -> CondenseConfig:
    """Return the configuration of a graph of one's own."""
    from benchquery.text import to_json

    fields: dict[str, Any] = {
        "backbone": NONE, CONTENT: content, "dataset": dataset, "init": NONE, "method": name,
        "protocol": "corrected", "ratio": ratio, "ratio_of": "nodes", "recipe": RECIPE,
        "seed": seed,
    }  # fmt: skip
    return CondenseConfig.from_text(to_json(fields))


def _ratio(path: Path, nodes: int, asked: float | None, dataset: str, whole: int) -> float:
    """Return the ratio that a graph is listed under."""
    if asked is None:
        sizes = {figure.ratio for figure in published("2", dataset=dataset)}
        known = (one for one in sizes if one and one < 1 and round(one * whole) == nodes)
        return next(known, round(nodes / whole, 6))
    if not 0 < asked <= 1:
        raise PlanError(f"--ratio {asked}: a ratio is above 0 and at most 1, as 0.026 for 2.6%")
    if nodes > max(round(asked * whole), 1):
        raise PlanError(
            f"{path} has {nodes} nodes; a ratio of {asked:g} of {dataset} allows at most "
            f"{max(round(asked * whole), 1)}"
        )
    return asked


def _read(path: Path, at_most: int) -> Mapping[str, np.ndarray]:
    """Read the arrays of a file."""
    try:
        arrays = read_npz(path, _ARRAYS, at_most)
    except FileNotFoundError as error:
        raise DatasetError(f"there is no file {path}") from error
    except ValueError as error:
        raise DatasetError(
            f"{path} can't be read as an .npz of plain arrays, without pickled objects: {error}"
        ) from error
    there = set(arrays)
    if not {"x", "y"} <= there or {"adj", "edges"} <= there:
        raise DatasetError(
            f"{path} holds {', '.join(sorted(there)) or 'nothing'}; it must hold x and y, and "
            "either adj, or edges with or without weights, or none of them"
        )
    if "weights" in there and "edges" not in there:
        raise DatasetError(f"{path} holds weights, but no edges that they are of")
    return arrays


def _features(path: Path, x: np.ndarray, num_features: int) -> np.ndarray:
    if x.dtype.kind not in "fiu" or x.ndim != 2 or not len(x) or x.shape[1] != num_features:
        raise DatasetError(
            f"{path}: x is {x.dtype} of the shape {x.shape}; it must be numbers of the shape "
            f"(nodes, {num_features}), as many features as a node of the dataset has"
        )
    if not np.isfinite(x).all():
        row, column = np.argwhere(~np.isfinite(x))[0]
        raise DatasetError(f"{path}: x[{row}, {column}] is {x[row, column]}, no finite number")
    return x


def _labels(path: Path, y: np.ndarray, nodes: int, num_classes: int) -> np.ndarray:
    """Return classes, or probabilities of them."""
    if y.dtype.kind in "iu" and y.shape == (nodes,):
        if int(y.min()) < 0 or int(y.max()) >= num_classes:
            raise DatasetError(
                f"{path}: y has the class {int(y.min() if y.min() < 0 else y.max())}; those of the "
                f"dataset are from 0 to {num_classes - 1}"
            )
        return y.astype(np.int64)
    if y.dtype.kind == "f" and y.shape == (nodes, num_classes):
        soft = y.astype(np.float32)
        if bool((soft >= 0).all()) and np.allclose(soft.sum(axis=1), 1.0, atol=1e-3):
            return soft
        raise DatasetError(f"{path}: y has rows that are no probabilities which add up to 1")
    raise DatasetError(
        f"{path}: y is {y.dtype} of the shape {y.shape}; it must be whole numbers of the shape "
        f"{(nodes,)}, the classes, or floats of the shape {(nodes, num_classes)}, their "
        "probabilities"
    )


def _adjacency(path: Path, arrays: Mapping[str, np.ndarray], nodes: int) -> np.ndarray | None:
    """Return (nodes, nodes) weights without self-loops; None for a graph without edges."""
    if "edges" in arrays:
        weights = _from_edges(path, arrays["edges"], arrays.get("weights"), nodes)
    elif "adj" in arrays:
        weights = arrays["adj"]
        if weights.dtype.kind not in "fiub" or weights.shape != (nodes, nodes):
            raise DatasetError(
                f"{path}: adj is {weights.dtype} of the shape {weights.shape}; it must be numbers "
                f"of the shape {(nodes, nodes)}"
            )
        weights = weights.astype(np.float64)
    else:
        return None
    if not bool(((weights >= 0) & (weights <= 1)).all()):
        raise DatasetError(f"{path}: an edge has a weight that is not from 0 to 1")
    if not np.allclose(weights, weights.T, atol=1e-6):
        raise DatasetError(f"{path}: adj is not symmetric; edges have no direction")
    weights = np.maximum(weights, weights.T)
    np.fill_diagonal(weights, 0.0)
    return weights if weights.any() else None


def _from_edges(
    path: Path, edges: np.ndarray, weights: np.ndarray | None, nodes: int
) -> np.ndarray:
    """Return the weights of edges as a matrix."""
    if edges.dtype.kind not in "iu" or edges.ndim != 2 or len(edges) != 2:
        raise DatasetError(
            f"{path}: edges is {edges.dtype} of the shape {edges.shape}; it must be whole numbers "
            "of the shape (2, edges)"
        )
    if edges.size and (int(edges.min()) < 0 or int(edges.max()) >= nodes):
        raise DatasetError(f"{path}: edges name a node that is not from 0 to {nodes - 1}")
    if weights is None:
        weights = np.ones(edges.shape[1])
    if weights.dtype.kind not in "fiu" or weights.shape != (edges.shape[1],):
        raise DatasetError(
            f"{path}: weights is {weights.dtype} of the shape {weights.shape}; it must be numbers "
            f"of the shape {(edges.shape[1],)}, one an edge"
        )
    matrix = np.zeros((nodes, nodes))
    matrix[edges[0], edges[1]] = weights
    return np.where(matrix != 0, matrix, matrix.T)
