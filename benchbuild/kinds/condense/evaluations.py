"""What all evaluations of a run share: which models, which seeds, and what a record says of them.

Torch is needed only to run them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Protocol, Self

import numpy as np

from benchbuild.errors import EvaluationError, PlanError
from benchbuild.pipeline.failures import failure
from benchbuild.pipeline.records import OK, STATUSES
from benchbuild.pipeline.settings import JobSettings, Json, Name, Seeds, whole_numbers
from benchbuild.typed import Distinct, Typed, check_names
from benchquery.errors import ConfigError
from benchquery.kinds.condensed.config import TASKS, EvalConfig
from benchquery.kinds.condensed.domains import domain_of_task
from benchquery.table.schema import CURVE_COLUMNS, curve_index
from benchquery.table.sealed import parse_object

if TYPE_CHECKING:
    from benchbuild.kinds.condense.evaluator import Evaluator
    from benchbuild.kinds.condense.payload import StoredPayload

DEFAULT_SEEDS = (0, 1, 2)
_NAMES = frozenset({"evaluations", "eval_seeds"})


class Evaluated(Protocol):
    """What a record says of evaluations, model by model and seed by seed.

    All arrays are empty if nothing was evaluated.
    """

    @property
    def config(self) -> str:
        """The configuration of the graph, as text."""

    @property
    def environment(self) -> str:
        """Where it was evaluated, as JSON."""

    @property
    def status(self) -> str:
        """How the job ended."""

    @property
    def reason(self) -> str:
        """Why that is not ok; empty if it is."""

    @property
    def eval_valid(self) -> np.ndarray:
        """The validation metrics."""

    @property
    def eval_perf(self) -> np.ndarray:
        """The test metrics."""

    @property
    def eval_full(self) -> np.ndarray:
        """The test metrics of the models trained on the original graph."""

    @property
    def eval_other(self) -> np.ndarray:
        """The test metrics by the other of accuracy and ROC-AUC; none in records of older runs."""

    @property
    def eval_more(self) -> np.ndarray:
        """Further test figures, flattened: of the graph, then of the original one."""

    @property
    def eval_status(self) -> np.ndarray:
        """How each ended: the position in `STATUSES`."""

    @property
    def eval_reasons(self) -> tuple[str, ...]:
        """Why each is not ok; nothing at all stands for one that is."""

    @property
    def curves(self) -> np.ndarray:
        """All curves, flattened."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What all evaluations of one graph came to; see `Evaluated` for the arrays.

    Attributes:
        status: "ok" unless the machine failed an evaluation, which another one may not.
        reason: Why it is not "ok"; empty if it is.
    """

    status: str
    reason: str
    eval_valid: np.ndarray
    eval_perf: np.ndarray
    eval_full: np.ndarray
    eval_other: np.ndarray
    eval_more: np.ndarray
    eval_status: np.ndarray
    eval_reasons: tuple[str, ...]
    curves: np.ndarray

    @classmethod
    def nothing(cls, status: str, reason: str) -> Self:
        """Return what is said where there is no graph to evaluate."""
        none, statuses = np.empty(0), np.empty(0, np.int32)
        return cls(
            status, reason, none, none, none, none, none, statuses, (), np.empty(0, np.float32)
        )

    def ended(self, status: str, reason: str) -> Self:
        """Return the same with another end of the job."""
        return replace(self, status=status, reason=reason)


@dataclass(frozen=True)
class Evaluations(Typed):
    """The evaluations of a run.

    Attributes:
        configs: One a model, with seed 0.
        seeds: The seeds that each is run with.
    """

    configs: Annotated[tuple[EvalConfig, ...], Distinct("model", most=1_000)]
    seeds: Seeds

    def __post_init__(self) -> None:
        """Refuse what can't be run.

        Raises:
            PlanError: If a model or a seed comes twice or there is none, or models are trained for
                another number of epochs.
            ConfigError: If an evaluation follows another recipe than this version.
        """
        super().__post_init__()
        for config in self.configs:
            config.check_runnable()
        if len({(config.task, config.count("epochs")) for config in self.configs}) > 1:
            raise PlanError("all models of a run have one task, and are trained for as many epochs")

    @classmethod
    def of(
        cls,
        models: Sequence[str] | None = None,
        seeds: Sequence[int] = DEFAULT_SEEDS,
        hyperparameters: Mapping[str, Any] | None = None,
        task: str = TASKS[0],
    ) -> Evaluations:
        """Choose evaluations.

        Args:
            models: The models; None for the task's usual one.
            seeds: The seeds that each is run with.
            hyperparameters: Those that are not the task's defaults.
            task: What the models are trained to do.

        Raises:
            ConfigError: If a task, model or hyper-parameter is unknown or not allowed.
            PlanError: If a model is named twice, or there is none.
        """
        changed = hyperparameters or {}
        configs = tuple(
            EvalConfig(task, model, **changed) for model in ([None] if models is None else models)
        )
        return cls(configs, whole_numbers(seeds))

    @classmethod
    def read(cls, settings: Json) -> Evaluations:
        """Read those of a run back.

        Raises:
            ValueError: If something is missing, or no list.
            ConfigError: If an evaluation can't be read.
        """
        check_names(_NAMES & settings.keys(), _NAMES, _NAMES)
        texts, seeds = settings["evaluations"], settings["eval_seeds"]
        if not isinstance(texts, list) or not isinstance(seeds, list):
            raise ValueError("evaluations and eval_seeds: not lists")
        return cls(tuple(map(read_evaluation, texts)), tuple(seeds))

    @property
    def settings(self) -> dict[str, Any]:
        """What ``run.json`` says of them."""
        return {
            "evaluations": [config.text for config in self.configs],
            "eval_seeds": list(self.seeds),
        }

    @property
    def judge(self) -> EvalConfig:
        """How snapshots are judged: by the usual model at the usual task, trained more briefly."""
        first = self.configs[0]
        domain = domain_of_task(first.task)
        epochs = min(domain.judge_epochs, first.count("epochs"))
        return first.replace(task=domain.task, model=domain.model, epochs=epochs)

    @property
    def of_first(self) -> tuple[EvalConfig, ...]:
        """Those of the first model, seed by seed."""
        return tuple(self.configs[0].replace(seed=seed) for seed in self.seeds)

    @property
    def count(self) -> int:
        """How many evaluations that are."""
        return len(self.configs) * len(self.seeds)

    @property
    def epochs(self) -> int:
        """Epochs of every training."""
        return self.configs[0].count("epochs")

    def run(self, evaluator: Evaluator[Any], kept: StoredPayload) -> Outcome:
        """Evaluate a payload in every way."""
        found = [
            _evaluate(evaluator, kept, config.replace(seed=seed))
            for config in self.configs
            for seed in self.seeds
        ]
        lost = [one for one in found if not one.determined]
        worst = max(lost, key=lambda one: STATUSES.index(one.status), default=None)
        return Outcome(
            status=worst.status if worst else OK,
            reason=worst.reason if worst else "",
            eval_valid=np.array([one.valid_perf for one in found]),
            eval_perf=np.array([one.perf for one in found]),
            eval_full=np.array([one.full_perf for one in found]),
            eval_other=np.array([one.other_perf for one in found]),
            eval_more=np.array([one.further(self.configs[0]) for one in found]).reshape(-1),
            eval_status=np.array([STATUSES.index(one.status) for one in found], np.int32),
            eval_reasons=tuple(one.reason for one in found),
            curves=np.concatenate([one.curve.astype(np.float32).reshape(-1) for one in found]),
        )

    def results(self, record: Evaluated) -> Iterator[tuple[EvalConfig, dict[int, Result]]]:
        """Read what a record says of each evaluation, by seed; a failed one says nothing."""
        shape = (self.count, self.epochs, len(CURVE_COLUMNS))
        known = len(record.eval_perf) > 0
        curves = np.asarray(record.curves).reshape(shape) if known else None
        reasons = self._reasons(record)
        more = np.asarray(record.eval_more)
        more = more.reshape(self.count, 2, -1) if len(more) else np.empty((self.count, 2, 0))
        for position, config in enumerate(self.configs):
            results = {}
            for place, seed in enumerate(self.seeds if known else ()):
                row = position * len(self.seeds) + place
                assert curves is not None
                results[seed] = Result(
                    status=STATUSES[int(record.eval_status[row])],
                    reason=reasons[row],
                    valid_perf=float(record.eval_valid[row]),
                    perf=float(record.eval_perf[row]),
                    full_perf=float(record.eval_full[row]),
                    curve=curves[row],
                    other_perf=float(record.eval_other[row])
                    if len(record.eval_other)
                    else math.nan,
                    more=tuple(more[row, 0].tolist()),
                    full_more=tuple(more[row, 1].tolist()),
                )
            yield config, results

    def _reasons(self, record: Evaluated) -> tuple[str, ...]:
        """Return the reasons of a record; one of a single good evaluation has none at all."""
        return record.eval_reasons or ("",) * self.count

    def problems(self, record: Evaluated) -> Iterator[str]:
        """Say where the figures of a record are not what its curves give."""
        names = ("eval_valid", "eval_perf", "eval_full", "eval_status", "curves")
        lengths = {name: len(getattr(record, name)) for name in names}
        if not any(lengths.values()):
            if record.status == OK:
                yield "its status is ok, but it was not evaluated"
            return
        wanted = {**dict.fromkeys(names, self.count), "eval_reasons": self.count}
        wanted["curves"] *= self.epochs * len(CURVE_COLUMNS)
        lengths["eval_reasons"] = len(self._reasons(record))
        if wrong := [name for name, length in lengths.items() if length != wanted[name]]:
            yield f"its evaluations have another size than its run's: {', '.join(wrong)}"
            return
        for config, results in self.results(record):
            for seed, result in results.items():
                for problem in result.problems(config):
                    yield f"{config.model} seed {seed}: {problem}"


def check_environment(record: Evaluated) -> None:
    """Refuse a record that does not say where it was evaluated.

    Raises:
        ValueError: If what it says is no JSON object.
    """
    if record.environment:
        parse_object(record.environment)


def read_evaluation(text: Any) -> EvalConfig:
    """Read how something is evaluated, as ``run.json`` has it.

    Raises:
        ConfigError: If that is not the canonical text of an evaluation.
    """
    config = EvalConfig.from_text(text)
    if config.text != text:
        raise ConfigError(f"{text!r} is not the canonical text of an evaluation: {config.text!r}")
    return config


@dataclass(frozen=True)
class EvaluatedSettings(JobSettings):
    """Settings of runs that evaluate.

    Attributes:
        recipe: Version of the recipes.
        evaluations: How each condensed graph is judged in the end.
    """

    recipe: Name
    evaluations: Evaluations

    def in_full(self) -> dict[str, Any]:
        """Return all of it in plain JSON values."""
        return {**super().in_full(), **self.evaluations.settings}

    @classmethod
    def from_json(cls, body: Json) -> Self:
        """Read it from ``run.json``.

        Raises:
            ConfigError: If an evaluation can't be read.
        """
        rest = {name: value for name, value in body.items() if name != "eval_seeds"}
        return super().from_json({**rest, "evaluations": Evaluations.read(body)})


@dataclass(frozen=True, eq=False)
class Result:
    """What one evaluation with one seed came to.

    Attributes:
        status: How it ended.
        reason: Why that is not "ok", or why there is no figure of the original graph; else empty.
        valid_perf: The validation metric that chose the epoch.
        perf: The test metric at that epoch.
        full_perf: The test metric of the model trained on the original graph.
        curve: (epochs, 7) float32.
        determined: Whether it would end so on any machine.
        other_perf: The test metric at that epoch by the other of accuracy and ROC-AUC.
        more: Further test figures, as the task's `measures` name them; none where there are none.
        full_more: The same of the model trained on the original graph.
    """

    status: str
    reason: str
    valid_perf: float
    perf: float
    full_perf: float
    curve: np.ndarray
    determined: bool = True
    other_perf: float = math.nan
    more: tuple[float, ...] = ()
    full_more: tuple[float, ...] = ()

    def further(self, config: EvalConfig) -> list[list[float]]:
        """Return the further figures and those of the original graph; NaN where there are none."""
        missing = [math.nan] * len(config.measures)
        return [list(self.more) or missing, list(self.full_more) or missing]

    @property
    def last_perf(self) -> float:
        """The test metric at the last epoch that has one, whatever validation says of it."""
        tested = self.curve[:, curve_index("test_perf")]
        known = tested[~np.isnan(tested)]
        return float(known[-1]) if len(known) else math.nan

    def problems(self, config: EvalConfig) -> Iterator[str]:
        """Say where the figures are not what the curve gives.

        Args:
            config: How it was evaluated.
        """
        measured = self.curve[:, curve_index("valid_perf")]
        known = ~np.isnan(measured)
        if not known.any():
            if not (math.isnan(self.perf) and math.isnan(self.valid_perf)):
                yield "it has figures without a curve"
            return
        valid = np.where(known, measured, -np.inf)
        last = int(np.flatnonzero(known)[-1])
        best = last if config.values.get("report") == "last" else int(valid.argmax())
        if valid[best] != np.float32(self.valid_perf):
            yield f"valid_perf is {self.valid_perf}, its curve has {valid[best]}"
        for row, name in ((best, "test_perf"), (last, "best_perf")):
            found = self.curve[row, curve_index(name)]
            if found != np.float32(self.perf):
                yield f"perf is {self.perf}, its curve says {found}"


def _evaluate(evaluator: Evaluator[Any], kept: StoredPayload, config: EvalConfig) -> Result:
    """Evaluate a payload once; what goes wrong becomes the result's status.

    If it is the training on the original graph that goes wrong, all else is kept.
    """
    nothing = np.full((config.count("epochs"), len(CURVE_COLUMNS)), np.nan)
    result = Result(OK, "", math.nan, math.nan, math.nan, nothing)
    try:
        found = evaluator.evaluate(kept.payload(), config)
        result = Result(
            found.status,
            found.reason,
            found.valid_perf,
            found.perf,
            math.nan,
            found.curve,
            other_perf=found.other_perf,
            more=found.more,
        )
        full = evaluator.full(config)
        return replace(
            result,
            full_perf=full.perf,
            reason=result.reason or full.reason,
            full_more=full.more,
        )
    except Exception as error:
        status, reason = failure(error)
        determined = isinstance(error, EvaluationError)
        return replace(result, status=status, reason=reason, determined=determined)
