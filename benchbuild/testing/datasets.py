"""What a dataset must be: its facts, and the graph, graphs or images that it is loaded into."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, get_args

from benchbuild.datasets.registry import dataset_names, dataset_spec, load_data, parse_name
from benchbuild.datasets.size import GraphSize
from benchbuild.datasets.spec import SORTS, DatasetSpec, Scaling
from benchquery.kinds.architectures.space import get_space
from benchquery.testing.claims import claim, works

if TYPE_CHECKING:
    from benchbuild.datasets.graph import Graph
    from benchbuild.datasets.graphset import GraphSet
    from benchbuild.datasets.images.image_set import ImageSet

_SIZES = (
    "num_nodes", "num_edges", "num_features", "nonzeros", "num_classes", "trained", "labelled",
    "num_items",
)  # fmt: skip
_METRICS = {"accuracy": 2, "rocauc": 1}
"""By metric: how many classes, or tasks, there are at least."""


def check_dataset(name: str, root: str | os.PathLike[str] | None = None) -> None:
    """Check a dataset.

    What is known of it without its files makes sense. If its files are there, or it needs none, it
    is loaded twice: both times it is the same data, of the sort, sizes, metric and split that are
    stated, with labels in their range and nothing in two parts of the split. Nothing is
    downloaded.

    Args:
        name: Its name, with parameters if it has some.
        root: Folder of the datasets; None for the default.

    Raises:
        AssertionError: If something is wrong; the message names it.
    """
    from benchbuild.datasets.graph import Graph
    from benchbuild.datasets.graphset import GraphSet

    whose = f"dataset {name!r}"
    with works(f"{whose}: what is known of it can't be had"):
        spec = dataset_spec(name)
    _check_names(spec, whose)
    _check_sizes(spec, whose)
    if not spec.on_disk(None if root is None else Path(root)):
        return
    with works(f"{whose} can't be loaded"):
        data, again = (load_data(name, None if root is None else Path(root)) for _ in range(2))
    claim(
        data.checksum == again.checksum,
        f"{whose}: loaded twice, it is not the same {_what(spec)}; draw from a fixed seed",
    )
    claim(data.sort == spec.sort, f"{whose}: it is stated as {spec.sort!r} and is {data.sort!r}")
    if isinstance(data, Graph):
        _check_found(spec, data, _found_in_graph(data), whose)
        _check_labels(data, whose)
    elif isinstance(data, GraphSet):
        _check_found(spec, data, _found_in_graphs(data), whose)
    else:
        _check_found(spec, data, _found_in_images(data), whose)


def _what(spec: DatasetSpec) -> str:
    return "graph" if spec.sort == "nodes" else "set"


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
    claim(spec.sort in SORTS, f"{whose}: its sort is {spec.sort!r}; allowed: {', '.join(SORTS)}")
    for file in (*spec.files, *itertools.chain(*spec.instead)):
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
    if spec.sort == "nodes":
        _check_graph_size(spec.size, whose)


def _check_graph_size(size: GraphSize, whose: str) -> None:
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


def _found_in_graph(graph: Graph) -> dict[str, int]:
    """Return the sizes of a graph by the names that a spec states them by."""
    x = graph.x
    masks = (graph.train_mask, graph.valid_mask, graph.test_mask)
    return {
        "num_nodes": graph.num_nodes,
        "num_edges": graph.num_edges,
        "num_features": graph.num_features,
        "nonzeros": int((x.values() if x.is_sparse_csr else x).count_nonzero()),
        "num_classes": graph.num_classes,
        "trained": int(graph.train_mask.sum()),
        "labelled": int(sum(mask.sum() for mask in masks)),
    }


def _found_in_graphs(data: GraphSet) -> dict[str, int]:
    """Return the sizes of a set of graphs, which has checked itself."""
    return {
        "num_items": len(data.graphs),
        "num_nodes": data.graphs.num_nodes,
        "num_edges": data.graphs.num_edges,
        "num_features": data.num_features,
        "nonzeros": int(data.graphs.x.count_nonzero()),
        "num_classes": data.num_classes,
        "trained": len(data.train),
        "labelled": len(data.train) + len(data.valid) + len(data.test),
    }


def _found_in_images(images: ImageSet) -> dict[str, int]:
    """Return the sizes of a set of images, which has checked itself."""
    parts = (images.train_index, images.valid_index, images.test_index)
    return {
        "num_items": images.num_images,
        "num_features": images.num_features,
        "num_classes": images.num_classes,
        "trained": len(images.train_index),
        "labelled": sum(map(len, parts)),
    }


def _check_found(
    spec: DatasetSpec,
    data: Graph | GraphSet | ImageSet,
    found: Mapping[str, int],
    whose: str,
) -> None:
    """Check what was loaded against what is stated of it."""
    what = _what(spec)
    claim(data.name == spec.name, f"{whose}: the loaded {what} is called {data.name!r}")
    for field, value in found.items():
        stated = getattr(spec, field)
        claim(
            stated in (None, value),
            f"{whose}: its spec states {field}={stated}, the loaded {what} has {value}",
        )
    # A dataset that is published as a bare function states nothing of these two either.
    for field in ("metric", "split") if spec.num_classes is not None else ():
        stated, value = getattr(spec, field), getattr(data, field)
        claim(
            stated == value,
            f"{whose}: its spec states the {field} {stated!r}, the loaded {what} has {value!r}",
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
