"""What a condensation adds to its controls: to a random choice, and to what it began with.

Both are differences of test figures that were found alike: same dataset, size and evaluation. They
are worked out anew whenever a table is written, from whatever rows it has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchquery.errors import ConfigError
from benchquery.kinds.condensed.config import CondenseConfig

if TYPE_CHECKING:
    from benchbuild.kinds.condense.table import Row

RANDOM = "random"
EPOCHS = "epochs"


def add_gains(rows: Sequence[Row], cells: Sequence[dict[str, Any]]) -> None:
    """Add the columns ``gain_over_random`` and ``gain_over_init`` to the cells of rows.

    Args:
        rows: The rows.
        cells: The columns of each, which are added to.
    """
    found = {(cell["config"], cell["evaluation"]): cell["perf"] for cell in cells}
    random: dict[tuple[object, ...], list[float]] = {}
    for row, cell in zip(rows, cells, strict=True):
        if row.config.method == RANDOM and not math.isnan(cell["perf"]):
            random.setdefault(_alike(row.config, cell), []).append(cell["perf"])
    for row, cell in zip(rows, cells, strict=True):
        control = random.get(_alike(row.config, cell))
        cell["gain_over_random"] = cell["perf"] - float(np.mean(control)) if control else math.nan
        began = found.get((_untaught(row.config), cell["evaluation"]), math.nan)
        cell["gain_over_init"] = cell["perf"] - began


def _alike(config: CondenseConfig, cell: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what two rows must share to be compared."""
    return config.size, config.values.get("ratio_of"), cell["evaluation"]


def _untaught(config: CondenseConfig) -> str:
    """Return the hash of the same configuration without learning; nothing if it never learns."""
    try:
        learns = config.spec.family != "core-set" and EPOCHS in config.hyperparameters
        return config.replace(epochs=0).valid_hash() if learns else ""
    except ConfigError:
        return ""
