"""Tuning: a job is one trial of hyper-parameters on one anchor architecture with one seed.

The protocol of NAS-Bench-Graph: 30 anchors, of which ten are classic networks (GCN, GAT, GIN,
GraphSAGE and ARMA with two and three layers) and the others are drawn from the space; random
search over the printed ranges; the trial with the best mean over the anchors wins. The mean is
that of the validation metric, so tuning never sees the test set.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from benchbuild.errors import HyperParameterError, MergeError
from benchbuild.hyperparameters import (
    DEFAULT_HYPERPARAMETERS,
    RECIPE_VERSION,
    HyperParameters,
    assignments,
)
from benchbuild.kinds.train.costs import CostModel, size_of
from benchbuild.kinds.train.kind import (
    RESULT_FIELDS,
    NetworkWorker,
    canonical_dataset,
    default_space,
)
from benchbuild.pipeline.jobs import DETERMINED, Cost, Field, Json, Key, Place, Record, Run
from benchquery.kinds.architectures.arch import Arch
from benchquery.kinds.architectures.space import get_space

if TYPE_CHECKING:
    from benchbuild.pipeline.collect import Collection

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
) -> Run:
    """Describe a search for hyper-parameters.

    Args:
        dataset: The dataset, with parameters if it has some.
        trials: How many random choices to try.
        seeds: The seeds of each training.
        search_seed: Seed of the anchors and of the choices.
        ranges: What to choose from.
    """
    settings = {
        "dataset": canonical_dataset(dataset),
        "space": default_space(dataset),
        "recipe": RECIPE_VERSION,
        "ranges": {name: list(values) for name, values in ranges.items()},
        "search_seed": search_seed,
    }
    return Run("tune", settings, {"trials": trials, "seeds": list(seeds)})


def trial_hyperparameters(settings: Json, trial: int) -> HyperParameters:
    """Draw the hyper-parameters of a trial; always the same ones."""
    dice = random.Random(f"{settings['search_seed']} {trial}")
    ranges: Json = settings["ranges"]
    drawn = {name: ranges[name][dice.randrange(len(ranges[name]))] for name in sorted(ranges)}
    return DEFAULT_HYPERPARAMETERS.override(**drawn)


@dataclass(frozen=True)
class Trial:
    """A choice of hyper-parameters and how it did.

    Attributes:
        number: Its number.
        hp: The hyper-parameters.
        valid_perf: Mean validation metric over the anchors and seeds; a job without a figure
            counts as 0.
        failures: How many of its jobs are not ok.
    """

    number: int
    hp: HyperParameters
    valid_perf: float
    failures: int


def rank_trials(run: Run, records: Sequence[Record]) -> list[Trial]:
    """Return the trials that are complete, the best first; ties in the order of their numbers."""
    jobs: dict[int, dict[Key, Record]] = {}
    for record in sorted(records, key=lambda r: r["status"] in DETERMINED):
        key = (record["hash"], record["seed"])
        jobs.setdefault(record["trial"], {})[key] = record
    whole = ANCHORS * len(run.jobs["seeds"])
    trials = []
    for number, found in jobs.items():
        if len(found) == whole:
            scores = [_score(record) for record in found.values()]
            failures = sum(record["status"] != "ok" for record in found.values())
            hp = trial_hyperparameters(run.settings, number)
            trials.append(Trial(number, hp, math.fsum(scores) / whole, failures))
    return sorted(trials, key=lambda trial: (-trial.valid_perf, trial.number))


def _score(record: Record) -> float:
    value = float(record["valid_perf"])
    return 0.0 if math.isnan(value) or record["status"] not in DETERMINED else value


@dataclass(frozen=True)
class TuneKind:
    """Try hyper-parameters on anchor architectures."""

    name: str = "tune"
    fields: tuple[Field, ...] = (
        Field("trial", "int32", "key"),
        Field("hash", "int32", "key"),
        Field("seed", "int32", "key"),
        *(field for field in RESULT_FIELDS if field.name != "curve"),
    )
    preload: tuple[str, ...] = ("benchbuild.datasets", "benchbuild.kinds.train.training")

    def keys(self, run: Run) -> list[Key]:
        """List the jobs: trial by trial, so that each is complete as early as can be."""
        numbers = anchors(run.settings["space"], run.settings["search_seed"])
        return [
            TuneKey(trial, number, seed)
            for trial in range(run.jobs["trials"])
            for number in numbers
            for seed in run.jobs["seeds"]
        ]

    def expected(self, runs: Sequence[Run]) -> set[Key]:
        """List the jobs of all runs."""
        return {key for run in runs for key in self.keys(run)}

    def costs(self, run: Run, keys: Sequence[Key]) -> list[Cost]:
        """Predict what jobs take, each with the hyper-parameters of its trial."""
        size = size_of(run.settings["dataset"])

        @cache
        def model(trial: int) -> CostModel:
            return CostModel(size, trial_hyperparameters(run.settings, trial))

        return [model(key[0]).cost(Arch.from_hash(key[1])) for key in keys]

    def open(self, settings: Json, place: Place) -> TuneContext:
        """Load the dataset."""
        return TuneContext(settings, place)

    def problems(self, run: Run, record: Record) -> Iterator[str]:
        """Check that a record that ended well has a figure."""
        if record["status"] == "ok" and math.isnan(record["valid_perf"]):
            yield "its status is ok, but it has no valid_perf"

    def score(self, record: Record) -> float:
        """Return the validation metric."""
        return float(record["valid_perf"])

    def write_table(self, collection: Collection, stage: Path) -> None:
        """Refuse: what a search finds is a choice, not a table.

        Raises:
            MergeError: Always.
        """
        raise MergeError(
            "runs of benchbuild tune make no table; repeat the command to see their ranking"
        )


class TuneContext(NetworkWorker):
    """A worker that trains with the hyper-parameters of a trial."""

    def __init__(self, settings: Json, place: Place) -> None:
        super().__init__(settings["dataset"], place)
        self._settings = settings

    def run(self, key: Key) -> Record:
        """Train one anchor."""
        job = TuneKey(*key)
        hp = trial_hyperparameters(self._settings, job.trial)
        return {**job._asdict(), **self.train(job.hash, job.seed, hp)}
