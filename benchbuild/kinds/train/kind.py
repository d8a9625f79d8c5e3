"""Training: a job is one architecture with one seed, on the dataset of the run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from benchbuild.datasets.registry import dataset_spec
from benchbuild.errors import DatasetError, PlanError
from benchbuild.hyperparameters import RECIPE_VERSION, Count, HyperParameters
from benchbuild.kinds.train.costs import CostModel
from benchbuild.kinds.train.records import PUBLISHED_DECIMALS, TrainKey, TrainRecord
from benchbuild.kinds.workers import DatasetWorker, GraphAbout, GraphFacts
from benchbuild.pipeline.jobs import MOST_JOBS, Cost, JobKind, Place, Run, canonical, combinations
from benchbuild.pipeline.records import JobKey
from benchbuild.pipeline.settings import JobSettings, Name, RunPart, Seeds, since, whole_numbers
from benchbuild.typed import Distinct, Typed
from benchquery.allowed import Range
from benchquery.kinds.architectures.arch import Arch
from benchquery.kinds.architectures.space import get_space
from benchquery.table.schema import Origin

if TYPE_CHECKING:
    from benchbuild.kinds.train.training import TrainResult
    from benchbuild.pipeline.collect import Collection

DEFAULT_SEEDS = 3

MOST_DECIMALS = 12

Hash = Annotated[int, Range(least=0, most=2**31 - 1)]
"""The hash of an architecture: part files keep it in 32 bits."""
Hashes = Annotated[tuple[Hash, ...], Distinct("architecture", most=MOST_JOBS)]


@dataclass(frozen=True)
class NetworkSettings(JobSettings):
    """What all runs that train networks share.

    Attributes:
        space: The space of the architectures.
        recipe: Version of the training recipe.
    """

    space: Name
    recipe: Name

    def __post_init__(self) -> None:
        """Refuse a space that does not exist."""
        super().__post_init__()
        get_space(self.space)


@dataclass(frozen=True, kw_only=True)
class RoundedSettings(NetworkSettings):
    """Settings of trainings whose validation metric may be rounded.

    A record keeps the exact metric. The published tables have it with three decimals; to imitate
    them is a setting of the run, not of the recipe: it changes how a figure is written down, never
    how a network is trained, so `benchbuild.hyperparameters.RECIPE_VERSION` stays. Runs of the
    versions that always rounded have no such setting in their ``run.json`` and are read as rounded
    to three decimals. So a command that does not ask for that is refused in their folder, and
    their records are not merged with exact ones; ``--round-valid 3`` goes on with such a run.

    Attributes:
        round_valid: Decimals that ``valid_perf`` is rounded to; None for the exact value.
    """

    round_valid: Annotated[int, Range(least=1, most=MOST_DECIMALS)] | None = since(
        None, before=PUBLISHED_DECIMALS
    )

    def rounded(self, valid_perf: float) -> float:
        """Return a validation metric as records of this run have it."""
        return valid_perf if self.round_valid is None else round(valid_perf, self.round_valid)


@dataclass(frozen=True, kw_only=True)
class TrainSettings(RoundedSettings):
    """What all trainings of a run share.

    Attributes:
        hp: Hyper-parameters.
        origin: Where the figures come from: "measured", or "synthetic" where they are made up.
    """

    hp: HyperParameters
    origin: Origin = since("measured", before="measured")


@dataclass(frozen=True)
class Sample(Typed):
    """A number of architectures drawn at random.

    Attributes:
        sample: How many.
        seed: Seed of the draw.
    """

    sample: Count
    seed: Annotated[int, Range(least=-(2**63), most=2**63 - 1)]


@dataclass(frozen=True)
class TrainJobs(RunPart):
    """Which architectures are trained, and with which seeds.

    Attributes:
        archs: Their hashes, a sample, or "all" of the space.
        seeds: The seeds of each.
    """

    archs: (
        Annotated[tuple[Hash, ...], Distinct("architecture", most=MOST_JOBS)]
        | Sample
        | Literal["all"]
    )
    seeds: Seeds

    def hashes(self, space: str) -> list[int]:
        """Expand the choice of architectures.

        Raises:
            QueryError: If a sample is larger than the space.
            UnknownHashError: If the space does not hold one of them.
        """
        if isinstance(self.archs, Sample):
            chosen = self.archs
            drawn = get_space(space).sample(chosen.sample, seed=chosen.seed, over="architectures")
            return [arch.valid_hash() for arch in drawn]
        if isinstance(self.archs, str):
            return [int(number) for number in get_space(space).hashes.tolist()]
        for number in self.archs:
            Arch.from_hash(number)
        return list(self.archs)


TrainRun = Run[TrainSettings, TrainJobs]


def parse_archs(texts: Sequence[str], space: str) -> list[int]:
    """Read hashes, given one by one, with commas, or as files that list them.

    Args:
        texts: Each a hash, several with commas between, or a file with hashes between spaces,
            commas or line ends; a ``#`` begins a comment.
        space: The space that they must be in.

    Raises:
        PlanError: If something is neither a hash nor a file, or comes twice.
        UnknownHashError: If a number is not in the space.
    """
    numbers: list[int] = []
    for text in texts:
        content = text
        if not re.fullmatch(r"[\d,\s]+", text, flags=re.ASCII):
            try:
                content = re.sub(r"#.*", "", Path(text).read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                raise PlanError(
                    f"architectures {text!r} are neither hashes, as in 10000,61237, nor a file "
                    f"that lists them: {getattr(error, 'strerror', None) or error}"
                ) from error
        words = [word for word in re.split(r"[,\s]+", content) if word]
        if not words:
            raise PlanError(f"there are no hashes in the architectures {text!r}")
        for word in words:
            if not re.fullmatch(r"\d{1,9}", word, flags=re.ASCII):
                raise PlanError(f"{word!r} in the architectures {text!r} is not a hash")
            numbers.append(int(word))
    for number in numbers:
        get_space(space).index(number)
    if len(set(numbers)) < len(numbers):
        twice = next(number for number in numbers if numbers.count(number) > 1)
        raise PlanError(f"the architecture {twice} is given twice")
    return numbers


class TrainKind(JobKind[TrainSettings, TrainJobs, TrainRecord]):
    """Train architectures and record every epoch; merges into a table of architectures."""

    name = "train"
    settings = TrainSettings
    jobs = TrainJobs
    record = TrainRecord
    facts = GraphFacts
    about = GraphAbout
    preload = ("benchbuild.datasets.graph", "benchbuild.kinds.train.training")
    table = "architectures"
    rows = "architectures"
    commands = ("benchbuild.kinds.train.command", "benchbuild.kinds.train.inspect")

    def keys(self, run: TrainRun) -> list[JobKey]:
        """List the jobs: architecture by architecture, each with all its seeds.

        A sample keeps the order in which it was drawn, so the first part of it is a sample too.
        """
        numbers = run.jobs.hashes(run.settings.space)
        return list(starmap(TrainKey, combinations(numbers, run.jobs.seeds)))

    def expected(self, runs: Sequence[TrainRun]) -> set[JobKey]:
        """List what a table of several runs should have: each architecture with each seed."""
        numbers = {number for run in runs for number in run.jobs.hashes(run.settings.space)}
        seeds = {seed for run in runs for seed in run.jobs.seeds}
        return set(starmap(TrainKey, combinations(numbers, seeds)))

    def costs(self, run: TrainRun, keys: Sequence[JobKey]) -> list[Cost]:
        """Predict what jobs take; all seeds of an architecture take the same."""
        spec = dataset_spec(run.settings.dataset)
        model = CostModel(spec.size, run.settings.hp, spec.metric)
        of = {
            number: model.cost(Arch.from_hash(number))
            for number in dict.fromkeys(key[0] for key in keys)
        }
        return [of[key[0]] for key in keys]

    def together(self, keys: Sequence[JobKey], most: int) -> list[tuple[JobKey, ...]]:
        """Join seeds of an architecture."""
        groups = [tuple(seeds) for _, seeds in groupby(keys, key=lambda key: key[0])]
        return [
            seeds[first : first + most] for seeds in groups for first in range(0, len(seeds), most)
        ]

    def open(self, settings: TrainSettings, place: Place) -> TrainContext:
        """Load the dataset."""
        return TrainContext(settings, place)

    def problems(self, run: TrainRun, record: TrainRecord) -> Iterator[str]:
        """Check a record's figures against its curve."""
        return record.problems(run.settings.hp.epochs, run.settings.round_valid)

    def table_problems(self, folder: Path) -> Iterator[str]:
        """Check the figures of a table against its curves; see `benchbuild.kinds.train.checks`."""
        from benchbuild.kinds.train.checks import problems_in_table

        return problems_in_table(folder)

    def score(self, record: TrainRecord) -> float:
        """Return the validation metric."""
        return record.valid_perf

    def write_table(self, collection: Collection, stage: Path) -> None:
        """Write a table of architectures; see `benchbuild.kinds.train.table`."""
        from benchbuild.kinds.train.table import write_arch_table

        write_arch_table(collection, stage)


