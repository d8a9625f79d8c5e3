"""The outcome of one training job: a value, whether it went well or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchbuild.pipeline.records import OK


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
        curves: (epochs, 7) float64, columns as in
            `benchquery.table.schema.CURVE_COLUMNS`; NaN from ``epochs_done`` on.
        valid_perf: Greatest validation metric over the epochs.
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
        """Make the curves read-only, like everything else."""
        self.curves.setflags(write=False)

    @property
    def ok(self) -> bool:
        """Whether training went through to the last epoch."""
        return self.status == OK
