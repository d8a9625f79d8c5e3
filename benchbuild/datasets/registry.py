"""Which datasets exist: what is known of each without its files, and how it is loaded.

A dataset of your own is one function. Publish it as an entry point::

    [project.entry-points."graphtab.datasets"]
    mine = "my_package:load_mine"    # def load_mine(root: Path) -> Graph, GraphSet or ImageSet

or, to state its facts beforehand, publish a :class:`DatasetSpec`. docs/adding-a-dataset.md shows
both.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchbuild.datasets import (
    citation,
    embedded,
    gnn_benchmark,
    hetero,
    inductive,
    motifs,
    ogb,
    ogbg,
    tu,
)
from benchbuild.datasets.images import cifar, digits, mnist, own, tiny_imagenet
from benchbuild.datasets.root import data_root
from benchbuild.datasets.spec import SORTS, DatasetSpec, Loader, SpecFactory, fixed
from benchbuild.errors import BenchBuildError, DatasetError, UnknownDatasetError
from benchbuild.hyperparameters import HyperParameters
from benchquery.naming import DATASET_ALIASES, match_name

if TYPE_CHECKING:
    from benchbuild.datasets.graph import Graph
    from benchbuild.datasets.graphset import GraphSet
    from benchbuild.datasets.images.image_set import ImageSet

ENTRY_POINT_GROUP = "graphtab.datasets"
_SORT_OF = {"GraphSet": "graphs", "ImageSet": "images"}
"""The sort of data by what a function says that it returns; that of one graph for all else."""


def parse_name(name: str) -> tuple[str, dict[str, str]]:
    """Split ``csbm:nodes=2000,classes=5`` into the base name and its parameters.

    Raises:
        DatasetError: If the part after the colon is not a list of ``name=value``.
    """
    base, colon, rest = name.partition(":")
    parameters: dict[str, str] = {}
    for item in rest.split(",") if colon else ():
        key, equals, value = (part.strip() for part in item.partition("="))
        if not (key and equals and value) or key in parameters:
            raise DatasetError(
                f"dataset {name!r}: {item!r} must be name=value, each name once, "
                "as in csbm:nodes=2000,classes=5"
            )
        parameters[key] = value
    return base, parameters


@cache
def builtin_factories() -> Mapping[str, SpecFactory]:
    """Return the datasets that come with benchbuild, by name; torch is not needed for that."""
    factories: dict[str, SpecFactory] = {}
    for family in (citation, gnn_benchmark, ogb, hetero, inductive, embedded, tu, ogbg, motifs):
        factories.update(family.FACTORIES)
    for images in (cifar, tiny_imagenet, mnist, digits, own):
        factories.update(images.FACTORIES)
    return MappingProxyType(factories)


def plugin_factories() -> dict[str, SpecFactory]:
    """Return the datasets that installed packages publish as entry points, by name."""
    return {point.name: partial(_plugin, point) for point in entry_points(group=ENTRY_POINT_GROUP)}


def _plugin(point: EntryPoint, parameters: Mapping[str, str]) -> DatasetSpec:
    try:
        published = point.load()
    except Exception as error:
        raise DatasetError(
            f"dataset {point.name!r}: can't import {point.value}: {_told(error)}"
        ) from error
    if isinstance(published, DatasetSpec):
        spec = replace(published, name=point.name)
    elif callable(published):
        spec = _spec_of_function(point, published)
    else:
        raise DatasetError(
            f"dataset {point.name!r}: {point.value} is neither a function nor a DatasetSpec but "
            f"{type(published).__name__}"
        )
    return fixed(replace(spec, loader=partial(_load_plugin, point, spec)))(parameters)


def _spec_of_function(point: EntryPoint, function: Loader) -> DatasetSpec:
    return DatasetSpec(
        name=point.name,
        num_nodes=None,
        num_features=None,
        num_classes=None,
        metric="accuracy",
        split="the dataset's own",
        licence="not stated",
        source=point.value,
        files=(),
        loader=function,
        sort=next((s for end, s in _SORT_OF.items() if _returns(function).endswith(end)), "nodes"),
    )


def _returns(function: Loader) -> str:
    """Return the name of what a function says that it returns; nothing if it does not say."""
    said = getattr(function, "__annotations__", {}).get("return", "")
    return said if isinstance(said, str) else str(getattr(said, "__name__", ""))


def _load_plugin(point: EntryPoint, spec: DatasetSpec, root: Path) -> Graph | GraphSet | ImageSet:
    """Run a loader that is not ours, and see that it gives what it has to."""
    from benchbuild.datasets.graph import Graph
    from benchbuild.datasets.graphset import GraphSet
    from benchbuild.datasets.images.image_set import ImageSet

    data = spec.loader(root)
    if not isinstance(data, Graph | GraphSet | ImageSet):
        raise DatasetError(
            f"dataset {point.name!r}: {point.value} returns {type(data).__name__}, not a "
            "benchbuild.datasets.Graph, GraphSet or ImageSet"
        )
    if data.sort != spec.sort:
        raise DatasetError(
            f"dataset {point.name!r}: {point.value} returns {SORTS[data.sort]}, and is stated to "
            f"be {SORTS[spec.sort]}; annotate the function with what it returns, or state the sort"
        )
    return replace(data, name=point.name)


def _told(error: Exception) -> str:
    """Return an error and the line that raised it: what its author needs to mend it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = "" if last.filename.startswith("<") else f" (line {last.lineno} of {last.filename})"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}{where}"


