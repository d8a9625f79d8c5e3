"""How figures are spread within one table (Figures 2 and 9 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")

METRICS = ("perf", "latency", "para")


def describe(table: ArchTable, by: str = "perf") -> dict[str, float]:
    """Return the mean, spread and quantiles of a column, rows without a figure left out."""
    values = table.column(by)
    values = values[~np.isnan(values)]
    quantiles = {f"q{round(100 * q):02d}": np.quantile(values, q) for q in (0.05, 0.25, 0.5, 0.75)}
    spread = {
        "rows": len(values),
        "mean": values.mean(),
        "std": values.std(),
        "min": values.min(),
        **quantiles,
        "q95": np.quantile(values, 0.95),
        "max": values.max(),
    }
    return {name: float(value) for name, value in spread.items()}


def metric_correlations(table: ArchTable, columns: Sequence[str] = METRICS) -> Floats:
    """Return Pearson's correlation between the columns of a table, in their order."""
    values = np.stack([table.column(name) for name in columns])
    matrix: Floats = np.corrcoef(values[:, ~np.isnan(values).any(axis=0)])
    return matrix
