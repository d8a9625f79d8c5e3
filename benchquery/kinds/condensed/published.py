"""What others published on condensed data: result tables of GC-Bench and DC-Bench, as printed.

The figures are typed over from the papers; the ``README.md`` beside them says what could not be
read. They are references to compare with, and never part of a table that was measured.
"""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from benchquery.errors import CorruptTableError, QueryError, UnknownNameError
from benchquery.kinds.condensed.config import CondenseConfig, changed_values
from benchquery.kinds.condensed.domains import DOMAINS
from benchquery.kinds.condensed.domains.graphs import GRAPHS
from benchquery.kinds.condensed.domains.images import IMAGES
from benchquery.kinds.condensed.domains.nodes import NODES
from benchquery.kinds.condensed.domains.spec import NONE
from benchquery.table.store import BUNDLED

SOURCE = "Sun et al., GC-Bench: An Open and Unified Benchmark for Graph Condensation"
WHOLE = "whole"
"""The method of figures that are of the whole graph."""
SGD = "sgd"
"""The optimiser of most figures of images."""

_PERCENT: Mapping[str | None, float] = {"percent": 1.0, "fraction": 100.0}
GRAPHS_PAPER, IMAGES_PAPER = "gc-bench", "dc-bench"
SOURCES: Mapping[str, str] = {
    GRAPHS_PAPER: SOURCE,
    IMAGES_PAPER: "Cui et al., DC-BENCH: Dataset Condensation Benchmark",
}
"""The papers by the names of their folders."""
_PREFIX = "table-"
_BY_MODEL: Mapping[str, str] = {"gin": "3", "gcn": "b3"}
"""The tables of sets of graphs by the model that judged them."""
_ACCURACIES: Mapping[str, tuple[str, ...]] = {
    GRAPHS_PAPER: ("2", *_BY_MODEL.values()),
    IMAGES_PAPER: ("4", "6", "5"),
}
"""The tables of each paper that say how well a model does which was trained on condensed data."""
_METRICS = ("accuracy", "roc-auc")
_PAPERS_NAME: Mapping[str, str] = {"kidd-lr": "kidd"}
"""What the paper calls methods that have another name here."""


@dataclasses.dataclass(frozen=True)
class Published:
    """A figure of the paper. What its table does not say is None.

    Attributes:
        table: The table of the paper, for example ``2`` or ``b11``.
        dataset: The dataset.
        method: The condensation method; ``whole`` for training on all of the dataset.
        ratio: The size of the condensed graph relative to the dataset.
        graphs_per_class: Graphs of each class in a condensed set of graphs.
        model: What was trained on the condensed graph.
        init: What the synthetic features began as.
        task: The task.
        setting: Transductive or inductive.
        level: Whether the dataset is one graph or many.
        labelled_share: Nodes of the condensed graph relative to the labelled ones.
        metric: What the figure is.
        unit: The unit of the figure.
        mean: The figure; None where the paper has none, or it can't be read.
        std: Its standard deviation.
        note: Why there is no figure, or what to know of it.
        images_per_class: Images of each class in a condensed set of images.
        augmentation: How images were augmented where a network learnt on them.
        embedding: What images were compared by.
        optimizer: What a network learnt with.
        paper: The paper, a name in `SOURCES`.
    """

    table: str
    dataset: str
    method: str | None = None
    ratio: float | None = None
    graphs_per_class: int | None = None
    model: str | None = None
    init: str | None = None
    task: str | None = None
    setting: str | None = None
    level: str | None = None
    labelled_share: float | None = None
    metric: str | None = None
    unit: str | None = None
    mean: float | None = None
    std: float | None = None
    note: str | None = None
    images_per_class: int | None = None
    augmentation: str | None = None
    embedding: str | None = None
    optimizer: str | None = None
    paper: str = GRAPHS_PAPER

    @property
    def per_class(self) -> int | None:
        """Items of each class in a condensed set, graphs or images."""
        return self.graphs_per_class or self.images_per_class

    @property
    def percent(self) -> float | None:
        """The mean in percent, for figures that are shares."""
        return None if self.mean is None else self.mean * _PERCENT[self.unit]

    @property
    def percent_std(self) -> float | None:
        """The standard deviation in percent, for figures that are shares."""
        return None if self.std is None else self.std * _PERCENT[self.unit]

    @property
    def source(self) -> str:
        """Where the figure is from."""
        return f"{SOURCES[self.paper]}, Table {self.table.upper()}"


