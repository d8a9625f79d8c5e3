"""What tables of condensed graphs say of methods: their usual runs, averaged over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.errors import QueryError
from benchquery.kinds.condensed.domains import DOMAINS
from benchquery.kinds.condensed.domains.nodes import NODES
from benchquery.kinds.condensed.methods import method_names
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.record import Record

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

_USUAL = {"protocol": "corrected", "ratio_of": "nodes"}
_WAY = ("init", "backbone", "protocol", "ratio_of", "hyperparameters", "evaluation")


def peculiarities(mean: Mapping[str, object]) -> dict[str, object]:
    """Return what of a run is not as its method usually is: settings and hyper-parameters.

    Args:
        mean: A record of `CondensedTable.mean`.
    """
    domain = DOMAINS[str(mean.get("domain", NODES.name))]
    usual = {name: {value} for name, value in _USUAL.items()}
    if spec := domain.methods.get(str(mean["method"])):
        known = (spec, spec.under(str(mean["protocol"])))
        usual |= {"init": {one.init for one in known}, "backbone": {one.backbone for one in known}}
    changed = {
        name: mean[name]
        for name, values in usual.items()
        if name in mean and mean[name] not in values
    }
    hyperparameters = mean["hyperparameters"]
    assert isinstance(hyperparameters, Mapping)
    return {**changed, **hyperparameters}


def is_beginning(mean: Mapping[str, Any]) -> bool:
    """Tell whether a run only has what its method begins with: it made no step."""
    return bool(mean["hyperparameters"].get("epochs") == 0)


def method_name(mean: Mapping[str, object]) -> str:
    """Return the method of a run, and what is not as usual in it, for legends and rows."""
    odd = peculiarities(mean)
    said = ", ".join(
        str(value) if name in ("init", "backbone", "protocol") else f"{name}={value}"
        for name, value in odd.items()
    )
    return f"{mean['method']} ({said})" if said else str(mean["method"])


def of_one_task(table: CondensedTable) -> CondensedTable:
    """Return the rows of the usual task; of the first one where there are none of that."""
    tasks = dict.fromkeys(table.column("task").tolist())
    if len(tasks) < 2:
        return table
    return table.where(task=table.domain.task if table.domain.task in tasks else next(iter(tasks)))


def usual_model(table: CondensedTable) -> str:
    """Return the usual model; the first one that judged where that did not."""
    known = dict.fromkeys(of_one_task(table).column("model").tolist())
    usual = table.domain.model
    return usual if usual in known or not known else str(next(iter(known)))


def check_model(table: CondensedTable, model: str) -> None:
    """Refuse a model that judged no graph of a table.

    Raises:
        QueryError: If there is no such model.
    """
    known = dict.fromkeys(table.column("model").tolist())
    if model not in known:
        raise QueryError(
            f"no graph of this table of {table.name!r} was evaluated by {model!r}; "
            f"allowed: {', '.join(known)}"
        )


def means_with_figures(table: CondensedTable, model: str) -> list[Record]:
    """Return the means over condensation seeds, by one model, of which some seed has a figure.

    Where the table has several tasks, they are of one: see `of_one_task`.

    Raises:
        QueryError: If no graph was judged by the model, or none has a figure by it.
    """
    table = of_one_task(table)
    check_model(table, model)
    means = [mean for mean in table.where(model=model).mean(over="seed") if mean["count"]]
    if not means:
        raise QueryError(f"no graph of this table of {table.name!r} has a figure by {model!r}")
    return means


def usual_means(table: CondensedTable, model: str | None = None) -> dict[str, list[Record]]:
    """Return for each method its usual run at every size, averaged over condensation seeds.

    A method that was run in several ways counts with the way that is most like its recipe, and not
    with what it began with (``epochs`` of 0); of equally usual ones, with the one that has most
    figures, and of those with the first by the alphabet. Ways are told apart by everything but size
    and seed, the evaluation included. To see another way, leave rows out first:
    ``table.where(init="noise")``.

    Rows without a figure are left out: ``failed`` of a record counts those of its size, and a
    size, a way or a method that has no figure at all is not there.

    Args:
        table: The table.
        model: The model that judged the graphs; None for the usual one.

    Returns:
        By method, in the order in which methods are listed: records of `CondensedTable.mean`, the
        smallest size first.

    Raises:
        QueryError: If no graph was judged by the model, or none has a figure by it.
    """
    model = model or usual_model(table)
    ways: dict[str, dict[str, list[Record]]] = {}
    for mean in means_with_figures(table, model):
        way = str([mean.get(name) for name in _WAY])
        ways.setdefault(mean["method"], {}).setdefault(way, []).append(mean)
    usual = table.usual_evaluation(model)
    chosen = {
        method: min(
            runs.items(),
            key=lambda run: (
                run[1][0]["evaluation"] != usual,
                is_beginning(run[1][0]),
                len(peculiarities(run[1][0])),
                -sum(mean["count"] for mean in run[1]),
                run[0],
            ),
        )[1]
        for method, runs in ways.items()
    }
    return {
        method: sorted(chosen[method], key=lambda mean: float(mean[table.size]))
        for method in in_order(chosen)
    }


def is_one_graph(table: CondensedTable, mean: Mapping[str, object]) -> bool:
    """Tell whether all seeds of a core-set gave the same nodes: there was nothing left to choose.

    What differs between the seeds is then the evaluation's noise and no spread of the method. Where
    graphs were left out it is not known.

    Args:
        table: The table.
        mean: A record of its `CondensedTable.mean`.
    """
    spec = table.domain.methods.get(str(mean["method"]))
    if spec is None or spec.family != "core-set" or table.domain is not NODES:
        return False
    alike = (*_WAY[:4], "evaluation", "method", table.size)
    rows = [row for row in table.records() if all(row[name] == mean[name] for name in alike)]
    made = [row["config"] for row in rows if row["nodes"]]
    if not table.graphs.configs.issuperset(made):
        return False
    nodes = [np.unique(table.graph(config)["x"], axis=0) for config in made]
    return len(nodes) > 1 and all(np.array_equal(nodes[0], other) for other in nodes[1:])


def by_named_models(table: CondensedTable) -> CondensedTable:
    """Return the rows that models with a name of their own judged, without members of families."""
    members = [":" in model for model in table.column("model").tolist()]
    return table.where(~np.array(members, dtype=bool)) if any(members) else table


def in_order(methods: Iterable[str]) -> list[str]:
    """Return methods in the order in which they are listed, unknown ones last."""
    known = method_names()
    return sorted(methods, key=lambda name: known.index(name) if name in known else len(known))


def common_size(table: CondensedTable) -> float:
    """Return the size at which most methods were judged by most models; the largest of those.

    Rows without a figure are left out.

    Raises:
        QueryError: If the table has no rows, or none with a figure.
    """
    if not table:
        raise QueryError(f"this table of {table.name!r} has no rows")
    cells: dict[float, set[tuple[str, str]]] = {}
    for record in known_part(table, "perf").records():
        cells.setdefault(record[table.size], set()).add((record["method"], record["model"]))
    return max(cells, key=lambda size: (len(cells[size]), size))
