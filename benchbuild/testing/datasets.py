"""What a dataset must be: its facts, and the graph that it is loaded into."""

from __future__ import annotations

import itertools
import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, get_args

from benchbuild.datasets.registry import dataset_names, dataset_spec, load, parse_name
from benchbuild.datasets.spec import DatasetSpec, Scaling
from benchquery.kinds.architectures.space import get_space
from benchquery.testing.claims import claim, works

if TYPE_CHECKING:
    from benchbuild.datasets.graph import Graph

_SIZES = (
    "num_nodes", "num_edges", "num_features", "nonzeros", "num_classes", "trained", "labelled",
)  # fmt: skip
_METRICS = {"accuracy": 2, "rocauc": 1}
"""By metric: how many classes, or tasks, there are at least."""


def check_dataset(name: str, root: str | os.PathLike[str] | None = None) -> None:
    """Check a dataset.

    What is known of it without its files makes sense. If its files are there, or it needs none, it
    is loaded twice: both times it is the same graph, of the sizes, metric and split that are
    stated, with labels in their range and no node in two of the three masks. Nothing is
    downloaded.

    Args:
        name: Its name, with parameters if it has some.
        root: Folder of the datasets; None for the default.

    Raises:
        AssertionError: If something is wrong; the message names it.
    """
    whose = f"dataset {name!r}"
    with works(f"{whose}: what is known of it can't be had"):
        spec = dataset_spec(name)
    _check_names(spec, whose)
    _check_sizes(spec, whose)
    if not spec.on_disk(None if root is None else Path(root)):
        return
    with works(f"{whose} can't be loaded"):
        graph, again = (load(name, None if root is None else Path(root)) for _ in range(2))
    claim(
        graph.checksum == again.checksum,
        f"{whose}: loaded twice, it is not the same graph; draw from a fixed seed",
    )
    _check_graph(spec, graph, whose)
    _check_labels(graph, whose)


def _check_names(spec: DatasetSpec, whose: str) -> None:
    base, _ = parse_name(spec.name)
    claim(base in dataset_names(), f"{whose}: it calls itself {spec.name!r}, which is no dataset")
    claim(
        dataset_spec(spec.name).name == spec.name,
        f"{whose}: its name {spec.name!r} leads to another dataset",
    )
    claim(
        spec.metric in _METRICS,
        f"{whose}: its metric is {spec.metric!r}; allowed: {', '.join(_METRICS)}",
    )
    for field in ("split", "licence", "source"):
        text = getattr(spec, field)
        claim(isinstance(text, str) and text.strip(), f"{whose}: it does not say its {field}")
    for file in spec.files:
        path = PurePosixPath(file)
        claim(
            not path.is_absolute() and ".." not in path.parts,
            f"{whose}: its file {file!r} is not below the data root",
        )
    claim(
        spec.scaling in get_args(Scaling),
        f"{whose}: its scaling is {spec.scaling!r}; allowed: {', '.join(get_args(Scaling))}",
    )
    with works(f"{whose}: its space is unknown"):
        get_space(spec.space)


def _check_sizes(spec: DatasetSpec, whose: str) -> None:
    """Check that what is stated goes together; what is not is assumed elsewhere."""
    for field in _SIZES:
        value = getattr(spec, field)
        claim(
            value is None or (type(value) is int and value > 0),
            f"{whose}: {field} is {value!r}; it must be a whole number from 1 up, or None",
        )
    least = _METRICS[spec.metric]
    claim(
        spec.num_classes is None or spec.num_classes >= least,
        f"{whose}: num_classes is {spec.num_classes}; {spec.metric} takes at least {least}",
    )
    size = spec.size
    claim(
        size.trained <= size.labelled <= size.nodes,
        f"{whose}: {size.trained} training nodes, {size.labelled} labelled ones and {size.nodes} "
        "nodes can't all be true",
    )
    claim(size.edges <= size.nodes**2, f"{whose}: {size.edges} edges are more than pairs of nodes")
    claim(
        size.nonzeros <= size.nodes * size.features,
        f"{whose}: {size.nonzeros} entries are more than its features have",
    )


def _check_graph(spec: DatasetSpec, graph: Graph, whose: str) -> None:
    """Check the loaded graph against what is stated of it."""
    x = graph.x
    masks = (graph.train_mask, graph.valid_mask, graph.test_mask)
    found = {
        "num_nodes": graph.num_nodes,
        "num_edges": graph.num_edges,
        "num_features": graph.num_features,
        "nonzeros": int((x.values() if x.is_sparse_csr else x).count_nonzero()),
        "num_classes": graph.num_classes,
        "trained": int(graph.train_mask.sum()),
        "labelled": int(sum(mask.sum() for mask in masks)),
    }
    claim(graph.name == spec.name, f"{whose}: the loaded graph is called {graph.name!r}")
    for field, value in found.items():
        stated = getattr(spec, field)
        claim(
            stated in (None, value),
            f"{whose}: its spec states {field}={stated}, the loaded graph has {value}",
        )
    # A dataset that is published as a bare function states nothing of these two either.
    for field in ("metric", "split") if spec.num_nodes is not None else ():
        stated, value = getattr(spec, field), getattr(graph, field)
        claim(
            stated == value,
            f"{whose}: its spec states the {field} {stated!r}, the loaded graph has {value!r}",
        )


def _check_labels(graph: Graph, whose: str) -> None:
    masks = {name: getattr(graph, name) for name in ("train_mask", "valid_mask", "test_mask")}
    for (name, first), (other, second) in itertools.combinations(masks.items(), 2):
        both = int((first & second).sum())
        claim(not both, f"{whose}: {both} nodes are in {name} and in {other}")
    highest = graph.num_classes - 1 if graph.metric == "accuracy" else 1
    for name, mask in masks.items():
        labels = graph.y[mask]
        claim(
            bool(((labels >= 0) & (labels <= highest)).all()),
            f"{whose}: a label of {name} is not from 0 to {highest}",
        )
