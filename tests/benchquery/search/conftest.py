"""What the tests of search share: a synthetic table with curves and training times."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from benchquery import SPACES, ArchTable
from benchquery.table.curves import new_curves
from benchquery.table.schema import CURVE_COLUMNS
from benchquery.table.store import open_table
from benchquery.table.writer import new_table, write_table

ROWS, SEEDS, EPOCHS = 120, 2, 27
FAILED = 7
"""The row of an architecture whose training failed, so it has no figures."""


@dataclasses.dataclass(frozen=True)
class Raced:
    """A table with curves, its folder, and the numbers that it was made of."""

    table: ArchTable
    folder: Path
    curves: npt.NDArray[np.float32]
    train_time: npt.NDArray[np.float64]


@pytest.fixture(scope="session")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Raced:
    """A table of 120 architectures that learn, each at its own speed, with some noise."""
    rng = np.random.default_rng(1)
    hashes = np.sort(rng.choice(SPACES["full"].hashes, ROWS, replace=False))
    height, speed = rng.uniform(0.4, 0.9, ROWS), rng.uniform(0.1, 0.6, ROWS)
    learnt = height[:, None] * (1 - np.exp(-speed[:, None] * np.arange(1, EPOCHS + 1)))
    noise = rng.normal(0, 0.01, (ROWS, SEEDS, EPOCHS, len(CURVE_COLUMNS)))
    curves = (learnt[:, None, :, None] + noise).astype(np.float32)
    curves[FAILED] = np.nan
    train_time = rng.uniform(1, 9, ROWS)
    train_time[FAILED] = np.nan
    folder = tmp_path_factory.mktemp("tables") / "raced"
    with new_table(folder) as stage:
        with new_curves(stage / "curves.h5", hashes, np.arange(SEEDS), EPOCHS) as dataset:
            dataset[:] = curves
        write_table(
            stage,
            {
                "hash": hashes.astype(np.int32),
                "valid_perf": curves[..., 1].max(axis=2).mean(axis=1).astype(np.float64),
                "perf": curves[:, :, -1, 6].mean(axis=1).astype(np.float64),
                "latency": rng.random(ROWS),
                "train_time": train_time,
            },
            name="raced",
            space="full",
            origin="synthetic",
            metric="accuracy",
            source={"title": "exponentials and noise"},
            licence="CC0-1.0",
        )
    return Raced(open_table(folder), folder, curves, train_time)
