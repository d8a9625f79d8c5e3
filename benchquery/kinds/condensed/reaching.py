"""How soon condensations reach an accuracy, by the traces of their snapshots.

What a method begins with changes how long it takes more than where it ends (GC-Bench, Figure 4).
The accuracy is that of validation nodes, since snapshots are judged by no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from benchquery.errors import QueryError
from benchquery.kinds.condensed.config import changed_values
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.record import Record

_TOLD_BY = ("method", "init", "backbone", "protocol")


@dataclass(frozen=True)
class Reached:
    """When the condensations of one way, which differ in their seeds, reached an accuracy.

    Attributes:
        method: The method.
        size: The ratio, or number of a class.
        init: What it began with.
        backbone: What it matched.
        protocol: Whether the published code's faults were kept.
        settings: Hyper-parameters that are not the method's defaults.
        accuracy: The validation metric to be reached.
        best: The mean over seeds of the best one of a snapshot.
        seeds: How many seeds there are.
        reached: How many of them reached it.
        seconds: The mean time of those until then, judging excluded; NaN if none did.
        epochs: The mean number of epochs until then.
    """

    method: str
    size: float
    init: str
    backbone: str
    protocol: str
    settings: dict[str, Any]
    accuracy: float
    best: float
    seeds: int
    reached: int
    seconds: float
    epochs: float


def reaching(table: CondensedTable, accuracy: float | None = None) -> list[Reached]:
    """Say when each way to condense reached an accuracy, the soonest first.

    Args:
        table: Condensations of what is to be compared.
        accuracy: The validation metric to be reached; None for the greatest that all of them do.

    Raises:
        QueryError: If no row has a condensation that was judged more than once on its way.
    """
    groups: dict[tuple[Any, ...], list[dict[str, np.ndarray]]] = {}
    for record in _condensations(table):
        trace = dict(table.trace(record["config"]))
        if len(trace["epoch"]) > 1 and "seconds" in trace:
            groups.setdefault(_way(table, record), []).append(trace)
    if not groups:
        raise QueryError(
            f"{table.manifest.name!r} has no condensation here that ended well and was judged on "
            "its way: methods that learn are, those that choose nodes are not"
        )
    if accuracy is None:
        accuracy = min(_best(trace) for traces in groups.values() for trace in traces)
    found = [_reached(way, traces, accuracy) for way, traces in groups.items()]
    return sorted(found, key=lambda one: (one.reached == 0, one.seconds))


def _condensations(table: CondensedTable) -> Iterable[Record]:
    """Return a row of each condensation that ended well."""
    rows = {row["config"]: row for row in table.records() if row["status"] == "ok"}
    return rows.values()


def _way(table: CondensedTable, record: Record) -> tuple[Any, ...]:
    """Return what tells a row from others than those of other seeds."""
    settings = tuple(sorted(changed_values(record["config_text"]).items()))
    return (record[table.size], *(record[name] for name in _TOLD_BY), settings)


def _reached(
    way: tuple[Any, ...], traces: Sequence[dict[str, np.ndarray]], accuracy: float
) -> Reached:
    size, *told, settings = way
    places = [_first(trace["valid_perf"], accuracy) for trace in traces]
    then = [
        (float(trace["seconds"][place]), float(trace["epoch"][place]))
        for trace, place in zip(traces, places, strict=True)
        if place is not None
    ]
    seconds, epochs = np.mean(then, axis=0) if then else (nan, nan)
    return Reached(
        **dict(zip(_TOLD_BY, told, strict=True)),
        size=size,
        settings=dict(settings),
        accuracy=accuracy,
        best=float(np.mean([_best(trace) for trace in traces])),
        seeds=len(traces),
        reached=len(then),
        seconds=float(seconds),
        epochs=float(epochs),
    )


def _best(trace: dict[str, np.ndarray]) -> float:
    return float(np.nanmax(trace["valid_perf"]))


def _first(values: np.ndarray, accuracy: float) -> int | None:
    """Return the place of the first value that is not below an accuracy; None if all are."""
    places = np.flatnonzero(values >= np.float32(accuracy))
    return int(places[0]) if len(places) else None
