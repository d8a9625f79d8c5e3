"""Tuning: a job is one trial of hyper-parameters on one anchor architecture with one seed.

The protocol of NAS-Bench-Graph: 30 anchors, of which ten are classic networks (GCN, GAT, GIN,
GraphSAGE and ARMA with two and three layers) and the others are drawn from the space; random
search over the printed ranges; the trial with the best mean over the anchors wins. The mean is
that of the validation metric, so tuning never sees the test set.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import starmap
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from benchbuild.datasets.registry import dataset_spec
from benchbuild.errors import HyperParameterError
from benchbuild.hyperparameters import (
    DEFAULT_HYPERPARAMETERS,
    RECIPE_VERSION,
    Count,
    HyperParameters,
    assignments,
)
from benchbuild.kinds.train.costs import CostModel
from benchbuild.kinds.train.kind import NetworkWorker, RoundedSettings, measured
from benchbuild.kinds.tune.ranking import Trial, rank
from benchbuild.kinds.workers import GraphAbout, GraphFacts
from benchbuild.pipeline.jobs import Cost, JobKind, Place, Run, combinations
from benchbuild.pipeline.records import OK, JobKey, JobRecord, column
from benchbuild.pipeline.settings import RunPart, Seed, Seeds, whole_numbers
from benchbuild.typed import Distinct
from benchquery.kinds.architectures.arch import Arch
from benchquery.kinds.architectures.space import get_space

RANGES: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "pre": (0, 1),
        "post": (0, 1),
        "hidden": (64, 128, 256),
        "dropout": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
        "optimizer": ("sgd", "adam"),
        "lr": (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001),
        "weight_decay": (0.0, 0.0005),
        "epochs": (200, 300, 400, 500),
    }
)
"""What each hyper-parameter is drawn from, as printed in the paper."""

ANCHORS = 30
CLASSIC_OPS = ("gcn", "gat", "gin", "sage", "arma")
CLASSIC_DEPTHS = (2, 3)


class TuneKey(NamedTuple):
    """A trial, an anchor and a seed."""

    trial: int
    hash: int
    seed: int


@dataclass(frozen=True, eq=False)
class TuneRecord(JobRecord):
    """One anchor trained with the hyper-parameters of a trial; figures as in `TrainRecord`."""

    trial: int = column("int32", "key")
    hash: int = column("int32", "key")
    seed: int = column("int32", "key")
    epochs_done: int = column("int32", "figure")
    valid_perf: float = column("float64", "figure")
    perf: float = column("float64", "figure")
    best_epoch: int = column("int32", "figure")
    params: int = column("int64", "figure")
    latency: float = column("float64", "measurement")
    train_time: float = column("float64", "measurement")
    peak_memory: int = column("int64", "measurement")
    environment: str = column("string", "measurement")


@dataclass(frozen=True, kw_only=True)
class TuneSettings(RoundedSettings):
    """What all trials of a search share.

    Attributes:
        ranges: What each hyper-parameter is drawn from.
        search_seed: Seed of the anchors and of the choices.
    """

    ranges: Mapping[str, Annotated[tuple[int | float | str, ...], Distinct("value", most=1_000)]]
    search_seed: Seed

    def __post_init__(self) -> None:
        """Refuse ranges that nothing can be drawn from.

        Raises:
            HyperParameterError: If a name does not exist, or a value is not allowed.
            PlanError: If a range is empty, or the seed is none.
        """
        super().__post_init__()
        for name, values in self.ranges.items():
            for value in values:
                DEFAULT_HYPERPARAMETERS.override(**{name: value})

    def hyperparameters(self, trial: int) -> HyperParameters:
        """Draw the hyper-parameters of a trial; always the same ones."""
        dice = random.Random(f"{self.search_seed} {trial}")
        ranges = self.ranges
        drawn = {name: ranges[name][dice.randrange(len(ranges[name]))] for name in sorted(ranges)}
        return DEFAULT_HYPERPARAMETERS.override(**drawn)


@dataclass(frozen=True)
class TuneJobs(RunPart):
    """How many trials there are, and with which seeds.

    Attributes:
        trials: How many random choices.
        seeds: The seeds of each training.
    """

    trials: Count
    seeds: Seeds


TuneRun = Run[TuneSettings, TuneJobs]


def classic_anchors(space: str) -> list[int]:
    """Return the hashes of the classic networks that a space holds."""
    found = []
    for op in CLASSIC_OPS:
        for depth in CLASSIC_DEPTHS:
            arch = Arch([0, 1, 2, 3], [*[op] * depth, *["skip"] * (4 - depth)])
            if arch.is_in(space):
                found.append(arch.valid_hash())
    return found


def anchors(space: str, seed: int) -> list[int]:
    """Return the anchors: the classic networks, then random ones to make up `ANCHORS`."""
    classic = classic_anchors(space)
    drawn = (arch.valid_hash() for arch in get_space(space).sample(ANCHORS, seed=seed))
    others = [number for number in drawn if number not in classic]
    return [*classic, *others[: ANCHORS - len(classic)]]


def parse_ranges(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Return the ranges with some replaced by ``name=value,value`` texts.

    Raises:
        HyperParameterError: If a name does not exist or is given twice, or a value is not allowed.
    """
    ranges = {name: list(values) for name, values in RANGES.items()}
    for name, values in assignments(texts).items():
        if name not in ranges:
            raise HyperParameterError(
                f"range {name}={values} is not for one of {', '.join(ranges)}"
            )
        changed = [DEFAULT_HYPERPARAMETERS.override(**{name: v}) for v in values.split(",")]
        ranges[name] = [getattr(hp, name) for hp in changed]
    return ranges