JOB = TrainKind()


class NetworkWorker(DatasetWorker):
    """A worker that trains networks on a graph that they see as a whole.

    Args:
        dataset: The dataset.
        place: Where to run.

    Raises:
        DatasetError: If its training nodes may not see the others.
        DeviceError: If epochs shall be captured where they can't be.
    """

    def __init__(self, dataset: str, place: Place) -> None:
        super().__init__(dataset, place)
        self._capture = place.capture
        if place.capture:
            from benchbuild.compute.capture import check_capture

            check_capture(self._device)
            self._where["epochs"] = "captured"
        if self._graph.inductive:
            raise DatasetError(
                f"dataset {dataset!r} is inductive: its training, validation and test nodes are "
                "graphs that don't see each other. Networks are trained on one graph here; this "
                "dataset is for benchbuild condense"
            )

    def train(self, number: int, hp: HyperParameters, *seeds: int) -> list[TrainResult]:
        """Train one architecture, with several seeds at once if there are several."""
        from benchbuild.kinds.train.training import train_together

        where = {**self._where, **({"batch": str(len(seeds))} if len(seeds) > 1 else {})}
        arch = Arch.from_hash(number)
        found = train_together(arch, self._graph, hp, seeds, self._device, capture=self._capture)
        return [replace(one, environment={**one.environment, **where}) for one in found]

    def recover(self) -> None:
        """Forget what was made of the graph, and give its memory back."""
        from benchbuild.kinds.train.training import trainer

        trainer.prepare.cache_clear()
        super().recover()


