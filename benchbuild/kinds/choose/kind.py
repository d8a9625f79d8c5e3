"""Choosing settings of a condensation method: a job is one choice at one size with one seed.

The method runs as in `benchbuild condense`, its snapshots are judged by validation nodes, and the
best of them is the choice's figure. Nothing is evaluated in the end, so no test label is read. The
choice with the best mean over all sizes and seeds wins. What is chosen from is written down in
`benchbuild.kinds.choose.searches`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Annotated, Any, NamedTuple

from benchbuild.datasets.registry import dataset_spec
from benchbuild.errors import PlanError
from benchbuild.hyperparameters import Count, assignments
from benchbuild.kinds.choose.searches import SEED, Ranges, anchors_of, search_of
from benchbuild.kinds.condense.costs import evaluation_seconds, predict
from benchbuild.kinds.condense.domains import MODULES, domain_of
from benchbuild.kinds.condense.evaluations import Evaluations, read_evaluation
from benchbuild.kinds.condense.kind import JudgingWorker
from benchbuild.kinds.tune.ranking import Trial, rank
from benchbuild.kinds.workers import GraphAbout, SetFacts
from benchbuild.pipeline.jobs import Cost, JobKind, Place, Run, combinations
from benchbuild.pipeline.records import OK, JobKey, JobRecord, column
from benchbuild.pipeline.settings import JobSettings, Name, RunPart, Seed, Seeds, whole_numbers
from benchbuild.typed import Distinct
from benchquery.allowed import Range, Value
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig
from benchquery.kinds.condensed.methods import canonical_method, find_method


class ChooseKey(NamedTuple):
    """A trial, the place of a size among those that are tried, and a seed."""

    trial: int
    anchor: int
    seed: int


@dataclass(frozen=True, eq=False)
class ChooseRecord(JobRecord):
    """What a method came to with the settings of a trial.

    Attributes:
        trial: See `ChooseKey`, as for the two that follow.
        anchor: The same.
        seed: The same.
        config: The configuration as text.
        valid_perf: Validation metric of the best snapshot.
        first_valid: That of the first one, before anything was learnt.
        last_valid: That of the last one.
        best_epoch: The epoch of the best one.
        condense_time: Seconds of the condensation, judging excluded.
        environment: Device, threads and library versions, as JSON.
    """

    trial: int = column("int32", "key")
    anchor: int = column("int32", "key")
    seed: int = column("int32", "key")
    config: str = column("string", "figure")
    valid_perf: float = column("float64", "figure")
    first_valid: float = column("float64", "figure")
    last_valid: float = column("float64", "figure")
    best_epoch: int = column("int32", "figure")
    condense_time: float = column("float64", "measurement")
    environment: str = column("string", "measurement")


@dataclass(frozen=True, kw_only=True)
class ChooseSettings(JobSettings):
    """What all trials of a search share.

    Attributes:
        method: The method.
        recipe: Version of its recipe.
        ranges: What each hyper-parameter is drawn from.
        search_seed: Seed of the choices.
        sizes: The sizes of the results that each choice is tried at.
        judge: How snapshots are judged, as text.
    """

    method: Name
    recipe: Name
    ranges: Mapping[str, Annotated[tuple[int | float | str, ...], Distinct("value", most=1_000)]]
    search_seed: Seed
    sizes: Annotated[tuple[Annotated[float, Range(above=0)], ...], Distinct("size", most=100)]
    judge: str

    def __post_init__(self) -> None:
        """Refuse what can't be run.

        Raises:
            ConfigError: If there is no such method or hyper-parameter, or a value is not allowed.
            PlanError: If a range is empty, or the seed is none.
        """
        super().__post_init__()
        self.judging.check_runnable()
        for name, values in self.ranges.items():
            for value in values:
                method_config(self.dataset, self.method, self.sizes[0], SEED, {name: value})

    @property
    def judging(self) -> EvalConfig:
        """How snapshots are judged."""
        return read_evaluation(self.judge)

    def choice(self, trial: int) -> dict[str, Value]:
        """Draw the hyper-parameters of a trial; always the same ones.

        Trial 0 has the method's own, but where a range is a single value, which is no choice.
        """
        dice = random.Random(f"{self.search_seed} {trial}")
        drawn = {name: dice.choice(values) for name, values in sorted(self.ranges.items())}
        return {name: drawn[name] for name in drawn if trial or len(self.ranges[name]) == 1}

    def config(self, key: JobKey) -> CondenseConfig:
        """Return the configuration of a job."""
        trial, anchor, seed = ChooseKey(*key)
        return method_config(
            self.dataset, self.method, self.sizes[anchor], seed, self.choice(trial)
        )


@dataclass(frozen=True)
class ChooseJobs(RunPart):
    """How many trials there are, and with which seeds.

    Attributes:
        trials: How many choices.
        seeds: The condensation seeds.
    """

    trials: Count
    seeds: Seeds


ChooseRun = Run[ChooseSettings, ChooseJobs]


def method_config(
    dataset: str, method: str, size: float, seed: int, changed: Mapping[str, Value]
) -> CondenseConfig:
    """Return a configuration, its size said in the way of the dataset's domain.

    Raises:
        ConfigError: If a name is unknown or a value not allowed.
    """
    domain = domain_of(dataset)
    whole = domain.size != "ratio" and float(size).is_integer()
    said: dict[str, Any] = {domain.size: int(size) if whole else size, **changed}
    return CondenseConfig(dataset, method, seed=seed, domain=domain.name, **said)


def parse_ranges(texts: Sequence[str], dataset: str, method: str) -> dict[str, tuple[Value, ...]]:
    """Return the ranges of a method with some replaced by ``name=value,value`` texts.

    Raises:
        HyperParameterError: If a text is not of that form, or a name is given twice.
        ConfigError: If there is no such method or hyper-parameter, or a value is not allowed.
    """
    domain = domain_of(dataset).name
    search = search_of(dataset_spec(dataset).name, domain, canonical_method(method, domain))
    ranges = dict(search.ranges)
    for name, values in assignments(texts).items():
        tried = [method_config(dataset, method, 1, SEED, {name: v}) for v in values.split(",")]
        ranges[name] = tuple(config[name] for config in tried)
    return ranges


def choose_run(
    dataset: str,
    method: str,
    *,
    trials: int | None = None,
    sizes: Sequence[float] | None = None,
    seeds: Sequence[int] = (SEED,),
    search_seed: int = 0,
    ranges: Ranges | None = None,
    judge: EvalConfig | None = None,
) -> ChooseRun:
    """Describe a search for the settings of a method.

    Args:
        dataset: The dataset, with parameters if it has some.
        method: The method.
        trials: How many choices to try; None for what is written down.
        sizes: The sizes of the results to try each at; None for what is written down.
        seeds: The condensation seeds to try each with.
        search_seed: Seed of the choices.
        ranges: What to choose from; None for what is written down.
        judge: How snapshots are judged; None for the usual way of the dataset's domain.

    Raises:
        PlanError: If nothing is written down of what is not given.
        ConfigError: If the method does not exist, or a choice is not allowed.
        UnknownDatasetError: If there is no such dataset.
    """
    name = dataset_spec(dataset).name
    domain = domain_of(name)
    found = canonical_method(method, domain.name)
    written = search_of(name, domain.name, found)
    drawn = written.ranges if ranges is None else ranges
    if not drawn:
        raise PlanError(f"nothing is written down that {found!r} is to choose from: say a range")
    usual = Evaluations.of(task=domain.task).judge
    settings = ChooseSettings(
        dataset=name,
        method=found,
        recipe=find_method(found, domain.name).recipe_on(name),
        ranges={key: tuple(values) for key, values in drawn.items()},
        search_seed=search_seed,
        sizes=tuple(map(float, anchors_of(name) if sizes is None else sizes)),
        judge=(judge or usual).text,
    )
    count = written.trials if trials is None else trials
    run = Run(JOB.name, settings, ChooseJobs(count, whole_numbers(seeds)))
    for key in JOB.keys(run):
        settings.config(key).check_runnable()
    return run


def rank_choices(run: ChooseRun, records: Iterable[ChooseRecord]) -> list[Trial]:
    """Return the trials that are complete, the best first; see `rank`."""
    whole = len(run.settings.sizes) * len(run.jobs.seeds)
    return rank(records, whole, run.settings.choice)


class ChooseKind(JobKind[ChooseSettings, ChooseJobs, ChooseRecord]):
    """Try settings of a method; what it finds is a choice, not a table."""

    name = "choose"
    settings = ChooseSettings
    jobs = ChooseJobs
    record = ChooseRecord
    facts = SetFacts
    about = GraphAbout
    preload = ("benchbuild.datasets.graph", "benchbuild.kinds.condense.process", *MODULES)

    def keys(self, run: ChooseRun) -> list[JobKey]:
        """List the jobs: trial by trial, so that each is complete as early as can be."""
        trials, anchors = range(run.jobs.trials), range(len(run.settings.sizes))
        return list(starmap(ChooseKey, combinations(trials, anchors, run.jobs.seeds)))

    def costs(self, run: ChooseRun, keys: Sequence[JobKey]) -> list[Cost]:
        """Predict what jobs take: a condensation whose result is not evaluated."""
        judge = run.settings.judging
        evaluations = Evaluations((judge,), (judge.seed,))
        found = []
        for key in keys:
            config = run.settings.config(key)
            cost = predict(config, evaluations)
            unneeded = evaluation_seconds(config, evaluations)
            found.append(replace(cost, seconds=max(cost.seconds - unneeded, 0.0)))
        return found

    def open(self, settings: ChooseSettings, place: Place) -> ChooseContext:
        """Load the dataset."""
        return ChooseContext(settings, place)

    def problems(self, run: ChooseRun, record: ChooseRecord) -> Iterator[str]:
        """Check that a record is of its trial, and that one that ended well has a figure."""
        if record.config and record.config != run.settings.config(record.key).text:
            yield "its configuration is not that of its trial"
        if record.status == OK and math.isnan(record.valid_perf):
            yield "its status is ok, but it has no valid_perf"

    def score(self, record: ChooseRecord) -> float:
        """Return the validation metric."""
        return record.valid_perf


JOB = ChooseKind()


class ChooseContext(JudgingWorker):
    """A worker that condenses with the settings of a trial."""

    def __init__(self, settings: ChooseSettings, place: Place) -> None:
        super().__init__(settings.dataset, place)
        self._settings = settings

    def run(self, key: JobKey) -> ChooseRecord:
        """Condense once; what comes of it is judged and not kept."""
        from benchbuild.kinds.condense.process import run_condensation

        config = self._settings.config(key)
        judge = self._settings.judging
        done = run_condensation(self.problem, config, self.evaluator, judge, self.scratch)
        judged = done.trace["valid_perf"].tolist()
        trial, anchor, seed = ChooseKey(*key)
        return ChooseRecord(
            trial=trial,
            anchor=anchor,
            seed=seed,
            config=config.text,
            valid_perf=math.nan if done.best is None else done.best.valid_perf,
            first_valid=judged[0] if judged else math.nan,
            last_valid=judged[-1] if judged else math.nan,
            best_epoch=-1 if done.best is None else done.best.epoch,
            condense_time=done.costs.seconds,
            environment=self.environment(),
            status=done.status,
            reason=done.reason,
        )
