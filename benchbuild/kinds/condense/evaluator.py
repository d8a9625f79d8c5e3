"""Who judges what methods make: the contract, without the tasks and models that fulfil it.

Those are in `benchbuild.kinds.evaluate`; a worker finds them through the domain of its data, see
`benchbuild.kinds.condense.domains`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from benchbuild.pipeline.records import OK
from benchquery.kinds.condensed.config import EvalConfig
from benchquery.table.schema import CURVE_COLUMNS

P_contra = TypeVar("P_contra", contravariant=True)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What one training came to.

    Attributes:
        status: "ok" or "diverged".
        reason: Why it is not "ok"; empty if it is.
        valid_perf: Greatest validation metric over the epochs.
        perf: Test metric at the first epoch that has it.
        best_epoch: That epoch, counted from 0; -1 if there is none.
        curve: (epochs, 7), columns as in `benchquery.table.schema.CURVE_COLUMNS`. The training
            figures are those on the payload that was trained on; the last column is what `perf`
            would be had training ended there.
        other_perf: Test metric at the same epoch by the one of accuracy and ROC-AUC that is not the
            dataset's; NaN where that makes no sense or was not asked for.
        more: Further test figures, as the task's `measures` name them; none if it has none.
    """

    status: str
    reason: str
    valid_perf: float
    perf: float
    best_epoch: int
    curve: np.ndarray
    other_perf: float = math.nan
    more: tuple[float, ...] = ()

    @classmethod
    def nothing(cls, epochs: int, reason: str) -> Evaluation:
        """Return what a training of so many epochs comes to that was not asked for."""
        curve = np.full((epochs, len(CURVE_COLUMNS)), np.nan)
        return cls(OK, reason, math.nan, math.nan, -1, curve)


class Evaluator(Protocol[P_contra]):
    """Tries models that are trained on payloads of one sort, on one dataset."""

    def evaluate(self, payload: P_contra, config: EvalConfig) -> Evaluation:
        """Train a model on a payload; try it on the original data.

        Raises:
            EvaluationError: If the payload can't be evaluated in this way, on any machine.
        """

    def judge(self, payload: P_contra, config: EvalConfig) -> float:
        """Return the validation metric of a model trained on a payload; no test is seen."""

    def full(self, config: EvalConfig) -> Evaluation:
        """Train the same model on the original data; worked out once."""

    def diagnose(self, name: str, payload: P_contra) -> float:
        """Return a figure of a payload that needs the validation labels and chooses nothing.

        Args:
            name: One of those that a method's `MethodSpec.diagnostics` may name.
            payload: The payload as the method made it, before it is rounded to what is kept.

        Raises:
            EvaluationError: If there is no such figure.
        """