_NUMBERS: dict[str, Callable[[str], float]] = {
    "ratio": float,
    "graphs_per_class": int,
    "images_per_class": int,
    "labelled_share": float,
    "mean": float,
    "std": float,
}


def published_tables(paper: str = GRAPHS_PAPER) -> tuple[str, ...]:
    """Return the names of a paper's tables that are here."""
    files = (BUNDLED / paper).glob("*.csv")
    return tuple(sorted(path.stem.removeprefix(_PREFIX) for path in files))


def published(table: str, paper: str = GRAPHS_PAPER, /, **equals: object) -> tuple[Published, ...]:
    """Return the figures of one of a paper's tables.

    Args:
        table: Its name, for example ``2`` or ``b11``.
        paper: The paper, a name in `SOURCES`.
        equals: Attributes of `Published` that must equal a value.

    Raises:
        UnknownNameError: If there is no such table.
        QueryError: If figures have no such attribute.
        CorruptTableError: If the file can't be read.
    """
    if paper not in SOURCES or table not in published_tables(paper):
        known = published_tables(paper) if paper in SOURCES else SOURCES
        raise UnknownNameError(
            f"there is no published table {table!r}; there are {', '.join(known)}"
        )
    fields = [field.name for field in dataclasses.fields(Published)]
    if unknown := equals.keys() - set(fields):
        raise QueryError(f"figures have no {', '.join(sorted(unknown))}; they have {fields}")
    return tuple(
        figure
        for figure in _read(BUNDLED / paper / f"{_PREFIX}{table}.csv")
        if all(getattr(figure, name) == value for name, value in equals.items())
    )


def accuracies(dataset: str) -> tuple[Published, ...]:
    """Return all that is printed of models trained on condensed data of a dataset; none if nothing.

    Args:
        dataset: Its name here.
    """
    return tuple(
        figure
        for paper, tables in _ACCURACIES.items()
        for table in tables
        for figure in published(table, paper, dataset=dataset)
        if figure.mean is not None and figure.metric in _METRICS
    )


@cache
def _read(path: Path) -> tuple[Published, ...]:
    """Read a file of figures."""
    table = path.stem.removeprefix(_PREFIX)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return tuple(
                Published(
                    table=table,
                    paper=path.parent.name,
                    **{
                        name: _NUMBERS.get(name, str)(text) if text else None
                        for name, text in row.items()
                    },  # type: ignore[arg-type]
                )
                for row in csv.DictReader(file, strict=True)
            )
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise CorruptTableError(f"{path} is no file of published figures: {error}") from error


def paper_accuracy(
    config: CondenseConfig,
    model: str,
    task: str = NODES.task,
    augmentation: str = NONE,
    optimizer: str = SGD,
) -> Published | None:
    """Return what the paper says of condensed data: how well a model trained on it does.

    Of one graph, Table 2 has every method with its usual initialisation and GCN, Tables B11 and B12
    have other initialisations, Table B10 has other models and Table B5 link prediction. Of sets of
    graphs, Table 3 has every method with GIN and Table B3 with GCN. Of sets of images, DC-Bench's
    Table 4 has the ConvNet with every augmentation, Table 6 that of larger sets, Table 5 other
    networks and Table 7 another optimiser. None where the paper has no such figure.

    Args:
        config: How it was condensed; hyper-parameters other than the paper's are not looked at.
        model: What was trained on the condensed data.
        task: To do what.
        augmentation: How images were augmented where the model learnt on them.
        optimizer: What it learnt on them with.
    """
    if config.domain is IMAGES:
        return _image_accuracy(config, model, augmentation, optimizer)
    if config.domain is GRAPHS:
        found = published(
            _BY_MODEL.get(model, "3"),
            dataset=config.dataset,
            method=_PAPERS_NAME.get(config.method, config.method),
            graphs_per_class=config["per_class"],
            model=model,
        )
        return next((figure for figure in found if figure.mean is not None), None)
    return _node_accuracy(config, model, task)