def dataset_names() -> list[str]:
    """Names of all datasets, the built-in ones first."""
    return list(dict.fromkeys([*builtin_factories(), *plugin_factories()]))


def dataset_spec(name: str) -> DatasetSpec:
    """Return what is known of a dataset without its files.

    Args:
        name: Its name, in any letter case, or what it is called elsewhere, as ``ogbn-arxiv``;
            with parameters if it has some. The spec has the one name that it is called here.

    Raises:
        UnknownDatasetError: If there is no such dataset.
        DatasetError: If its parameters are wrong.
    """
    base, parameters = parse_name(name)
    for known in (builtin_factories, plugin_factories):
        factories = known()
        if found := match_name(base, factories, DATASET_ALIASES):
            return factories[found](parameters)
    raise UnknownDatasetError(base, dataset_names())


def hyperparameters_for(dataset: str) -> HyperParameters:
    """Return the hyper-parameters that a dataset is trained with unless told otherwise.

    Raises:
        UnknownDatasetError: If there is no such dataset.

    Example:
        >>> hyperparameters_for("cora").lr
        0.1
    """
    return dataset_spec(dataset).hyperparameters


def load(name: str, root: Path | str | None = None) -> Graph:
    """Load a graph, downloading it first where that is possible.

    Args:
        name: Its name, as in :func:`dataset_names`, with parameters if it has some.
        root: Data root; see :func:`data_root`. It may be read-only if the files are there.

    Raises:
        UnknownDatasetError: If there is no such dataset.
        DatasetMissingError: If its files are neither on disk nor to be had.
        DatasetError: If it can't be loaded, for example because a file is damaged, or is of
            another sort.
    """
    from benchbuild.datasets.graph import Graph

    dataset_spec(name).require(Graph.sort, "load")
    data = load_data(name, root)
    assert isinstance(data, Graph)
    return data


def load_graphs(name: str, root: Path | str | None = None) -> GraphSet:
    """Load a set of graphs; arguments and errors are those of :func:`load`."""
    from benchbuild.datasets.graphset import GraphSet

    dataset_spec(name).require(GraphSet.sort, "load_graphs")
    data = load_data(name, root)
    assert isinstance(data, GraphSet)
    return data


def load_images(name: str, root: Path | str | None = None) -> ImageSet:
    """Load a set of images; arguments and errors are those of :func:`load`."""
    from benchbuild.datasets.images.image_set import ImageSet

    dataset_spec(name).require(ImageSet.sort, "load_images")
    data = load_data(name, root)
    assert isinstance(data, ImageSet)
    return data


def load_data(name: str, root: Path | str | None = None) -> Graph | GraphSet | ImageSet:
    """Load a dataset of any sort; arguments and errors are those of :func:`load`."""
    spec, folder = dataset_spec(name), data_root(root)
    try:
        return spec.loader(folder)
    except BenchBuildError:
        raise
    except Exception as error:
        where = f", from {folder / Path(spec.files[0]).parent}" if spec.files else ""
        raise DatasetError(f"dataset {name!r} can't be loaded{where}: {_told(error)}") from error
