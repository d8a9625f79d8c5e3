"""The reproduction ledger: what is printed, what the released code gives, what is right.

A line is a method, a size and a model, and what of its published recipe is not the default here. It
is put together from the rows of a table: those of protocol ``as-released``, those of protocol
``corrected`` with the settings of this project, and the figure that the paper prints. Where there
is nothing printed and nothing released, there is no line.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Any

from benchquery.kinds.condensed.config import changed_values
from benchquery.kinds.condensed.domains.spec import AS_RELEASED
from benchquery.kinds.condensed.faults import faults_of
from benchquery.kinds.condensed.published import mean_accuracy
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.record import Record

Settings = tuple[tuple[str, Any], ...]
"""Names and values."""


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
        settings: What `released` began with and its hyper-parameters, where those are not the
            method's own here.
        evaluation: The settings by which `released` was judged where they are not this project's.
        failed: How many runs have no figure, so that neither mean has them.
    """

    method: str
    size: float
    model: str
    printed: float = nan
    released: float = nan
    corrected: float = nan
    faults: tuple[str, ...] = ()
    settings: Settings = ()
    evaluation: Settings = ()
    failed: int = 0


def ledger(table: CondensedTable) -> list[Entry]:
    """Return the ledger of a table at its usual task, in the order of methods, models and sizes.

    What is corrected has the method's own settings and the usual evaluation: controls and trials
    with other settings are no part of it. Of several evaluations of what was released, the one of
    the greatest figure counts: so the authors of KiDD choose between two ways of pooling.
    """
    from benchquery.kinds.condensed.analysis import in_order

    released: dict[tuple[str, str, float], list[Record]] = defaultdict(list)
    corrected: dict[tuple[str, str, float], Record] = {}
    for mean in table.mean(over="seed"):
        if mean["task"] != table.domain.task:
            continue
        place = mean["method"], mean["model"], mean[table.size]
        if mean["protocol"] == AS_RELEASED:
            released[place].append(mean)
        elif _is_usual(table, mean):
            corrected[place] = mean
    methods = in_order({method for method, _, _ in {*released, *corrected}})
    places = sorted({*released, *corrected}, key=lambda at: (methods.index(at[0]), *at[1:]))
    entries = [
        entry
        for place in places
        for entry in _entries(table, released[place], corrected.get(place))
    ]
    return [
        entry
        for entry in entries
        if entry.failed or not (isnan(entry.printed) and isnan(entry.released))
    ]


def _is_usual(table: CondensedTable, mean: Record) -> bool:
    """Say whether a mean over seeds is of a method's own settings and the usual evaluation."""
    spec = table.domain.methods.get(mean["method"])
    begins = None if spec is None else (spec.init, spec.backbone)
    changed = mean["hyperparameters"] or changed_values(mean["evaluation_text"])
    return not changed and begins in {None, (mean["init"], mean["backbone"])}


def _entries(
    table: CondensedTable, released: list[Record], corrected: Record | None
) -> Iterator[Entry]:
    """Make the lines of a method, a size and a model: one for each of the released settings."""
    by_settings: dict[Settings, list[Record]] = defaultdict(list)
    for mean in sorted(released, key=_figure):
        by_settings[_settings(table, mean)].append(mean)
    known = corrected or released[0]
    figure = mean_accuracy(known)
    for settings, means in (by_settings or {(): []}).items():
        judged = [mean for mean in means if mean["count"]]
        best = max(judged, key=lambda mean: mean["perf"], default=None)
        counted = means if corrected is None else [*means, corrected]
        yield Entry(
            known["method"],
            known[table.size],
            known["model"],
            printed=nan if figure is None or figure.percent is None else figure.percent,
            released=nan if best is None else 100 * best["perf"],
            corrected=nan if corrected is None else 100 * corrected["perf"],
            faults=faults_of(table.domain.name, known["method"], known["model"]),
            settings=settings,
            evaluation=() if best is None else _changed(best),
            failed=sum(mean["failed"] for mean in counted),
        )


def _figure(mean: Record) -> float:
    """Return what a mean is sorted by: its figure, and what has none last."""
    return float(mean["perf"]) if mean["count"] else inf


def _settings(table: CondensedTable, mean: Record) -> Settings:
    """Return how something was begun and made, where that is not the method's own way."""
    known = table.domain.methods.get(mean["method"])
    init = mean["init"] if known is None else known.under(mean["protocol"]).init
    begun = () if mean["init"] == init else (("init", mean["init"]),)
    return *begun, *mean["hyperparameters"].items()


def _changed(mean: Record) -> Settings:
    """Return the settings by which something was judged that are not the usual ones."""
    return tuple(changed_values(mean["evaluation_text"]).items())
