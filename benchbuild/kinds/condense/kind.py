"""Condensing: a job is one configuration, on the dataset of the run.

The method runs, the snapshot with the best validation metric is kept in storage precision, and
what is kept is evaluated with all models and seeds of the run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from benchbuild.datasets.registry import dataset_spec
from benchbuild.errors import PlanError
from benchbuild.kinds.condense.costs import predict
from benchbuild.kinds.condense.domains import MODULES, find_domain
from benchbuild.kinds.condense.evaluations import (
    EvaluatedSettings,
    Evaluations,
    Outcome,
    check_environment,
    read_evaluation,
)
from benchbuild.kinds.condense.forms import payload_of
from benchbuild.kinds.condense.records import CondenseKey, CondenseRecord, ConfigTexts
from benchbuild.kinds.workers import DatasetWorker, GraphAbout, SetFacts
from benchbuild.pipeline.jobs import Cost, JobKind, Place, Run, canonical
from benchbuild.pipeline.records import OK, JobKey
from benchbuild.pipeline.settings import RunPart
from benchquery.allowed import Pattern
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig
from benchquery.kinds.condensed.domains import DOMAINS
from benchquery.kinds.condensed.domains.spec import RECIPE
from benchquery.kinds.condensed.graphs import trace_problem

if TYPE_CHECKING:
    from benchbuild.kinds.condense.evaluator import Evaluator
    from benchbuild.kinds.condense.method import AnyProblem
    from benchbuild.kinds.condense.process import Condensation
    from benchbuild.pipeline.collect import Collection
    from benchquery.table.manifest import Manifest


@dataclass(frozen=True)
class CondenseSettings(EvaluatedSettings):
    """What all condensations of a run share.

    Attributes:
        judge: How snapshots are judged.
    """

    judge: EvalConfig

    def __post_init__(self) -> None:
        """Refuse a judge that this version does not have.

        Raises:
            ConfigError: If it follows another recipe.
        """
        super().__post_init__()
        self.judge.check_runnable()

    def in_full(self) -> dict[str, Any]:
        """Return all of it in plain JSON values."""
        return {**super().in_full(), "judge": self.judge.text}

    @classmethod
    def read_value(cls, name: str, value: Any) -> Any:
        """Read the judge as such."""
        return read_evaluation(value) if name == "judge" else super().read_value(name, value)


@dataclass(frozen=True)
class CondenseJobs(RunPart):
    """Which configurations are condensed.

    Attributes:
        configs: Their canonical texts.
        grid: The grid that they come from; empty if they were chosen one by one.
    """

    configs: ConfigTexts
    grid: Annotated[str, Pattern(r"[\w.-]{0,100}", "the name of a grid, or nothing")]


CondenseRun = Run[CondenseSettings, CondenseJobs]


class CondenseKind(JobKind[CondenseSettings, CondenseJobs, CondenseRecord]):
    """Condense graphs and evaluate them; merges into a table of condensed graphs."""

    name = "condense"
    settings = CondenseSettings
    jobs = CondenseJobs
    record = CondenseRecord
    facts = SetFacts
    about = GraphAbout
    preload = ("benchbuild.datasets.graph", "benchbuild.kinds.condense.process", *MODULES)
    table = "condensed"
    commands = (
        "benchbuild.kinds.condense.command",
        "benchbuild.kinds.condense.plan",
        "benchbuild.kinds.condense.join",
    )

    def keys(self, run: CondenseRun) -> list[JobKey]:
        """List the configurations in the order in which they were given."""
        return [CondenseKey(text) for text in run.jobs.configs]

    def costs(self, run: CondenseRun, keys: Sequence[JobKey]) -> list[Cost]:
        """Predict what jobs take; see `benchbuild.kinds.condense.costs`."""
        evaluations = run.settings.evaluations
        return [predict(CondenseConfig.from_text(key[0]), evaluations) for key in keys]

    def open(self, settings: CondenseSettings, place: Place) -> CondenseContext:
        """Load the dataset."""
        return CondenseContext(settings, place)

    def problems(self, run: CondenseRun, record: CondenseRecord) -> Iterator[str]:
        """Check a record's figures against its curves, its choice against its trace."""
        check_environment(record)
        yield from run.settings.evaluations.problems(record)
        valid, kept = np.asarray(record.trace_valid), payload_of(record)
        if not len(valid):
            if record.status == OK or kept is not None:
                yield "its status is ok, or it keeps something, but it has no snapshots"
            return
        chosen = int(np.where(np.isnan(valid), -1.0, valid).argmax())
        epochs = record.trace_epoch
        if len(epochs) != len(valid) or int(epochs[chosen]) != record.best_epoch:
            yield f"its epoch {record.best_epoch} is not the first of best validation metric"
        if problem := trace_problem(record.trace):
            yield problem
        if kept is None or not kept.is_finite:
            yield "it has no graph, or one that is not finite"

    def table_problems(self, folder: Path) -> Iterator[str]:
        """Check the figures of a table against its curves."""
        from benchbuild.kinds.condense.table import problems_in_table

        return problems_in_table(folder)

    def score(self, record: CondenseRecord) -> float:
        """Return the validation metric that chose the snapshot."""
        return record.valid_perf

    def write_table(self, collection: Collection, stage: Path) -> None:
        """Write a table of condensed graphs; see `benchbuild.kinds.condense.table`."""
        from benchbuild.kinds.condense.table import write_condensed_table

        write_condensed_table(collection, stage)

    def contents(self, manifest: Manifest, folder: Path) -> str:
        """Say how many graphs a table has, and in how many rows."""
        from benchbuild.kinds.condense.table import contents

        return contents(manifest, folder)


