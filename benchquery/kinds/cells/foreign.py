"""The table of NATS-Bench's topology space as a CSV file, as its users publish it.

A row has the test accuracies of a cell on three datasets, in percent, its text, and the form of
what it computes.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import ArchitectureError, CorruptTableError
from benchquery.kinds.cells.cell import SPACE, Cell
from benchquery.kinds.cells.checks import facts_of
from benchquery.kinds.cells.columns import COLUMNS
from benchquery.table.manifest import describe_file
from benchquery.table.writer import write_table

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

_ACCURACIES = {
    "CIFAR10TestAccuracy200Epochs": "cifar10",
    "CIFAR100TestAccuracy200Epochs": "cifar100",
    "ImageNetTestAccuracy200Epochs": "imagenet16",
}
_CELL, _FORM = "ArchitectureString", "UniqueString"
_HEADER = (*_ACCURACIES, _CELL, _FORM)
_LONGEST = 10_000
"""Bytes that the first line of such a file can't have."""
_LARGEST = 1 << 26
"""Bytes that such a file can't have: some 4 KB for every cell."""


def write_nats_bench(file: Path, stage: Path) -> bool:
    """Write the table that a file holds, if it is one of cell networks.

    Args:
        file: The file.
        stage: The folder to write the table into.

    Returns:
        Whether it is such a file; if not, nothing is written.

    Raises:
        CorruptTableError: If it is one, but cut short or wrong somewhere.
    """
    with file.open("rb") as stream:
        if stream.readline(_LONGEST).strip() != ",".join(_HEADER).encode():
            return False
    if (size := file.stat().st_size) > _LARGEST:
        raise CorruptTableError(
            f"{file} is no table of cell networks: it has {size:,} bytes, allowed are {_LARGEST:,}"
        )
    rows = sorted(_rows(file), key=lambda row: str(row["architecture"]))
    if len({row["architecture"] for row in rows}) != len(rows) or len(rows) != SPACE:
        raise CorruptTableError(
            f"{file} has {len(rows):,} rows; it must have each of the {SPACE:,} cells of "
            "NAS-Bench-201 once: it is cut short or was changed"
        )
    dtypes = {column.name: object if column.dtype == "string" else column.dtype
              for column in COLUMNS}  # fmt: skip
    write_table(
        stage,
        {name: np.array([row[name] for row in rows], dtype=dtypes[name]) for name in dtypes},
        name="nas-bench-201",
        space="nas-bench-201",
        origin="published",
        metric="accuracy",
        source={
            "benchmark": "Dong et al., NATS-Bench: Benchmarking NAS Algorithms for Architecture "
            "Topology and Size",
            "file": file.name,
            "sha256": describe_file(file).sha256,
        },
        licence="that of the file, which does not say it",
        kind="cells",
    )
    return True


def _rows(file: Path) -> Iterator[dict[str, str | int | float]]:
    """Read the rows of the file and check each.

    Raises:
        CorruptTableError: If one is not what it must be; the message names its line.
    """
    try:
        with file.open(encoding="ascii", newline="") as stream:
            for row in csv.DictReader(stream, strict=True):
                yield _row(row)
    except (csv.Error, ValueError, TypeError, ArchitectureError) as error:
        raise CorruptTableError(f"{file} is no table of cell networks: {error}") from error


def _row(row: dict[str, str]) -> dict[str, str | int | float]:
    facts = facts_of(Cell.parse(str(row[_CELL])))
    if facts["form"] != row[_FORM]:
        raise ValueError(f"{row[_CELL]} computes {facts['form']!r}, not {row[_FORM]!r}")
    figures = {name: float(row[column]) for column, name in _ACCURACIES.items()}
    if not all(math.isnan(value) or 0 <= value <= 100 for value in figures.values()):
        raise ValueError(f"the accuracies of {row[_CELL]} are no percentages: {figures}")
    return {**facts, **figures}
