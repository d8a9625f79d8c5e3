"""Which datasets exist: what is known of each without its files, and how it is loaded.

A dataset of your own is one function. Publish it as an entry point::

    [project.entry-points."graphtab.datasets"]
    mine = "my_package:load_mine"      # def load_mine(root: Path) -> Graph

or, to state its facts beforehand, publish a function that returns a :class:`DatasetSpec`, or a
:class:`DatasetSpec` itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from benchbuild.datasets.graph import Graph
from benchbuild.errors import DatasetError, UnknownDatasetError

ENTRY_POINT_GROUP = "graphtab.datasets"
ROOT_VARIABLE = "GRAPHTAB_DATA"

Loader = Callable[[Path], Graph]


@dataclass(frozen=True)
class DatasetSpec:
    """What is known of a dataset without having it.

    Attributes:
        name: Name it is asked for by, parameters included.
        num_nodes: Number of nodes that are used.
        num_features: Number of features per node.
        num_classes: Number of classes, or of tasks.
        metric: "accuracy" or "rocauc".
        split: How train, validation and test nodes are chosen.
        licence: Licence as its source states it.
        source: Where it comes from.
        files: Files it is read from, relative to the data root; none if it is embedded.
        loader: Reads it from a data root.
    """

    name: str
    num_nodes: int | None
    num_features: int | None
    num_classes: int | None
    metric: str
    split: str
    licence: str
    source: str
    files: tuple[str, ...]
    loader: Loader

    def on_disk(self, root: Path | str | None = None) -> bool:
        """Whether it can be loaded without a download."""
        base = data_root(root)
        return all((base / file).exists() for file in self.files)


SpecFactory = Callable[[Mapping[str, str]], DatasetSpec]
"""Makes the spec of a dataset from the parameters in its name."""


def fixed(spec: DatasetSpec) -> SpecFactory:
    """The factory of a dataset that takes no parameters."""

    def make(parameters: Mapping[str, str]) -> DatasetSpec:
        if parameters:
            raise DatasetError(f"dataset {spec.name!r} takes no parameters, got {dict(parameters)}")
        return spec

    return make


def data_root(root: Path | str | None = None) -> Path:
    """The folder datasets are read from and downloaded to.

    Args:
        root: The folder itself; if None, the environment variable GRAPHTAB_DATA; if that is
            unset too, ``graphtab/data`` in the user's cache folder.
    """
    if root is not None:
        return Path(root).expanduser()
    if os.environ.get(ROOT_VARIABLE):
        return Path(os.environ[ROOT_VARIABLE]).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "graphtab" / "data"


def parse_name(name: str) -> tuple[str, dict[str, str]]:
    """Splits ``csbm:nodes=2000,classes=5`` into the base name and its parameters.

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


def builtin_factories() -> dict[str, SpecFactory]:
    """The datasets that come with benchbuild, by name."""
    from benchbuild.datasets import citation, embedded, gnn_benchmark, hetero, inductive, ogb

    factories: dict[str, SpecFactory] = {}
    for family in (citation, gnn_benchmark, ogb, hetero, inductive, embedded):
        factories.update(family.FACTORIES)
    return factories


def plugin_factories() -> dict[str, SpecFactory]:
    """The datasets that installed packages publish as entry points, by name."""
    return {
        point.name: _plugin(point.name, point.load)
        for point in entry_points(group=ENTRY_POINT_GROUP)
    }


def _plugin(name: str, load: Callable[[], object]) -> SpecFactory:
    def make(parameters: Mapping[str, str]) -> DatasetSpec:
        published = load()
        if isinstance(published, DatasetSpec):
            return fixed(published)(parameters)
        if not callable(published):
            raise DatasetError(
                f"entry point {name!r} in {ENTRY_POINT_GROUP!r} is neither a function nor a "
                f"DatasetSpec but {type(published).__name__}"
            )
        return fixed(_spec_of_function(name, published))(parameters)

    return make


def _spec_of_function(name: str, function: Loader) -> DatasetSpec:
    return DatasetSpec(
        name=name,
        num_nodes=None,
        num_features=None,
        num_classes=None,
        metric="accuracy",
        split="the dataset's own",
        licence="not stated",
        source=f"{function.__module__}.{getattr(function, '__qualname__', repr(function))}",
        files=(),
        loader=function,
    )


def _factories() -> dict[str, SpecFactory]:
    return {**plugin_factories(), **builtin_factories()}


def dataset_names() -> list[str]:
    """Names of all datasets, the built-in ones first."""
    return list(dict.fromkeys([*builtin_factories(), *plugin_factories()]))


def dataset_spec(name: str) -> DatasetSpec:
    """What is known of a dataset without its files.

    Raises:
        UnknownDatasetError: If there is no such dataset.
        DatasetError: If its parameters are wrong.
    """
    base, parameters = parse_name(name)
    factories = _factories()
    if base not in factories:
        raise UnknownDatasetError(base, factories)
    return factories[base](parameters)


def load(name: str, root: Path | str | None = None) -> Graph:
    """Loads a dataset, downloading it first where that is possible.

    Args:
        name: Its name, as in :func:`dataset_names`, with parameters if it has some.
        root: Data root; see :func:`data_root`. It may be read-only if the files are there.

    Raises:
        UnknownDatasetError: If there is no such dataset.
        DatasetMissingError: If its files are neither on disk nor to be had.
    """
    return dataset_spec(name).loader(data_root(root))
