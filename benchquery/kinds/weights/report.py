"""The numbers in the report of a table of operation weights."""

from __future__ import annotations

from typing import Any

from benchquery.kinds.weights.analysis import weight_rows
from benchquery.kinds.weights.table import WeightTable


def report_rows(table: WeightTable) -> dict[str, list[dict[str, Any]]]:
    """Return the mean weights, and what each search came to, by heading."""
    searches = {(row["link"], row["seed"]): row for row in table.records()}
    names = ("link", "seed", "valid_perf", "derived", "train_time", "status")
    ended = [{name: row[name] for name in names if name in row} for row in searches.values()]
    return {"Mean weights": weight_rows(table), "Searches": ended}
