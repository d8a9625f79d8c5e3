"""What the page loads of one row: its curve and, of a condensed graph, all else there is.

An architecture goes by its hash. A row of a condensed table goes by the hashes of its
configuration and evaluation with a dot between, its graph by the configuration's alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import UnknownHashError
from benchquery.explorer.wire import curve_stream, pack
from benchquery.kinds.architectures.table import ArchTable
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.graphs import GRAPHS, edge_weights, node_degrees
from benchquery.kinds.condensed.published import mean_accuracy
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.manifest import CURVES
from benchquery.table.record import Record
from benchquery.table.schema import CURVE_COLUMNS
from benchquery.text import to_json

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array
else:
    np = LazyModule("numpy")

Table = ArchTable | CondensedTable
_MOST_EDGES = 2_000
"""Of a drawing: the strongest are sent. More can't be told apart."""
_DIGITS = 4


def curve_keys(table: Table) -> Iterator[str]:
    """List what has a curve, by name."""
    if CURVES not in table.manifest.files:
        return
    if isinstance(table, ArchTable):
        yield from map(str, table)
    else:
        pairs = zip(table.column("config"), table.column("evaluation"), strict=True)
        yield from (f"{config}.{evaluation}" for config, evaluation in pairs)


def curve_file(table: Table, key: str) -> bytes | None:
    """Return every epoch of every seed of a row; no rows if it has no curve, None if no key.

    Raises:
        UnknownHashError: If the table does not hold it.
        QueryError: If the table has no curves.
    """
    if isinstance(table, CondensedTable):
        config, dot, evaluation = key.partition(".")
        return curve_stream(*table.seed_curves(config, evaluation)) if dot else None
    if not (key.isascii() and key.isdecimal() and str(int(key)) == key):
        return None
    number = int(key)
    table[number]
    curves = table.curves
    try:
        return curve_stream(curves.seeds, curves.block(number))
    except UnknownHashError:
        return curve_stream((), np.empty((0, curves.epochs, len(CURVE_COLUMNS)), np.float32))


def config_file(table: CondensedTable, config: str) -> bytes:
    """Return what there is of a configuration but its figures, as gzipped JSON.

    That is all its values, the paper's figures by model, the snapshots and the graph; what it
    lacks is null.

    Raises:
        UnknownHashError: If the table does not hold the configuration.
        CorruptTableError: If its graph is damaged.
    """
    records = table.evaluations(config).records()
    stored = GRAPHS in table.manifest.files and config in table.graphs.configs
    body = {
        "values": _values(records[0]["config_text"]),
        "published": {record["model"]: _paper(record) for record in records},
        "trace": _lists(table.trace(config)) if stored else None,
        "graph": _drawing(table.graph(config), records[0]["threshold"]) if stored else None,
    }
    return pack(to_json(body).encode())


def _values(text: str) -> dict[str, Any]:
    """Return all values of a configuration, or those in its text if its method is unknown."""
    return dict(CondenseConfig.from_text(text).values)


def _paper(record: Record) -> dict[str, Any] | None:
    """Return what the paper says of a row."""
    figure = mean_accuracy(record)
    if figure is None:
        return None
    names = ("mean", "std", "unit", "metric", "source")
    return {name: getattr(figure, name) for name in names}


def _lists(figures: Mapping[str, Array]) -> dict[str, list[float]]:
    return {name: values.tolist() for name, values in figures.items()}


def _drawing(graph: Mapping[str, Array], threshold: float) -> dict[str, Any]:
    """Return the classes and degrees of a graph's nodes, and its strongest edges.

    An edge is there if its weight reaches the threshold; a loop is none.
    """
    y = graph["y"]
    classes = y if y.ndim == 1 else y.argmax(axis=1)
    weights = edge_weights(len(y), graph.get("adjacency"), threshold)
    first, second = np.nonzero(weights)
    edges = len(first)
    drawn = np.argsort(-weights[first, second], kind="stable")[:_MOST_EDGES]
    first, second = first[drawn], second[drawn]
    return {
        "classes": classes.tolist(),
        "degrees": node_degrees(weights).tolist(),
        "edges": edges,
        "from": first.tolist(),
        "to": second.tolist(),
        "weight": [round(weight, _DIGITS) for weight in weights[first, second].tolist()],
    }
