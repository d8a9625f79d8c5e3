"""How the explorer shows tables of condensed graphs.

A row is one graph as one evaluation judged it, so it goes by the hashes of its configuration and
evaluation with a dot between, its graph by the configuration's alone.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.explorer.view import TableFiles, View
from benchquery.explorer.wire import pack
from benchquery.kinds.condensed.analysis import (
    by_named_models,
    method_name,
    of_one_task,
    usual_means,
)
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.forms import GRAPH, IMAGES
from benchquery.kinds.condensed.graphs import GRAPHS, edge_weights, node_degrees
from benchquery.kinds.condensed.methods import method_names
from benchquery.kinds.condensed.pixels import first_of_each, shown_classes, shown_pixels
from benchquery.kinds.condensed.published import mean_accuracy
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.record import Record
from benchquery.text import to_json

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array
else:
    np = LazyModule("numpy")

_MOST_EDGES = 2_000
"""Of a drawing: the strongest are sent. More can't be told apart."""
_MOST_NODES = 300
"""Of a drawing of a set: whole graphs up to that many nodes."""
_LARGEST = 10_000
"""Nodes of the largest graph of a set that is drawn: its weights are drawn from a square array."""
_MOST_IMAGES = 10
"""Of each class that are sent."""
_DIGITS = 4
_STANDING = ("valid_perf", "valid_perf_std", "perf", "perf_std")
"""The figures of a leaderboard."""


def _facts() -> Mapping[str, Any]:
    """Return the methods in the order that they are listed in."""
    return {"methods": list(method_names())}


def _config_file(table: CondensedTable, config: str) -> bytes:
    """Return what there is of a configuration but its figures, as gzipped JSON.

    That is all its values, the paper's figures by model, the snapshots and the graph or the images;
    what it lacks is null.

    Raises:
        UnknownHashError: If the table does not hold the configuration.
        CorruptTableError: If its graph is damaged.
    """
    records = table.evaluations(config).records()
    there = GRAPHS in table.manifest.files
    stored = there and config in table.graphs.configs
    body = {
        "values": _values(records[0]["config_text"]),
        "published": {record["model"]: _paper(record) for record in records},
        "trace": _lists(table.trace(config)) if there and config in table.graphs.traced else None,
        "graph": _graph(table, config, records[0]["threshold"]) if stored else None,
        "images": _images(table, config) if stored else None,
    }
    return pack(to_json(body).encode())


def _models(table: CondensedTable) -> list[str]:
    """Return the models that judged something at the usual task, the usual one first."""
    judged = by_named_models(known_part(of_one_task(table), "perf"))
    known = dict.fromkeys(judged.column("model").tolist())
    return sorted(known, key=lambda model: model != table.domain.model)


def _judges(table: CondensedTable) -> list[str]:
    """Return all models that judged something at some task."""
    return list(dict.fromkeys(by_named_models(table).column("model").tolist()))


def _leaderboard(table: CondensedTable, model: str) -> bytes:
    """Return each method at every size, as one model judged it at the usual task, as JSON.

    Figures are means over condensation seeds, in percent; what there is none of is null. There are
    no rows if it judged at other tasks alone.
    """
    models = _models(table)
    judged = usual_means(table, model) if model in models else {}
    rows = [
        {
            "method": method_name(mean),
            "size": mean[table.size],
            "seeds": mean["count"],
            **{name: 100 * mean[name] for name in _STANDING},
            "published": _paper(mean),
        }
        for means in judged.values()
        for mean in means
    ]
    about = {"dataset": table.dataset, "metric": table.manifest.metric, "size": table.size}
    return to_json({**about, "models": models, "rows": rows}).encode()


def _values(text: str) -> dict[str, Any]:
    """Return all values of a configuration, or those in its text if its method is unknown."""
    return dict(CondenseConfig.from_text(text).values)


def _paper(record: Record) -> dict[str, Any] | None:
    """Return what the paper says of a row."""
    figure = mean_accuracy(record)
    if figure is None:
        return None
    return {
        "mean": figure.percent,
        "std": figure.percent_std,
        "unit": "percent",
        "metric": figure.metric,
        "source": figure.source,
    }


def _lists(figures: Mapping[str, Array]) -> dict[str, list[float]]:
    return {name: values.tolist() for name, values in figures.items()}


def _graph(table: CondensedTable, config: str, threshold: float) -> dict[str, Any] | None:
    """Return what is drawn of a configuration: one graph, or the first graphs of a set."""
    form, arrays = table.graphs.form(config), table.graph(config)
    if form == GRAPH:
        return _drawing(arrays, threshold)
    return _first_graphs(arrays, threshold) if form == "graphs" else None


def _images(table: CondensedTable, config: str) -> dict[str, Any] | None:
    """Return the first images of each class, class by class; None if it is no set of images.

    Pixels are bytes, row by row and channel by channel, in base 64.
    """
    if table.graphs.form(config) != IMAGES:
        return None
    arrays = table.graph(config)
    classes, pixels = shown_classes(arrays), shown_pixels(arrays)
    members = first_of_each(classes, _MOST_IMAGES)
    chosen = np.concatenate([numbers for _, numbers in members])
    shown = np.rint(255 * pixels[chosen]).astype(np.uint8)
    return {
        "classes": [one for one, numbers in members for _ in numbers],
        "of": len(classes),
        "height": shown.shape[1],
        "width": shown.shape[2],
        "channels": arrays["x"].shape[1],
        "pixels": b64encode(shown.tobytes()).decode("ascii"),
    }


def _first_graphs(arrays: Mapping[str, Array], threshold: float) -> dict[str, Any] | None:
    """Return the first graphs of a set, as `_drawing` has one graph, as far as they can be told."""
    sizes = arrays["sizes"].astype(int)
    nodes = int(sizes[np.cumsum(sizes) <= _MOST_NODES].sum()) or int(sizes[0])
    if nodes > _LARGEST:
        return None
    source, target = arrays.get("edges", np.empty((2, 0), int))
    weights = arrays.get("weights", np.ones(len(source), np.float32))
    adjacency = np.zeros((nodes, nodes), np.float32)
    shown = (source < nodes) & (target < nodes)
    adjacency[source[shown], target[shown]] = weights[shown]
    y = np.repeat(arrays["y"], sizes)[:nodes]
    return _drawing({"y": y, "adjacency": np.maximum(adjacency, adjacency.T)}, threshold)


def _drawing(graph: Mapping[str, Array], threshold: float) -> dict[str, Any]:
    """Return the classes and degrees of a graph's nodes, and its strongest edges.

    An edge is there if its weight reaches the threshold; a loop is none.
    """
    y = graph["y"]
    classes = y if y.ndim == 1 else y.argmax(axis=1)
    adjacency = graph.get("adjacency")
    if adjacency is None:
        nothing: dict[str, Any] = {"from": [], "to": [], "weight": []}
        return {"classes": classes.tolist(), "degrees": [0] * len(y), "edges": 0, **nothing}
    weights = edge_weights(adjacency, threshold)
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


VIEW = View(
    key=("config", "evaluation"),
    choices=(
        *("method", "ratio", "per_class", "init", "backbone"),
        *("task", "model", "protocol", "seed"),
    ),
    facts=_facts,
    files=MappingProxyType(
        {
            "configs": TableFiles(".json.gz", iter, _config_file),
            "leaderboards": TableFiles(".json", _judges, _leaderboard),
        }
    ),
    page="benchquery.kinds.condensed:page",
)
