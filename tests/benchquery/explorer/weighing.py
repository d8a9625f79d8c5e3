"""Tables of a kind that brings nothing to the explorer: operation weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchquery.table.curves import new_curves
from benchquery.table.schema import CURVE_COLUMNS
from benchquery.table.writer import new_table, write_table

OLD = Path(__file__).parents[2] / "data" / "tables-v1"
"""Tables as earlier versions wrote them, one of each kind."""

ODD = ("a,b", "c/d?e=f&g", "50%2C", "'g h'", "..")
"""Names that addresses, paths and conditions could take for something else."""
EPOCHS = 4


def curves_of(row: int) -> Any:
    """Return (seeds, epochs, 7) of a row: the second seed has none, nor have the last epochs."""
    curves = np.random.default_rng(row).random((2, EPOCHS, len(CURVE_COLUMNS)), dtype=np.float32)
    curves[1] = np.nan
    curves[:, EPOCHS - row % 2 :] = np.nan
    return curves


def write_weights(folder: Path) -> Path:
    """Write a table of weights of oddly named operations, with curves of all rows but the last."""
    rng = np.random.default_rng(0)
    rows = 2 * len(ODD)
    columns = {
        "link": np.array(["0012"] * rows, dtype=object),
        "seed": np.repeat(np.arange(2, dtype=np.int32), len(ODD)),
        "position": np.ones(rows, np.int32),
        "operation": np.array([*ODD, *ODD], dtype=object),
        "weight": rng.random(rows),
        "valid_perf": rng.random(rows),
        "train_time": rng.random(rows),
        "status": np.array(["ok"] * rows, dtype=object),
    }
    columns["valid_perf"][1] = np.nan
    with new_table(folder) as stage:
        with new_curves(
            stage / "curves.h5", np.arange(rows - 1), np.array([3, 5]), EPOCHS
        ) as curves:
            for row in range(rows - 1):
                curves[row] = curves_of(row)
        write_table(
            stage, columns, name="toy", space="full", origin="synthetic", metric="accuracy",
            source={}, licence="CC0-1.0", kind="weights",
        )  # fmt: skip
    return folder