def _image_accuracy(
    config: CondenseConfig, model: str, augmentation: str, optimizer: str
) -> Published | None:
    """Return the figure of DC-Bench that is of the same network, augmentation and optimiser."""
    same: dict[str, object] = {
        "dataset": config.dataset,
        "method": config.method,
        "model": model,
        "images_per_class": config["per_class"],
        "augmentation": augmentation,
    }
    if optimizer == SGD:
        found = [one for table in ("4", "6", "5") for one in published(table, IMAGES_PAPER, **same)]
    else:
        found = list(published("7", IMAGES_PAPER, **same, optimizer=optimizer))
    return next((figure for figure in found if figure.mean is not None), None)


def _node_accuracy(config: CondenseConfig, model: str, task: str) -> Published | None:
    usual = CondenseConfig(config.dataset, config.method, config.ratio)
    backbones = {usual.backbone, config.spec.backbone}
    if config["ratio_of"] != "nodes" or config.backbone not in backbones:
        return None
    same = {"dataset": config.dataset, "method": config.method, "ratio": config.ratio}
    found: tuple[Published, ...] = ()
    if task != NODES.task:
        if model == "gcn" and config.init == usual.init:
            found = published("b5", **same, task=task)
    elif config.init != usual.init and model == "gcn":
        found = (*published("b11", **same, init=config.init),
                 *published("b12", **same, init=config.init))  # fmt: skip
    elif model != "gcn":
        found = published("b10", **same, model=model)
    else:
        found = published("2", **same, metric="accuracy")
    return next((figure for figure in found if figure.mean is not None), None)


def mean_accuracy(mean: Mapping[str, Any]) -> Published | None:
    """Return what the paper says of a record, or of a mean over condensation seeds."""
    domain = DOMAINS[mean.get("domain", NODES.name)]
    if mean["method"] not in domain.methods:
        return None
    names = ["method", "init", "backbone", "ratio", "ratio_of", "per_class"]
    if not domain.methods[mean["method"]].unreleased:
        names.append("protocol")
    config = CondenseConfig(
        mean["dataset"],
        domain=domain.name,
        **{name: mean[name] for name in names if name in mean},
    )
    judged = changed_values(mean["evaluation_text"])
    optimizer = str(judged.get("optimizer", SGD))
    return paper_accuracy(
        config, mean["model"], mean["task"], augmentation_of(mean["evaluation_text"]), optimizer
    )


def augmentation_of(evaluation: str) -> str:
    """Return how images were augmented in an evaluation, given its text."""
    return str(changed_values(evaluation).get("augmentation", NONE))


def whole_accuracy(
    dataset: str, model: str, task: str = NODES.task, augmentation: str = NONE
) -> Published | None:
    """Return the paper's accuracy of a model that was trained on all of a dataset."""
    if task == IMAGES.task:
        same = {"dataset": dataset, "model": model, "augmentation": augmentation}
        found = published("1", IMAGES_PAPER, **same, method=WHOLE)
    elif task == GRAPHS.task:
        found = published(_BY_MODEL.get(model, "3"), dataset=dataset, method=WHOLE, model=model)
    elif task != NODES.task:
        return None
    elif model == "gcn":
        found = published("2", dataset=dataset, method=WHOLE, metric="accuracy")
    else:
        found = published("b10", dataset=dataset, method=WHOLE, model=model)
    return next(iter(found), None)
