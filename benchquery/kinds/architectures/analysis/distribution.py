"""How figures are spread within one table (Figures 2 and 9 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.analysis.statistics import correlation
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")

METRICS = ("perf", "latency", "para")


def describe(table: ArchTable, by: str = "perf") -> dict[str, float]:
    """Return the mean, spread and quantiles of a column.

    Returns:
        They by name; ``rows`` is the number of rows with a figure, ``left_out`` that of rows
        without one.

    Raises:
        QueryError: If no row has a figure.
    """
    values = known_part(table, by).column(by)
    quantiles = {f"q{round(100 * q):02d}": np.quantile(values, q) for q in (0.05, 0.25, 0.5, 0.75)}
    spread = {
        "rows": len(values),
        "left_out": len(table) - len(values),
        "mean": values.mean(),
        "std": values.std(),
        "min": values.min(),
        **quantiles,
        "q95": np.quantile(values, 0.95),
        "max": values.max(),
    }
    return {name: float(value) for name, value in spread.items()}


def correlated_part(table: ArchTable, columns: Sequence[str] = METRICS) -> ArchTable:
    """Return the rows of a table that `metric_correlations` looks at.

    Raises:
        QueryError: If fewer than two rows have all the figures.
    """
    if "para" in columns and "para_consistent" in table.columns:
        table = table.take(np.flatnonzero(table.column("para_consistent")))
    return known_part(table, *columns, least=2)


def metric_correlations(table: ArchTable, columns: Sequence[str] = METRICS) -> Floats:
    """Return Pearson's correlation between the columns of a table, in their order.

    Rows that lack a figure in one of the columns are left out, and, where parameters are among
    them, rows whose published count is known to be wrong (``para_consistent``). A column that does
    not vary has no correlation: NaN. `correlated_part` gives the rows that count.

    Raises:
        QueryError: If fewer than two rows have all the figures.
    """
    part = correlated_part(table, columns)
    values = [part.column(name) for name in columns]
    return np.array([[correlation(one, other) for other in values] for one in values])
