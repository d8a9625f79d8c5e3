"""What tables of condensed graphs say of methods: their usual runs, averaged over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

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
    spec = domain.methods.get(str(mean["method"]))
    usual = _USUAL | ({"init": spec.init, "backbone": spec.backbone} if spec else {})
    changed = {
        name: mean[name] for name, value in usual.items() if name in mean and mean[name] != value
    }
    hyperparameters = mean["hyperparameters"]
    assert isinstance(hyperparameters, Mapping)
    return {**changed, **hyperparameters}


def method_name(mean: Mapping[str, object]) -> str:
    """Return the method of a run, and what is not as usual in it, for legends and rows."""
    odd = peculiarities(mean)
    said = ", ".join(
        str(value) if name in ("init", "backbone", "protocol") else f"{name}={value}"
        for name, value in odd.items()
    )
    return f"{mean['method']} ({said})" if said else str(mean["method"])


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

    Raises:
        QueryError: If no graph was judged by the model, or none has a figure by it.
    """
    check_model(table, model)
    means = [mean for mean in table.where(model=model).mean(over="seed") if mean["count"]]
    if not means:
        raise QueryError(f"no graph of this table of {table.name!r} has a figure by {model!r}")
    return means


def usual_means(table: CondensedTable, model: str | None = None) -> dict[str, list[Record]]:
    """Return for each method its usual run at every size, averaged over condensation seeds.

    A method that was run in several ways counts with the way that is most like its recipe; of
    equally usual ones, with the one that has most figures, and of those with the first by the
    alphabet. Ways are told apart by everything but size and seed, the evaluation included. To see
    another way, leave rows out first: ``table.where(init="noise")``.

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
    model = model or table.domain.model
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