JOB = CondenseKind()


class JudgingWorker(DatasetWorker):
    """A worker with a dataset in memory, ready to condense it and to judge what comes of that.

    Args:
        dataset: The dataset.
        place: Where to run.
    """

    def __init__(self, dataset: str, place: Place) -> None:
        from benchbuild.kinds.condense.references import RememberingEvaluator

        super().__init__(dataset, place)
        self.domain = find_domain(self._graph.sort)
        self._prepared = self.domain.prepare(self._graph)
        self.evaluator: Evaluator[Any] = RememberingEvaluator(
            self.domain.make_evaluator(self._prepared, self._device),
            self._graph.checksum,
            self._device,
        )
        self._temporary = tempfile.TemporaryDirectory()
        self.scratch = Path(place.scratch or self._temporary.name)

    @cached_property
    def problem(self) -> AnyProblem:
        """The data as methods see it."""
        return self.domain.make_problem(self._prepared, self._device)

    def environment(self) -> str:
        """Say where this worker runs, as JSON."""
        from benchbuild.compute.devices import environment

        return canonical({**environment(self._device, threads=1), **self._where})


class EvaluatingWorker(JudgingWorker):
    """A worker that evaluates condensed graphs too.

    Args:
        settings: The dataset and the evaluations.
        place: Where to run.
    """

    def __init__(self, settings: EvaluatedSettings, place: Place) -> None:
        super().__init__(settings.dataset, place)
        self.evaluations = settings.evaluations
        for config in settings.evaluations.configs:
            if config.task not in DOMAINS[self.domain.name].tasks:
                raise PlanError(
                    f"dataset {settings.dataset!r} is one of {self.domain.name}, which can't be "
                    f"judged by {config.task}"
                )


class CondenseContext(EvaluatingWorker):
    """A worker that condenses."""

    def __init__(self, settings: CondenseSettings, place: Place) -> None:
        super().__init__(settings, place)
        self._judge = settings.judge

    def run(self, key: JobKey) -> CondenseRecord:
        """Condense and evaluate one configuration."""
        from benchbuild.kinds.condense.process import run_condensation

        done = run_condensation(
            self.problem,
            CondenseConfig.from_text(key[0]),
            self.evaluator,
            self._judge,
            self.scratch,
            reported=self.evaluations.of_first,
        )
        return CondenseRecord(
            config=key[0],
            environment=self.environment(),
            **_condense_fields(done),
            **vars(self._evaluate(done)),
        )

    def _evaluate(self, done: Condensation) -> Outcome:
        """Evaluate what was kept; how the condensation ended comes before how that did."""
        if done.best is None:
            return Outcome.nothing(done.status, done.reason)
        found = self.evaluations.run(self.evaluator, done.best.payload)
        return found if done.status == OK else found.ended(done.status, done.reason)


_NOTHING_KEPT = {
    field.name: field.blank
    for field in CondenseRecord.columns()
    if field.name in ("nodes", "x", "y", "adjacency", "form", "payload")
}
"""What a record says where nothing is kept, or it is in another form."""


def _condense_fields(done: Condensation) -> dict[str, Any]:
    best, costs = done.best, done.costs
    own = ("epoch", "valid_perf", "seconds")
    losses = {name: values for name, values in done.trace.items() if name not in own}
    return {
        **_NOTHING_KEPT,
        **({} if best is None else best.payload.to_record()),
        "best_epoch": -1 if best is None else best.epoch,
        "valid_perf": float("nan") if best is None else best.valid_perf,
        "loss_names": tuple(losses),
        "trace_epoch": done.trace["epoch"],
        "trace_losses": np.concatenate([np.empty(0, np.float32), *losses.values()]),
        "trace_valid": done.trace["valid_perf"],
        "trace_seconds": done.trace["seconds"],
        "condense_time": costs.seconds,
        "condense_time_best": costs.seconds_best,
        "expert_time": costs.expert_seconds,
        "expert_bytes": costs.expert_bytes,
        "peak_memory": costs.peak_memory,
        "peak_gpu_memory": costs.peak_gpu_memory,
    }


def condense_run(
    dataset: str, configs: Iterable[CondenseConfig], evaluations: Evaluations, grid: str = ""
) -> CondenseRun:
    """Describe a run of condensations.

    Args:
        dataset: The dataset, with parameters if it has some.
        configs: The configurations, all of this dataset.
        evaluations: How each condensed graph is judged in the end.
        grid: The grid that they come from, if they do.

    Raises:
        PlanError: If there are none, or one of another dataset.
        ConfigError: If one can't be run here, as when its method is not installed.
        UnknownDatasetError: If there is no such dataset.
    """
    name = dataset_spec(dataset).name
    chosen = list(dict.fromkeys(configs))
    if not chosen:
        raise PlanError(f"there is nothing to condense on {name!r}")
    for config in chosen:
        config.check_runnable()
        if config.dataset != name:
            raise PlanError(f"{config!r} is not of the dataset {name!r} of this run")
    settings = CondenseSettings(name, RECIPE, evaluations, evaluations.judge)
    return Run(JOB.name, settings, CondenseJobs(tuple(c.text for c in chosen), grid))
