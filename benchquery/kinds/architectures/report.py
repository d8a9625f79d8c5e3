"""The numbers in the report of a table of architectures."""

from __future__ import annotations

from typing import Any

from benchquery.analysis.known import has_figures
from benchquery.kinds.architectures.analysis.distribution import describe
from benchquery.kinds.architectures.table import ArchTable

_METRICS = ("valid_perf", "perf", "latency", "para")


def report_rows(table: ArchTable) -> dict[str, list[dict[str, Any]]]:
    """Return the figures behind the pictures, by heading."""
    metrics = [name for name in _METRICS if name in table.columns]
    spread = [
        {"column": name, "unit": table.described(name).unit, **describe(table, name)}
        for name in metrics
        if has_figures(table, name).any()
    ]
    best = [
        {"hash": arch.valid_hash(), "arch": repr(arch)} | {m: table[arch][m] for m in metrics}
        for arch in table.top(10).archs()
    ]
    return {"Numbers": spread, "The ten best by valid_perf": best}
