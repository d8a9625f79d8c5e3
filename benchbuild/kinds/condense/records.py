"""What a condensation leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from benchbuild.pipeline.jobs import MOST_JOBS
from benchbuild.pipeline.records import JobRecord, column
from benchbuild.typed import Distinct
from benchquery.allowed import Value
from benchquery.errors import ConfigError
from benchquery.kinds.condensed.config import CondenseConfig


class ConfigText:
    """The canonical texts of configurations, also of methods that are not installed here."""

    def meant(self, value: Value) -> Value | None:
        """See `benchquery.allowed.Allowed`."""
        try:
            return CondenseConfig.from_text(str(value)).text
        except ConfigError:
            return None

    def __str__(self) -> str:
        return "the canonical text of a configuration"


ConfigTexts = Annotated[
    tuple[Annotated[str, ConfigText()], ...], Distinct("configuration", most=MOST_JOBS)
]


class CondenseKey(NamedTuple):
    """A configuration, as its canonical text."""

    config: str


@dataclass(frozen=True, eq=False)
class CondenseRecord(JobRecord):
    """One configuration, condensed and evaluated.

    Attributes:
        config: The configuration as text.
        nodes: Nodes of the condensed graph or graphs; 0 or less if there is none.
        x: Its features, flattened.
        y: Its classes or probabilities, flattened.
        adjacency: Its edge weights, flattened; empty for a graph without edges.
        form: The form of what is kept; empty for one graph, which is the three arrays before.
        payload: What is kept in another form; see `benchbuild.kinds.condense.arrays`.
        best_epoch: Epoch of the snapshot that was kept; -1 if there is none.
        valid_perf: The validation metric that chose it.
        loss_names: Names of the losses of the snapshots.
        trace_epoch: Epoch of every snapshot.
        trace_losses: Their losses, flattened, name by name.
        trace_valid: Their validation metrics.
        trace_seconds: Time of the method until each.
        condense_time: Seconds of the whole condensation, evaluation excluded.
        condense_time_best: The same until the snapshot that was kept.
        expert_time: Seconds of training experts.
        expert_bytes: Their size on disk.
        peak_memory: Highest memory in bytes.
        peak_gpu_memory: Highest memory on the GPU; NaN without one.
        environment: Device, threads and library versions, as JSON.
        eval_valid: See `benchbuild.kinds.condense.evaluations.Evaluated`, as for the following.
        eval_perf: The same.
        eval_full: The same.
        eval_other: The same.
        eval_more: The same.
        eval_status: The same.
        eval_reasons: The same.
        curves: The same.
    """

    config: str = column("string", "key")
    nodes: int = column("int32", "figure")
    x: np.ndarray = column("float16[]", "figure")
    y: np.ndarray = column("float32[]", "figure")
    adjacency: np.ndarray = column("float16[]", "figure")
    form: str = column("string", "figure", late=True)
    payload: np.ndarray = column("uint8[]", "figure", late=True)
    best_epoch: int = column("int32", "figure")
    valid_perf: float = column("float64", "figure")
    loss_names: tuple[str, ...] = column("string", "figure", separator=" ")
    trace_epoch: np.ndarray = column("int32[]", "figure")
    trace_losses: np.ndarray = column("float32[]", "figure")
    trace_valid: np.ndarray = column("float32[]", "figure")
    trace_seconds: np.ndarray = column("float32[]", "measurement")
    condense_time: float = column("float64", "measurement")
    condense_time_best: float = column("float64", "measurement")
    expert_time: float = column("float64", "measurement")
    expert_bytes: int = column("int64", "measurement")
    peak_memory: int = column("int64", "measurement")
    peak_gpu_memory: float = column("float64", "measurement")
    environment: str = column("string", "measurement")
    eval_valid: np.ndarray = column("float64[]", "figure")
    eval_perf: np.ndarray = column("float64[]", "figure")
    eval_full: np.ndarray = column("float64[]", "figure")
    eval_other: np.ndarray = column("float64[]", "figure", late=True)
    eval_more: np.ndarray = column("float64[]", "figure", late=True)
    eval_status: np.ndarray = column("int32[]", "figure")
    eval_reasons: tuple[str, ...] = column("string", "measurement", separator="\n")
    curves: np.ndarray = column("float32[]", "figure")

    @property
    def trace(self) -> dict[str, np.ndarray]:
        """The figures of the snapshots by name; a ValueError if two have the same."""
        shape = len(self.loss_names), len(self.trace_epoch)
        losses = np.asarray(self.trace_losses).reshape(shape)
        named = [
            ("epoch", np.asarray(self.trace_epoch)),
            *zip(self.loss_names, losses, strict=True),
            ("valid_perf", np.asarray(self.trace_valid)),
            ("seconds", np.asarray(self.trace_seconds)),
        ]
        figures = dict(named)
        if len(figures) < len(named):
            raise ValueError("two figures of its snapshots have one name")
        return figures
