"""The numbers in the report of a table of condensed graphs."""

from __future__ import annotations

from typing import Any

from benchquery.kinds.condensed.analysis import by_named_models, method_name
from benchquery.kinds.condensed.published import mean_accuracy
from benchquery.kinds.condensed.table import CondensedTable

_SHARED = ("task", "model", "count", "failed")
_MEANS = ("perf", "perf_std", "retained", "nodes", "edges", "condense_time", "graph_bytes")
"""Those that the domain of a table has."""
_BEST = ("init", "seed", "model", "valid_perf", "perf", "full_perf")


def report_rows(table: CondensedTable) -> dict[str, list[dict[str, Any]]]:
    """Return the figures behind the pictures, by heading."""
    means = []
    for mean in by_named_models(table).mean(over="seed"):
        paper = mean_accuracy(mean)
        means.append(
            {"method": method_name(mean)}
            | {name: mean[name] for name in (table.size, *_SHARED, *_MEANS) if name in mean}
            | {"paper [%]": None if paper is None else paper.percent}
        )
    names = ("config", "method", table.size, *_BEST)
    best = [{name: row[name] for name in names} for row in table.top(10).records()]
    return {"Means over condensation seeds": means, "The ten best by valid_perf": best}
