"""What a training leaves behind, and what must hold of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchbuild.pipeline.records import DETERMINED, OK, JobRecord, column
from benchquery.table.schema import CURVE_COLUMNS, curve_index
from benchquery.table.sealed import parse_object

PUBLISHED_DECIMALS = 3
"""Decimals that validation metrics have in the published tables; tables and runs of the versions
that do not say how theirs are rounded have as many."""


class TrainKey(NamedTuple):
    """An architecture and a seed."""

    hash: int
    seed: int


@dataclass(frozen=True, eq=False)
class TrainRecord(JobRecord):
    """One architecture trained with one seed.

    Attributes:
        hash: The architecture.
        seed: The seed of initial weights and dropout.
        epochs_done: Epochs with finite losses.
        valid_perf: Greatest validation metric over the epochs, rounded only if the run says so.
        perf: Test metric at the first epoch of least validation loss.
        best_epoch: That epoch, counted from 0; -1 if there is none.
        params: Number of parameters.
        curve: (epochs, 7), flattened.
        latency: Seconds of a forward pass.
        train_time: Seconds of the training.
        peak_memory: Highest memory in bytes.
        environment: Device, threads and library versions, as JSON.
    """

    hash: int = column("int32", "key")
    seed: int = column("int32", "key")
    epochs_done: int = column("int32", "figure")
    valid_perf: float = column("float64", "figure")
    perf: float = column("float64", "figure")
    best_epoch: int = column("int32", "figure")
    params: int = column("int64", "figure")
    curve: np.ndarray = column("float32[]", "figure")
    latency: float = column("float64", "measurement")
    train_time: float = column("float64", "measurement")
    peak_memory: int = column("int64", "measurement")
    environment: str = column("string", "measurement")

    def problems(self, epochs: int, round_valid: int | None) -> Iterator[str]:
        """Say where its figures are not what its curve gives.

        Args:
            epochs: Epochs of every training of its run.
            round_valid: Decimals that ``valid_perf`` was rounded to; None if it was not.

        Raises:
            ValueError: If it does not say where it ran.
        """
        if self.environment:
            parse_object(self.environment)
        curve = np.asarray(self.curve, dtype=np.float32)
        if not curve.size:
            if self.status in DETERMINED:
                yield "it has no curve"
            return
        if curve.size != epochs * len(CURVE_COLUMNS):
            yield f"its curve has {curve.size} figures instead of {epochs} x {len(CURVE_COLUMNS)}"
            return
        figures = TrainFigures(self.status, self.valid_perf, self.perf, self.best_epoch)
        yield from figures.problems(curve.reshape(epochs, len(CURVE_COLUMNS)), round_valid)


@dataclass(frozen=True)
class TrainFigures:
    """What a curve comes to.

    Attributes:
        status: How the training ended.
        valid_perf: See `TrainRecord`.
        perf: See `TrainRecord`.
        best_epoch: See `TrainRecord`; -1 or NaN if there is none.
    """

    status: str
    valid_perf: float
    perf: float
    best_epoch: float

    def problems(self, curve: np.ndarray, round_valid: int | None) -> Iterator[str]:
        """Say where the figures are not what the curve gives.

        Curves are kept in single precision, so the epoch of least validation loss is checked by
        its loss, and a rounded metric with room for the last digit.

        Args:
            curve: (epochs, 7), columns as in `benchquery.table.schema.CURVE_COLUMNS`.
            round_valid: Decimals that ``valid_perf`` was rounded to; None if it was not.
        """
        loss = curve[:, curve_index("valid_loss")]
        measured = ~np.isnan(loss)
        if self.status == OK and not measured.all():
            yield "its status is ok, but epochs are missing from its curve"
        best = int(self.best_epoch) if not math.isnan(self.best_epoch) else -1
        if not measured.any() or best < 0:
            if measured.any() or best >= 0 or not math.isnan(self.perf):
                yield "it has a curve without a best epoch, or the other way round"
            return
        if best >= len(curve) or not measured[best]:
            yield f"its best epoch {best} is not on its curve"
            return
        if loss[best] != np.nanmin(loss):
            yield f"its best epoch {best} is not one of least validation loss"
        for name in ("test_perf", "best_perf"):
            row = best if name == "test_perf" else int(np.flatnonzero(measured)[-1])
            found = curve[row, curve_index(name)]
            if found != np.float32(self.perf):
                yield f"perf is {self.perf}, its curve says {found} ({name})"
        highest = float(np.nanmax(curve[:, curve_index("valid_perf")]))
        room = 1e-6 if round_valid is None else 0.5 * 10.0**-round_valid + 1e-6
        if not abs(highest - self.valid_perf) <= room:
            yield f"valid_perf is {self.valid_perf}, its curve has {highest}"
