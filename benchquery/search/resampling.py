"""A noise model: figures of single seeds, drawn, so that no search takes a mean for the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.kinds.architectures.analysis.fidelity import seed_figures
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")


@dataclass(frozen=True, eq=False)
class Resampled:
    """One training of every architecture of a table, in the order of its rows.

    Attributes:
        seed: Which of an architecture's seeds was drawn; -1 where none has a figure.
        valid_perf: The validation metric of that training; NaN where there is none.
        perf: Its test metric.
    """

    seed: Ints
    valid_perf: Floats
    perf: Floats


def resample(table: ArchTable, seed: int) -> Resampled:
    """Draw one of its own seeds for every architecture of a table.

    Seeds without a validation metric, as their training failed, are not drawn. The same seed draws
    the same trainings.

    Args:
        table: A table with figures of single seeds.
        seed: The seed of the draw.

    Raises:
        QueryError: If the table holds means alone, as published tables do, or the seed is negative.

    Example:
        >>> drawn = resample(lightread("cora-built"), seed=0)
        >>> drawn.seed[:5].tolist(), drawn.valid_perf[:2].round(3).tolist()
        ([0, 2, 1, 0, 0], [0.788, 0.794])
    """
    if seed < 0:
        raise QueryError(f"the seed of a draw must be at least 0, not {seed}")
    valid, test = (seed_figures(table, name) for name in ("valid_perf", "perf"))
    keys = np.random.default_rng(seed).random(valid.shape)
    drawn = np.where(np.isnan(valid), -1.0, keys).argmax(axis=1)
    rows = np.arange(len(valid))
    nothing = np.isnan(valid).all(axis=1)
    return Resampled(np.where(nothing, -1, drawn), valid[rows, drawn], test[rows, drawn])
