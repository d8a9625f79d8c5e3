"""The reproduction ledger: what is printed, what the released code gives, what is right.

A line is a method, a size and a model. It is put together from the rows of a table: those of
protocol ``as-released``, those of protocol ``corrected`` with the settings of this project, and the
figure that the paper prints.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import Any

from benchquery.kinds.condensed.config import PROTOCOLS, changed_values
from benchquery.kinds.condensed.faults import faults_of
from benchquery.kinds.condensed.published import mean_accuracy
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.record import Record

CORRECTED, RELEASED = PROTOCOLS


@dataclass(frozen=True)
class Entry:
    """A line of the ledger; figures are percent, and NaN where there is none.

    Attributes:
        method: The method.
        size: The size, by ratio or a class.
        model: The model that judged.
        printed: What the paper prints.
        released: What the released code gives, the mean over condensation seeds.
        corrected: What it gives without its faults.
        faults: Numbers of what is wrong with the released code, see
            `benchquery.kinds.condensed.faults`.
        evaluation: The settings by which `released` was judged where they are not this project's.
    """

    method: str
    size: float
    model: str
    printed: float = nan
    released: float = nan
    corrected: float = nan
    faults: tuple[str, ...] = ()
    evaluation: tuple[tuple[str, Any], ...] = ()


def ledger(table: CondensedTable) -> list[Entry]:
    """Return the ledger of a table, in the order of methods, models and sizes.

    What is corrected has the method's own settings and the usual evaluation: controls and trials
    with other settings are no part of it.
    """
    from benchquery.kinds.condensed.analysis import in_order

    means = table.mean(over="seed")
    found: dict[tuple[str, str, float], Entry] = {}
    for mean in means:
        if not _belongs(table, mean):
            continue
        place = mean["method"], mean["model"], mean[table.size]
        entry = found.get(place) or _empty(table, mean)
        found[place] = replace(entry, **_figures(mean))
    methods = in_order({method for method, _, _ in found})
    return [found[place] for place in sorted(found, key=lambda at: (methods.index(at[0]), *at[1:]))]


def _belongs(table: CondensedTable, mean: Record) -> bool:
    """Say whether a mean over seeds is part of the ledger."""
    if mean["protocol"] == RELEASED:
        return True
    spec = table.domain.methods.get(mean["method"])
    begins = None if spec is None else (spec.init, spec.backbone)
    changed = mean["hyperparameters"] or changed_values(mean["evaluation_text"])
    return not changed and begins in {None, (mean["init"], mean["backbone"])}


def _empty(table: CondensedTable, mean: Record) -> Entry:
    figure = mean_accuracy(mean)
    printed = nan if figure is None or figure.percent is None else figure.percent
    faults = faults_of(table.domain.name, mean["method"])
    return Entry(mean["method"], mean[table.size], mean["model"], printed, faults=faults)


def _figures(mean: Record) -> dict[str, Any]:
    """Return what a mean over seeds adds to its line."""
    if mean["protocol"] == CORRECTED:
        return {"corrected": 100 * mean["perf"]}
    changed = tuple(changed_values(mean["evaluation_text"]).items())
    return {"released": 100 * mean["perf"], "evaluation": changed}
