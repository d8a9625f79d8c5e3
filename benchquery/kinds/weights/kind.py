"""What tables of operation weights tell the rest of the house."""

from __future__ import annotations

from types import MappingProxyType

from benchquery.kinds.weights.columns import COLUMNS
from benchquery.table.kind import Picture, TableKind

_HERE = "benchquery.kinds.weights"

TABLE = TableKind(
    name="weights",
    one="operation weight",
    many="operation weights",
    columns=COLUMNS,
    key=("link", "seed", "position", "operation"),
    brief=("link", "seed", "position", "operation", "weight", "valid_perf", "status"),
    expense="train_time",
    values=MappingProxyType({"status": ("ok", "diverged", "oom", "failed")}),
    reader="read_weights",
    table=f"{_HERE}.table:WeightTable",
    by_dataset=True,
    check=f"{_HERE}.checks:check_weights",
    pictures=MappingProxyType(
        {"weights": Picture(f"{_HERE}.figures:mean_weights", "mean weight of every operation")}
    ),
    report=f"{_HERE}.report:report_rows",
    analyses=MappingProxyType(
        {
            "average_weights": f"{_HERE}.analysis:average_weights",
            "compare_weights": f"{_HERE}.analysis:compare_weights",
            "weight_errors": f"{_HERE}.analysis:weight_errors",
        }
    ),
)
