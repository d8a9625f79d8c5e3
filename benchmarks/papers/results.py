"""Figures of condensed data in one form, whether a paper printed them or we measured them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

import benchquery
from benchquery.analysis.known import known_part
from benchquery.kinds.condensed.analysis import by_named_models, is_beginning, usual_means
from benchquery.kinds.condensed.config import changed_values
from benchquery.kinds.condensed.published import (
    IMAGES_PAPER,
    WHOLE,
    Published,
    augmentation_of,
    published,
)
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.record import Record
from benchquery.table.store import tables

Cells = Mapping[tuple[str, float, str], float]
"""By method, size and model, the mean test figure over condensation seeds, in percent."""

CORESETS = ("random", "herding", "k-center")
RAW = "k-center raw"
KIDD = ("kidd", "kidd-lr", "kidd-d")
"""KiDD as the paper calls it, and its two variants as they are called here."""


@dataclass(frozen=True)
class Results:
    """What is known of one dataset.

    Attributes:
        name: The dataset, or the table.
        cells: Figures of condensed data.
        full: Figures of the whole dataset by model.
    """

    name: str
    cells: Cells
    full: Mapping[str, float]

    def sizes(self, model: str | None = None) -> list[tuple[float, str]]:
        """Return the sizes that a model judged, the smallest first."""
        return sorted({(s, o) for _, s, o in self.cells if model in (None, o)})

    def at(self, size: float, model: str, methods: Iterable[str] | None = None) -> dict[str, float]:
        """Return the methods at one size, judged by one model."""
        chosen = None if methods is None else set(methods)
        return {
            m: v
            for (m, s, o), v in self.cells.items()
            if (s, o) == (size, model) and (chosen is None or m in chosen)
        }

    def over_sizes(self, method: str, model: str) -> dict[float, float]:
        """Return one method at all sizes, the smallest first."""
        return {
            s: self.cells[m, s, o] for m, s, o in sorted(self.cells) if (m, o) == (method, model)
        }

    def best(self, methods: Iterable[str], model: str) -> float | None:
        """Return the best of some methods over all sizes."""
        chosen = set(methods)
        found = [v for (m, _, o), v in self.cells.items() if o == model and m in chosen]
        return max(found, default=None)

    def others(self, *methods: str) -> set[str]:
        """Return the methods that are not among some."""
        return {method for method, _, _ in self.cells} - set(methods)

    def lead(
        self, size: float, model: str, ours: Iterable[str], theirs: Iterable[str]
    ) -> float | None:
        """Return by how much the best of some methods is above the best of others."""
        one, other = self.at(size, model, ours), self.at(size, model, theirs)
        return max(one.values()) - max(other.values()) if one and other else None


def leads(
    results: Sequence[Results],
    ours: Sequence[str],
    theirs: Sequence[str] | None,
    model: str | None,
    where: Callable[[float], bool] = lambda size: True,
) -> list[float]:
    """Return by how much some methods lead others at every size; None are all others."""
    found = [
        one.lead(size, judge, ours, one.others(*ours) if theirs is None else theirs)
        for one in results
        for size, judge in one.sizes(model)
        if where(size)
    ]
    return [lead for lead in found if lead is not None]


@cache
def condensed(domain: str) -> Mapping[str, CondensedTable]:
    """Return the rows of the usual task of each table of one domain, by the table's name.

    Rows of other protocols, such as those that follow released code, are left out, and so are
    tables that say only what other models make of the graphs of another table.
    """
    found = {}
    for info in tables():
        if info.kind == "condensed":
            table = benchquery.open(info.name)
            if table.domain.name == domain:
                usual = table.where(task=table.domain.task, protocol="corrected")
                if len(usual.where(model=table.domain.model)):
                    found[info.name] = usual
    return found


def taught(table: CondensedTable) -> list[Record]:
    """Return the rows of a table but those of what a method begins with, before it learns."""
    return [
        record
        for record in table.records()
        if changed_values(record["config_text"]).get("epochs") != 0
    ]


def measured(domain: str) -> list[Results]:
    """Return what was measured here, each method in its usual way."""
    found = []
    for name, table in condensed(domain).items():
        models = sorted(set(known_part(table, "perf").column("model").tolist()))
        means = [
            mean
            for one in models
            for of_method in usual_means(table, one).values()
            for mean in of_method
        ]
        cells = {
            (mean["method"], float(mean[table.size]), mean["model"]): 100 * float(mean["perf"])
            for mean in means
        }
        found.append(Results(name, cells, full_figures(means)))
    return found


def full_figures(means: Iterable[Record]) -> dict[str, float]:
    """Return the figures of the whole dataset that some are compared with, by model."""
    found: dict[str, list[float]] = {}
    for mean in means:
        if np.isfinite(mean["full_perf"]):
            found.setdefault(mean["model"], []).append(100 * float(mean["full_perf"]))
    return {model: float(np.mean(figures)) for model, figures in found.items()}


def measured_images(augmentation: str = "none") -> list[Results]:
    """Return sets of images, whatever the settings. K-Center by raw pixels is its own method.

    What methods begin with is none of theirs.
    """
    found = []
    for name, table in condensed("images").items():
        values: dict[tuple[str, float, str], list[float]] = {}
        alike = []
        for mean in by_named_models(known_part(table, "perf")).mean(over="seed"):
            same = augmentation_of(mean["evaluation_text"]) == augmentation
            if same and not is_beginning(mean):
                raw = mean["hyperparameters"].get("embedding") == "raw"
                cell = (RAW if raw else mean["method"], float(mean[table.size]), mean["model"])
                values.setdefault(cell, []).append(100 * float(mean["perf"]))
                alike.append(mean)
        cells = {cell: float(np.mean(figures)) for cell, figures in values.items()}
        found.append(Results(name, cells, full_figures(alike)))
    return found


def printed(
    figures: Iterable[Published], size: Callable[[Published], float | None], model: str
) -> list[Results]:
    """Return figures of a paper by dataset; `model` judged where they name none."""
    cells: dict[str, dict[tuple[str, float, str], float]] = {}
    full: dict[str, dict[str, float]] = {}
    for one in figures:
        if one.method is None or one.percent is None:
            continue
        judge = one.model or model
        if one.method == WHOLE:
            full.setdefault(one.dataset, {})[judge] = one.percent
        else:
            cells.setdefault(one.dataset, {})[one.method, float(size(one) or 0), judge] = (
                one.percent
            )
    return [Results(name, known, full.get(name, {})) for name, known in cells.items()]


@cache
def printed_nodes(table: str = "2") -> Sequence[Results]:
    """Return a table of single graphs."""
    found = [one for one in published(table) if one.metric == "accuracy"]
    return printed(found, lambda one: one.ratio, "gcn")


@cache
def printed_graphs() -> Sequence[Results]:
    """Return Tables 3 and B3: sets of graphs by GIN and by GCN."""
    return printed((*published("3"), *published("b3")), lambda one: one.graphs_per_class, "gin")


@cache
def printed_images(table: str = "4", augmentation: str | None = "none") -> Sequence[Results]:
    """Return a table of DC-Bench, of one augmentation; None for all that it has."""
    equals = {} if augmentation is None else {"augmentation": augmentation}
    found = published(table, IMAGES_PAPER, **equals)
    return printed(found, lambda one: one.images_per_class, "convnet")
