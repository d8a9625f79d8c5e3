"""What the figures of one training come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchbuild.compute.loop import LOSSES
from benchbuild.compute.objective import MEASURED
from benchquery.table.schema import CURVE_COLUMNS, curve_index


@dataclass(frozen=True)
class Summary:
    """What the curves of one training come to.

    Attributes:
        curves: (epochs, 7) float64, columns as in `benchquery.table.schema.CURVE_COLUMNS`; NaN from
            `epochs_done` on. ``best_perf`` is what `perf` would be had training ended there.
        epochs_done: Epochs with finite losses; of a diverged training also the epoch, counted
            from 0, in which it diverged.
        valid_perf: Greatest validation metric over the epochs; that of the last one if that was
            chosen.
        perf: Test metric at the epoch that was chosen.
        best_epoch: That epoch, counted from 0; -1 if there is none.
    """

    curves: np.ndarray
    epochs_done: int
    valid_perf: float
    perf: float
    best_epoch: int


def summarise(
    measured: np.ndarray, by: Literal["valid_loss", "valid_perf", "last"] = "valid_loss"
) -> Summary:
    """Apply the rules of the recipe to what was measured.

    Args:
        measured: (epochs, 6), columns as in `MEASURED`. The first row with a loss that is not
            finite ends it: that row and all after it become NaN.
        by: What chooses the epoch: the least validation loss or the greatest validation metric;
            of equal epochs the first. Or nothing: it is the last one.
    """
    finite = np.isfinite(measured[:, LOSSES]).all(axis=1)
    done = len(measured) if finite.all() else int(finite.argmin())
    curves = np.full((len(measured), len(CURVE_COLUMNS)), np.nan)
    if done == 0:
        return Summary(curves, 0, np.nan, np.nan, -1)
    curves[:done, [curve_index(name) for name in MEASURED]] = measured[:done]
    valid_perf, valid_loss, test_perf = (
        measured[:done, MEASURED.index(name)] for name in ("valid_perf", "valid_loss", "test_perf")
    )
    ranks = {"valid_loss": valid_loss, "valid_perf": -valid_perf, "last": -np.arange(done)}
    best_so_far = _first_minimum_so_far(ranks[by])
    curves[:done, curve_index("best_perf")] = test_perf[best_so_far]
    best = int(best_so_far[-1])
    valid = valid_perf[-1] if by == "last" else valid_perf.max()
    return Summary(curves, done, float(valid), float(test_perf[best]), best)


def _first_minimum_so_far(values: np.ndarray) -> np.ndarray:
    """For every place, where the first least value up to and including it is."""
    lowest = np.minimum.accumulate(values)
    is_new = np.concatenate([[True], lowest[1:] < lowest[:-1]])
    return np.maximum.accumulate(np.where(is_new, np.arange(values.size), 0))