def measured(found: TrainResult, settings: RoundedSettings) -> dict[str, Any]:
    """Return what records of trainings say alike, but for the curve."""
    return {
        "status": found.status,
        "reason": found.reason,
        "epochs_done": found.epochs_done,
        "valid_perf": settings.rounded(found.valid_perf),
        "perf": found.perf,
        "best_epoch": found.best_epoch,
        "params": found.params,
        "latency": found.latency,
        "train_time": found.train_seconds,
        "peak_memory": found.peak_memory,
        "environment": canonical(dict(found.environment)),
    }


class TrainContext(NetworkWorker):
    """A worker that trains with the hyper-parameters of its run."""

    def __init__(self, settings: TrainSettings, place: Place) -> None:
        super().__init__(settings.dataset, place)
        self._settings = settings

    def run(self, key: JobKey) -> TrainRecord:
        """Train one architecture with one seed."""
        (record,) = self.run_together([key])
        return record

    def run_together(self, keys: Sequence[JobKey]) -> list[TrainRecord]:
        """Train one architecture with several seeds."""
        jobs = [TrainKey(*key) for key in keys]
        results = self.train(jobs[0].hash, self._settings.hp, *(job.seed for job in jobs))
        return [
            TrainRecord(
                hash=job.hash,
                seed=job.seed,
                curve=found.curves.astype(np.float32).reshape(-1),
                **measured(found, self._settings),
            )
            for job, found in zip(jobs, results, strict=True)
        ]


def train_run(
    dataset: str,
    *,
    archs: Iterable[int] | None = None,
    sample: int | None = None,
    sample_seed: int = 0,
    seeds: Sequence[int] = tuple(range(DEFAULT_SEEDS)),
    hp: HyperParameters | None = None,
    space: str | None = None,
    round_valid: int | None = None,
) -> TrainRun:
    """Describe a run of trainings.

    Args:
        dataset: The dataset, with parameters if it has some.
        archs: The hashes to train; None for all, or for a sample.
        sample: How many to draw instead, uniformly among the architectures.
        sample_seed: Seed of that draw.
        seeds: The seeds of each architecture.
        hp: Hyper-parameters; None for the dataset's own.
        space: The space of the architectures; None for the dataset's own.
        round_valid: Decimals that validation metrics are rounded to, as 3 in the published tables;
            None to keep them exact.

    Raises:
        UnknownDatasetError: If there is no such dataset.
        UnknownHashError: If an architecture is not in the space.
        PlanError: If both architectures and a sample are asked for, or too many.
    """
    spec = dataset_spec(dataset).require("nodes", JOB.name)
    settings = TrainSettings(
        dataset=spec.name,
        space=get_space(space or spec.space).name,
        recipe=RECIPE_VERSION,
        hp=hp or spec.hyperparameters,
        round_valid=round_valid,
    )
    if archs is not None and sample is not None:
        raise PlanError("architectures are either named or sampled, not both")
    chosen: tuple[int, ...] | Sample | Literal["all"] = "all"
    known = get_space(settings.space)
    if archs is not None:
        chosen = whole_numbers(archs)
        for number in chosen:
            known.index(number)
    elif sample is not None:
        if not 1 <= sample <= len(known):
            raise PlanError(
                f"can't sample {sample} architectures: space {known.name!r} has {len(known):,}"
            )
        chosen = Sample(sample, sample_seed)
    return Run(JOB.name, settings, TrainJobs(chosen, whole_numbers(seeds)))
