"""One condensation from end to end: run the method, judge its snapshots, keep the best.

Snapshots are judged by the validation metric of a model that is trained on them; of equal ones the
first is kept. While one is judged, time and memory are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchbuild.compute.devices import accelerates, reproducible
from benchbuild.compute.meters import MemoryMeter, Stopwatch
from benchbuild.kinds.condense.evaluator import Evaluator
from benchbuild.kinds.condense.method import AnyProblem, Snapshot, Workspace
from benchbuild.kinds.condense.payload import StoredPayload
from benchbuild.kinds.condense.registry import condenser
from benchbuild.pipeline.records import DIVERGED, OK
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig


@dataclass(frozen=True)
class Costs:
    """What a condensation took; judging is not counted.

    Attributes:
        seconds: Time of the method, without that of its experts.
        seconds_best: The same until the snapshot that was kept.
        expert_seconds: Time of training its experts, whenever that was; 0 if it has none.
        expert_bytes: Their size on disk.
        peak_memory: Highest resident memory of this process.
        peak_gpu_memory: Highest memory on the GPU; NaN without one.
    """

    seconds: float
    seconds_best: float
    expert_seconds: float
    expert_bytes: int
    peak_memory: int
    peak_gpu_memory: float


@dataclass(frozen=True)
class Judged:
    """A snapshot and what was found of it.

    Attributes:
        epoch: Its epoch.
        losses: Its losses by name, and the diagnostics that its method asks for.
        valid_perf: The validation metric of a model trained on it.
        seconds: Time of the method until then.
        payload: What the method had made, as it is kept.
    """

    epoch: int
    losses: dict[str, float]
    valid_perf: float
    seconds: float
    payload: StoredPayload


@dataclass(frozen=True, eq=False)
class Condensation:
    """What a condensation came to.

    Attributes:
        status: "ok" or "diverged"; a diverged one ends before the snapshot that is not finite.
        reason: Why it is not "ok"; empty if it is.
        best: The snapshot that was kept; None if none was finite.
        trace: Figures of every snapshot by name: epoch, losses, valid_perf and seconds.
        costs: What it took.
    """

    status: str
    reason: str
    best: Judged | None
    trace: dict[str, np.ndarray]
    costs: Costs


class Meters:
    """Time and memory of a method, which can be paused."""

    def __init__(self, device: torch.device) -> None:
        """Start measuring."""
        self._memory = MemoryMeter(torch.device("cpu"))
        self._gpu = MemoryMeter(device) if accelerates(device) else None
        self._watch = Stopwatch(device)

    def pause(self) -> None:
        """Stop."""
        self._watch.pause()
        self._memory.pause()
        if self._gpu:
            self._gpu.pause()

    def resume(self) -> None:
        """Go on."""
        if self._gpu:
            self._gpu.resume()
        self._memory.resume()
        self._watch.resume()

    @property
    def seconds(self) -> float:
        """The time so far."""
        return self._watch.seconds()

    @property
    def peak_memory(self) -> int:
        """The highest resident memory so far."""
        return self._memory.peak()

    @property
    def peak_gpu_memory(self) -> float:
        """The highest memory on the GPU so far; NaN without one."""
        return float(self._gpu.peak()) if self._gpu else math.nan


def run_condensation(
    problem: AnyProblem,
    config: CondenseConfig,
    evaluator: Evaluator[Any],
    judge: EvalConfig,
    scratch: Path,
    *,
    reported: Sequence[EvalConfig] = (),
) -> Condensation:
    """Condense what a problem shows.

    Args:
        problem: The problem.
        config: How.
        evaluator: Knows the validation labels.
        judge: How a snapshot is judged.
        scratch: A folder for large intermediate results.
        reported: How the first model is evaluated in the end, seed by seed. Protocol
            ``as-released`` chooses by the mean of its test metrics where the published code does.
    """
    method = condenser(config)
    on_test = config.protocol == "as-released" and config.spec.chosen_on_test
    diagnostics = config.spec.diagnostics
    workspace = Workspace(scratch, {})
    judged: list[Judged] = []
    status, reason = OK, ""
    with reproducible(problem.device, config.seed, threads=1):
        meters = Meters(problem.device)
        for snapshot in method(problem, config, workspace):
            meters.pause()
            kept = snapshot.payload.stored()
            if fault := _fault(snapshot, kept):
                status, reason = DIVERGED, fault
                break
            found = {name: evaluator.diagnose(name, snapshot.payload) for name in diagnostics}
            losses = {**snapshot.losses, **found}
            valid_perf = (
                float(np.mean([evaluator.evaluate(kept.payload(), one).perf for one in reported]))
                if on_test
                else evaluator.judge(kept.payload(), judge)
            )
            judged.append(Judged(snapshot.epoch, losses, valid_perf, meters.seconds, kept))
            meters.resume()
    best = max(
        judged, key=lambda one: (not math.isnan(one.valid_perf), one.valid_perf), default=None
    )
    return Condensation(status, reason, best, _trace(judged), _costs(workspace, meters, best))


def _fault(snapshot: Snapshot, kept: StoredPayload) -> str:
    """Say why a snapshot can't be judged; nothing if it can."""
    for name, loss in snapshot.losses.items():
        if not math.isfinite(loss):
            return f"the loss {name!r} was not finite in epoch {snapshot.epoch}"
    if not kept.is_finite:
        return f"the graph was not finite in half precision in epoch {snapshot.epoch}"
    return ""


def _trace(judged: Sequence[Judged]) -> dict[str, np.ndarray]:
    names = dict.fromkeys(name for one in judged for name in one.losses)
    losses = {
        name: np.array([one.losses.get(name, math.nan) for one in judged], dtype=np.float32)
        for name in names
    }
    return {
        "epoch": np.array([one.epoch for one in judged], dtype=np.int32),
        **losses,
        "valid_perf": np.array([one.valid_perf for one in judged], dtype=np.float32),
        "seconds": np.array([one.seconds for one in judged], dtype=np.float32),
    }


def _costs(workspace: Workspace, meters: Meters, best: Judged | None) -> Costs:
    """Add up what a condensation took; experts that it trained itself are counted apart."""
    experts_here = workspace.costs.get("expert_seconds_here", 0.0)
    return Costs(
        seconds=meters.seconds - experts_here,
        seconds_best=best.seconds - experts_here if best else math.nan,
        expert_seconds=workspace.costs.get("expert_seconds", 0.0),
        expert_bytes=int(workspace.costs.get("expert_bytes", 0)),
        peak_memory=meters.peak_memory,
        peak_gpu_memory=meters.peak_gpu_memory,
    )
