"""Tables some of whose rows failed, so that they have no figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from benchquery import SPACES, ArchTable, RowTable
from benchquery.table.columnfile import ColumnSet
from benchquery.table.curves import new_curves
from benchquery.table.schema import CURVE_COLUMNS
from benchquery.table.store import open_table
from benchquery.table.writer import new_table, write_table

Mask = npt.NDArray[np.bool_]
Table = TypeVar("Table", bound=RowTable[Any])

CURVED_ROWS, CURVED_SEEDS, CURVED_EPOCHS = 12, 3, 5


class Columns(ColumnSet):
    """Columns that are at hand as arrays."""

    def __init__(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._arrays = arrays

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def fail(table: Table, failed: Mask, columns: tuple[str, ...] | None = None) -> Table:
    """Return a table whose failed rows have no figures.

    Args:
        table: A table.
        failed: Which of its rows failed.
        columns: The figures that these lose; None for all that are fractions of a unit.
    """
    arrays = {name: table.column(name).copy() for name in table.columns}
    lost = [name for name in arrays if arrays[name].dtype.kind == "f" and name != "ratio"]
    for name in lost if columns is None else columns:
        arrays[name][failed] = np.nan
    if "status" in arrays:
        arrays["status"][failed] = "failed"
    return type(table)(table.manifest, Columns(arrays), table._folder, table.positions)


def write_curved(folder: Path, failed: Mask | None = None) -> ArchTable:
    """Write a small table with curves; failed rows have neither figures nor curves."""
    rng = np.random.default_rng(5)
    hashes = SPACES["full"].hashes[:: len(SPACES["full"]) // CURVED_ROWS][:CURVED_ROWS]
    shape = (CURVED_ROWS, CURVED_SEEDS, CURVED_EPOCHS, len(CURVE_COLUMNS))
    curves = rng.random(shape, dtype=np.float32)
    figures = {name: rng.random((CURVED_ROWS, CURVED_SEEDS)) for name in ("valid_perf", "perf")}
    costs = {name: rng.random(CURVED_ROWS) for name in ("latency", "para")}
    columns = {"hash": np.array(hashes, dtype=np.int32)}
    for name, values in figures.items():
        columns[name] = values.mean(axis=1)
        columns |= {f"{name}_seed{seed}": values[:, seed] for seed in range(CURVED_SEEDS)}
    columns |= costs
    if failed is not None:
        curves[failed] = np.nan
        for name in set(columns) - {"hash"}:
            columns[name] = np.where(failed, np.nan, columns[name])
    with new_table(folder) as stage:
        with new_curves(
            stage / "curves.h5", columns["hash"], np.arange(CURVED_SEEDS), CURVED_EPOCHS
        ) as stored:
            stored[:] = curves
        write_table(
            stage, columns, name="curved", space="full", origin="synthetic", metric="accuracy",
            source={"title": "random numbers"}, licence="CC0-1.0",
        )  # fmt: skip
    table = open_table(folder)
    assert isinstance(table, ArchTable)
    return table
