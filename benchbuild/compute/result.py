"""The outcome of one training job: a value, whether it went well or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchbuild.compute.objective import COLUMNS
from benchbuild.pipeline.jobs import OK

CURVE_COLUMNS = (*COLUMNS, "best_perf")
"""Columns of a curve. ``best_perf`` is what ``perf`` would be had training ended there."""

VALID_DECIMALS = 3
"""Decimals ``valid_perf`` is rounded to, as in the published tables."""


@dataclass(frozen=True, eq=False)
class TrainResult:
    """One architecture trained on one graph with one seed.

    Attributes:
        dataset: Name of the dataset.
        hash: Hash of the architecture.
        seed: Seed of initial weights and dropout.
        status: "ok", "diverged", "oom" or "failed".
        reason: Why it is not "ok", in one line; empty if it is.
        epochs_done: Epochs with finite losses; of a diverged job also the epoch, counted from 0,
            in which it diverged.
        curves: (epochs, 7) float64, columns as in ``CURVE_COLUMNS``; NaN from ``epochs_done`` on.
        valid_perf: Greatest validation metric over the epochs, rounded to 3 decimals.
        perf: Test metric at the first epoch of least validation loss.
        best_epoch: That epoch, counted from 0; -1 if there is none.
        latency: Seconds of a forward pass over all nodes in evaluation mode.
        params: Number of parameters.
        train_seconds: Seconds of training, evaluation in every epoch included.
        peak_memory: Highest memory in bytes; see ``MemoryMeter``.
        environment: Device, threads and library versions.
    """

    dataset: str
    hash: int
    seed: int
    status: str
    reason: str
    epochs_done: int
    curves: np.ndarray
    valid_perf: float
    perf: float
    best_epoch: int
    latency: float
    params: int
    train_seconds: float
    peak_memory: int
    environment: Mapping[str, str]

    def __post_init__(self) -> None:
        """Makes the curves read-only, like everything else."""
        self.curves.setflags(write=False)

    @property
    def ok(self) -> bool:
        """Whether training went through to the last epoch."""
        return self.status == OK


@dataclass(frozen=True)
class Summary:
    """What the curves of one job come to; see the attributes of the same names above.

    ``valid_perf`` is not rounded here.
    """

    curves: np.ndarray
    epochs_done: int
    valid_perf: float
    perf: float
    best_epoch: int


def summarise(
    measured: np.ndarray, by: Literal["valid_loss", "valid_perf"] = "valid_loss"
) -> Summary:
    """Applies the rules of the recipe to what was measured.

    Args:
        measured: (epochs, 6), columns as in ``COLUMNS``. The first row with a loss that is not
            finite ends it: that row and all after it become NaN.
        by: What chooses the epoch: the least validation loss or the greatest validation metric;
            of equal epochs the first.
    """
    finite = np.isfinite(measured[:, 3:]).all(axis=1)
    done = len(measured) if finite.all() else int(finite.argmin())
    curves = np.full((len(measured), len(CURVE_COLUMNS)), np.nan)
    if done == 0:
        return Summary(curves, 0, np.nan, np.nan, -1)
    curves[:done, :-1] = measured[:done]
    valid_perf, test_perf = measured[:done, 1], measured[:done, 2]
    best_so_far = _first_minimum_so_far(measured[:done, 4] if by == "valid_loss" else -valid_perf)
    curves[:done, -1] = test_perf[best_so_far]
    best = int(best_so_far[-1])
    return Summary(curves, done, float(valid_perf.max()), float(test_perf[best]), best)


def _first_minimum_so_far(values: np.ndarray) -> np.ndarray:
    """For every place, where the first least value up to and including it is."""
    lowest = np.minimum.accumulate(values)
    is_new = np.concatenate([[True], lowest[1:] < lowest[:-1]])
    return np.maximum.accumulate(np.where(is_new, np.arange(values.size), 0))
