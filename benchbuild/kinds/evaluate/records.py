"""What an evaluation job leaves behind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchbuild.pipeline.records import JobRecord, column


@dataclass(frozen=True, eq=False)
class EvaluateRecord(JobRecord):
    """One condensed graph of a table, judged by more models or seeds.

    Attributes:
        config: The configuration as text.
        eval_valid: See `benchbuild.kinds.condense.evaluations.Evaluated`, as for the following.
        eval_perf: The same.
        eval_full: The same.
        eval_other: The same.
        eval_more: The same.
        eval_status: The same.
        eval_reasons: The same.
        curves: The same.
        environment: Device, threads and library versions, as JSON.
    """

    config: str = column("string", "key")
    eval_valid: np.ndarray = column("float64[]", "figure")
    eval_perf: np.ndarray = column("float64[]", "figure")
    eval_full: np.ndarray = column("float64[]", "figure")
    eval_other: np.ndarray = column("float64[]", "figure", late=True)
    eval_more: np.ndarray = column("float64[]", "figure", late=True)
    eval_status: np.ndarray = column("int32[]", "figure")
    eval_reasons: tuple[str, ...] = column("string", "measurement", separator="\n")
    curves: np.ndarray = column("float32[]", "figure")
    environment: str = column("string", "measurement")
