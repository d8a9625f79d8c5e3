"""What all evaluations of a run share: which models, which seeds, and what a record says of them.

Torch is needed only to run them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchbuild.errors import EvaluationError, PlanError
from benchbuild.pipeline.failures import failure
from benchbuild.pipeline.jobs import OK, STATUSES, Field, Json, Record
from benchquery.kinds.condensed.config import MODELS, TASKS, EvalConfig
from benchquery.table.schema import CURVE_COLUMNS

if TYPE_CHECKING:
    from benchbuild.kinds.condense.evaluator import Evaluator
    from benchbuild.kinds.condense.payload import StoredPayload

DEFAULT_MODELS = ("gcn",)
DEFAULT_SEEDS = (0, 1, 2)
JUDGE_EPOCHS = 200
"""Epochs that a snapshot is judged by at most; the final evaluation has all that it asks for."""

EVALUATION_FIELDS = (
    Field("eval_valid", "float64[]", "figure"),
    Field("eval_perf", "float64[]", "figure"),
    Field("eval_full", "float64[]", "figure"),
    Field("eval_status", "int32[]", "figure"),
    Field("eval_reasons", "string", "measurement"),
    Field("curves", "float32[]", "figure"),
)
"""What evaluations give, model by model and seed by seed: metrics, those of the model trained on
the original graph, the position in `STATUSES`; all reasons, a line each; and all curves."""

_VALID, _TEST, _BEST = 1, 2, 6
"""Columns of a curve."""


@dataclass(frozen=True)
class Evaluations:
    """The evaluations of a run.

    Attributes:
        configs: One a model, with seed 0.
        seeds: The seeds that each is run with.
    """

    configs: tuple[EvalConfig, ...]
    seeds: tuple[int, ...]

    @classmethod
    def of(
        cls,
        models: Sequence[str] = DEFAULT_MODELS,
        seeds: Sequence[int] = DEFAULT_SEEDS,
        hyperparameters: Mapping[str, Any] | None = None,
        task: str = TASKS[0],
    ) -> Evaluations:
        """Choose evaluations.

        Raises:
            ConfigError: If a task, model or hyper-parameter is unknown or not allowed.
            PlanError: If a model is named twice, or there is none.
        """
        changed = hyperparameters or {}
        configs = tuple(EvalConfig(task, model, **changed) for model in models)
        if len(set(configs)) < len(configs) or not configs:
            raise PlanError(
                f"models {','.join(models)!r}: there must be at least one, and each only once; "
                f"allowed: {', '.join(MODELS)}"
            )
        return cls(configs, tuple(seeds))

    @classmethod
    def read(cls, settings: Json) -> Evaluations:
        """Read those of a run back."""
        configs = tuple(EvalConfig.from_text(text) for text in settings["evaluations"])
        return cls(configs, tuple(settings["eval_seeds"]))

    @property
    def settings(self) -> dict[str, Any]:
        """What ``run.json`` says of them."""
        return {
            "evaluations": [config.text for config in self.configs],
            "eval_seeds": list(self.seeds),
        }

    @property
    def judge(self) -> EvalConfig:
        """How snapshots are judged: by a GCN that classifies nodes, trained more briefly."""
        first = self.configs[0]
        epochs = min(JUDGE_EPOCHS, first.count("epochs"))
        return first.replace(task=TASKS[0], model="gcn", epochs=epochs)

    @property
    def epochs(self) -> int:
        """Epochs of every training."""
        return self.configs[0].count("epochs")

    def run(self, evaluator: Evaluator[Any], kept: StoredPayload) -> dict[str, Any]:
        """Evaluate a payload in every way; gives `EVALUATION_FIELDS`, ``status`` and ``reason``.

        The status is "ok" unless the machine failed an evaluation, which another one may not.
        """
        found = [
            _evaluate(evaluator, kept, config.replace(seed=seed))
            for config in self.configs
            for seed in self.seeds
        ]
        lost = [one for one in found if not one.determined]
        worst = max(lost, key=lambda one: STATUSES.index(one.status), default=None)
        return {
            "status": worst.status if worst else OK,
            "reason": worst.reason if worst else "",
            "eval_valid": np.array([one.valid_perf for one in found]),
            "eval_perf": np.array([one.perf for one in found]),
            "eval_full": np.array([one.full_perf for one in found]),
            "eval_status": np.array([STATUSES.index(one.status) for one in found], np.int32),
            "eval_reasons": "\n".join(one.reason for one in found),
            "curves": np.concatenate([one.curve.astype(np.float32).reshape(-1) for one in found]),
        }

    def results(self, record: Record) -> Iterator[tuple[EvalConfig, dict[int, Result]]]:
        """Read what a record says of each evaluation, by seed; a failed one says nothing."""
        shape = (len(self.configs) * len(self.seeds), self.epochs, len(CURVE_COLUMNS))
        known = len(record["eval_perf"]) > 0
        curves = np.asarray(record["curves"]).reshape(shape) if known else None
        reasons = record["eval_reasons"].split("\n")
        for position, config in enumerate(self.configs):
            results = {}
            for place, seed in enumerate(self.seeds if known else ()):
                row = position * len(self.seeds) + place
                assert curves is not None
                results[seed] = Result(
                    status=STATUSES[int(record["eval_status"][row])],
                    reason=reasons[row],
                    valid_perf=float(record["eval_valid"][row]),
                    perf=float(record["eval_perf"][row]),
                    full_perf=float(record["eval_full"][row]),
                    curve=curves[row],
                )
            yield config, results

    def problems(self, record: Record) -> Iterator[str]:
        """Say where the figures of a record are not what its curves give."""
        count = len(self.configs) * len(self.seeds)
        sizes = {
            "eval_valid": count,
            "eval_perf": count,
            "eval_full": count,
            "eval_status": count,
            "curves": count * self.epochs * len(CURVE_COLUMNS),
        }
        if not any(len(record[name]) for name in sizes):
            if record["status"] == "ok":
                yield "its status is ok, but it was not evaluated"
            return
        wrong = [name for name, size in sizes.items() if len(record[name]) != size]
        if wrong or record["eval_reasons"].count("\n") != count - 1:
            yield f"its evaluations have another size than its run's: {', '.join(wrong)}"
            return
        for config, results in self.results(record):
            for seed, result in results.items():
                for problem in result.problems():
                    yield f"{config.model} seed {seed}: {problem}"


@dataclass(frozen=True, eq=False)
class Result:
    """What one evaluation with one seed came to.

    Attributes:
        status: How it ended.
        reason: Why that is not "ok"; empty if it is.
        valid_perf: The validation metric that chose the epoch.
        perf: The test metric at that epoch.
        full_perf: The test metric of the model trained on the original graph.
        curve: (epochs, 7) float32.
        determined: Whether it would end so on any machine.
    """

    status: str
    reason: str
    valid_perf: float
    perf: float
    full_perf: float
    curve: np.ndarray
    determined: bool = True

    def problems(self) -> Iterator[str]:
        """Say where the figures are not what the curve gives."""
        known = ~np.isnan(self.curve[:, _VALID])
        if not known.any():
            if not (math.isnan(self.perf) and math.isnan(self.valid_perf)):
                yield "it has figures without a curve"
            return
        valid = np.where(known, self.curve[:, _VALID], -np.inf)
        best = int(valid.argmax())
        if valid[best] != np.float32(self.valid_perf):
            yield f"valid_perf is {self.valid_perf}, its curve has {valid[best]}"
        last = int(np.flatnonzero(known)[-1])
        for row, column in ((best, _TEST), (last, _BEST)):
            if self.curve[row, column] != np.float32(self.perf):
                yield f"perf is {self.perf}, its curve says {self.curve[row, column]}"


def _evaluate(evaluator: Evaluator[Any], kept: StoredPayload, config: EvalConfig) -> Result:
    """Evaluate a payload once; what goes wrong becomes the result's status.

    If it is the training on the original graph that goes wrong, all else is kept.
    """
    nothing = np.full((config.count("epochs"), len(CURVE_COLUMNS)), np.nan)
    result = Result(OK, "", math.nan, math.nan, math.nan, nothing)
    try:
        found = evaluator.evaluate(kept.payload(), config)
        result = Result(
            found.status, found.reason, found.valid_perf, found.perf, math.nan, found.curve
        )
        return replace(result, full_perf=evaluator.full(config).perf)
    except Exception as error:
        status, reason = failure(error)
        determined = isinstance(error, EvaluationError)
        return replace(result, status=status, reason=reason, determined=determined)