def tune_run(
    dataset: str,
    *,
    trials: int,
    seeds: Sequence[int] = (0,),
    search_seed: int = 0,
    ranges: Mapping[str, Sequence[Any]] = RANGES,
    round_valid: int | None = None,
) -> TuneRun:
    """Describe a search for hyper-parameters.

    Args:
        dataset: The dataset, with parameters if it has some.
        trials: How many random choices to try.
        seeds: The seeds of each training.
        search_seed: Seed of the anchors and of the choices.
        ranges: What to choose from.
        round_valid: Decimals that validation metrics are rounded to; None to keep them exact.
    """
    spec = dataset_spec(dataset).require("nodes", JOB.name)
    settings = TuneSettings(
        dataset=spec.name,
        space=spec.space,
        recipe=RECIPE_VERSION,
        ranges={name: tuple(values) for name, values in ranges.items()},
        search_seed=search_seed,
        round_valid=round_valid,
    )
    return Run(JOB.name, settings, TuneJobs(trials, whole_numbers(seeds)))


def rank_trials(run: TuneRun, records: Iterable[TuneRecord]) -> list[Trial]:
    """Return the trials that are complete, the best first; see `rank`."""
    whole = ANCHORS * len(run.jobs.seeds)
    return rank(records, whole, lambda trial: run.settings.hyperparameters(trial).to_dict())


class TuneKind(JobKind[TuneSettings, TuneJobs, TuneRecord]):
    """Try hyper-parameters on anchor architectures; what it finds is a choice, not a table."""

    name = "tune"
    settings = TuneSettings
    jobs = TuneJobs
    record = TuneRecord
    facts = GraphFacts
    about = GraphAbout
    preload = ("benchbuild.datasets.graph", "benchbuild.kinds.train.training")
    commands = ("benchbuild.kinds.tune.command",)

    def keys(self, run: TuneRun) -> list[JobKey]:
        """List the jobs: trial by trial, so that each is complete as early as can be."""
        numbers = anchors(run.settings.space, run.settings.search_seed)
        return list(starmap(TuneKey, combinations(range(run.jobs.trials), numbers, run.jobs.seeds)))

    def costs(self, run: TuneRun, keys: Sequence[JobKey]) -> list[Cost]:
        """Predict what jobs take, each with the hyper-parameters of its trial."""
        spec = dataset_spec(run.settings.dataset)

        @cache
        def model(trial: int) -> CostModel:
            return CostModel(spec.size, run.settings.hyperparameters(trial), spec.metric)

        return [model(key[0]).cost(Arch.from_hash(key[1])) for key in keys]

    def open(self, settings: TuneSettings, place: Place) -> TuneContext:
        """Load the dataset."""
        return TuneContext(settings, place)

    def problems(self, run: TuneRun, record: TuneRecord) -> Iterator[str]:
        """Check that a record that ended well has a figure."""
        if record.status == OK and math.isnan(record.valid_perf):
            yield "its status is ok, but it has no valid_perf"

    def score(self, record: TuneRecord) -> float:
        """Return the validation metric."""
        return record.valid_perf


JOB = TuneKind()


class TuneContext(NetworkWorker):
    """A worker that trains with the hyper-parameters of a trial."""

    def __init__(self, settings: TuneSettings, place: Place) -> None:
        super().__init__(settings.dataset, place)
        self._settings = settings

    def run(self, key: JobKey) -> TuneRecord:
        """Train one anchor."""
        job = TuneKey(*key)
        (found,) = self.train(job.hash, self._settings.hyperparameters(job.trial), job.seed)
        return TuneRecord(
            trial=job.trial,
            hash=job.hash,
            seed=job.seed,
            **measured(found, self._settings),
        )
