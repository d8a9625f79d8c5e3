"""Training: a job is one architecture with one seed, on the dataset of the run."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchbuild.errors import DatasetError, PlanError
from benchbuild.hyperparameters import RECIPE_VERSION, HyperParameters, hyperparameters_for
from benchbuild.kinds.train.costs import SIZES, CostModel, size_of
from benchbuild.pipeline.jobs import Cost, Field, Found, Json, Key, Place, Record, Run, canonical
from benchquery.kinds.architectures.arch import Arch
from benchquery.kinds.architectures.space import SPACES, get_space
from benchquery.table.schema import CURVE_COLUMNS

if TYPE_CHECKING:
    from benchbuild.datasets import Graph
    from benchbuild.kinds.train.training import TrainResult
    from benchbuild.pipeline.collect import Collection

DEFAULT_SEEDS = 3
MOST_SEEDS = 10_000
_COLUMN = {column.name: position for position, column in enumerate(CURVE_COLUMNS)}


class TrainKey(NamedTuple):
    """An architecture and a seed."""

    hash: int
    seed: int


RESULT_FIELDS = (
    Field("epochs_done", "int32", "figure"),
    Field("valid_perf", "float64", "figure"),
    Field("perf", "float64", "figure"),
    Field("best_epoch", "int32", "figure"),
    Field("params", "int64", "figure"),
    Field("curve", "float32[]", "figure"),
    Field("latency", "float64", "measurement"),
    Field("train_time", "float64", "measurement"),
    Field("peak_memory", "int64", "measurement"),
    Field("environment", "string", "measurement"),
)
"""What a training gives. `curve` is (epochs, 7) flattened; `environment` is JSON."""


def default_space(dataset: str) -> str:
    """Return the space that a dataset's architectures come from."""
    return "proteins" if dataset == "proteins" else "full"


def canonical_dataset(name: str) -> str:
    """Return the one name of a dataset, however its parameters were ordered.

    Raises:
        UnknownDatasetError: If there is no such dataset.
        DatasetError: If its parameters are wrong.
    """
    if name in SIZES:
        return name
    from benchbuild.datasets import dataset_spec

    return dataset_spec(name).name


def train_settings(dataset: str, hp: HyperParameters, space: str | None = None) -> Json:
    """Return the settings that all trainings of a run share."""
    return {
        "dataset": canonical_dataset(dataset),
        "space": get_space(space or default_space(dataset)).name,
        "recipe": RECIPE_VERSION,
        "hp": hp.to_dict(),
    }


def parse_seeds(text: str) -> list[int]:
    """Read seeds: a count (``3`` is 0, 1, 2), or the seeds themselves (``0,2`` or ``5,``).

    Raises:
        PlanError: If it is neither, or a seed comes twice.
    """
    parts = [part.strip() for part in text.split(",")]
    if parts[-1] == "" and len(parts) > 1:
        parts.pop()
        listed = True
    else:
        listed = len(parts) > 1
    if not all(re.fullmatch(r"\d{1,9}", part, flags=re.ASCII) for part in parts):
        raise PlanError(
            f"seeds {text!r} are neither a count, as in 3, nor seeds from 0, as in 0,1,2 or 5,"
        )
    numbers = [int(part) for part in parts]
    if not listed and numbers[0] > MOST_SEEDS:
        raise PlanError(f"seeds {text!r}: at most {MOST_SEEDS:,} at a time")
    if not listed:
        numbers = list(range(numbers[0]))
    if not numbers or len(set(numbers)) < len(numbers):
        raise PlanError(f"seeds {text!r}: there must be at least one, and each only once")
    return numbers


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


@dataclass(frozen=True)
class TrainKind:
    """Train architectures and record every epoch; merges into a table of architectures."""

    name: str = "train"
    fields: tuple[Field, ...] = (
        Field("hash", "int32", "key"),
        Field("seed", "int32", "key"),
        *RESULT_FIELDS,
    )
    preload: tuple[str, ...] = ("benchbuild.datasets", "benchbuild.kinds.train.training")

    def keys(self, run: Run) -> list[Key]:
        """List the jobs: architecture by architecture, each with all its seeds.

        A sample keeps the order in which it was drawn, so the first part of it is a sample too.
        """
        seeds = run.jobs["seeds"]
        return [TrainKey(number, seed) for number in _hashes(run) for seed in seeds]

    def expected(self, runs: Sequence[Run]) -> set[Key]:
        """List what a table of several runs should have: each architecture with each seed."""
        numbers = {number for run in runs for number in _hashes(run)}
        seeds = {seed for run in runs for seed in run.jobs["seeds"]}
        return {TrainKey(number, seed) for number in numbers for seed in seeds}

    def costs(self, run: Run, keys: Sequence[Key]) -> list[Cost]:
        """Predict what jobs take; all seeds of an architecture take the same."""
        hp = HyperParameters(**run.settings["hp"])
        model = CostModel(size_of(run.settings["dataset"]), hp)
        of = {
            number: model.cost(Arch.from_hash(number))
            for number in dict.fromkeys(key[0] for key in keys)
        }
        return [of[key[0]] for key in keys]

    def open(self, settings: Json, place: Place) -> TrainContext:
        """Load the dataset."""
        return TrainContext(settings, place)

    def problems(self, run: Run, record: Record) -> Iterator[str]:
        """Check a record's figures against its curve."""
        epochs = run.settings["hp"]["epochs"]
        curve = np.asarray(record["curve"], dtype=np.float32)
        if not curve.size:
            if record["status"] in ("ok", "diverged"):
                yield "it has no curve"
            return
        if curve.size != epochs * len(CURVE_COLUMNS):
            yield f"its curve has {curve.size} figures instead of {epochs} x {len(CURVE_COLUMNS)}"
            return
        yield from curve_problems(record, curve.reshape(epochs, len(CURVE_COLUMNS)))

    def score(self, record: Record) -> float:
        """Return the validation metric."""
        return float(record["valid_perf"])

    def write_table(self, collection: Collection, stage: Path) -> None:
        """Write a table of architectures; see `benchbuild.kinds.train.table`."""
        from benchbuild.kinds.train.table import write_arch_table

        write_arch_table(collection, stage)


def _hashes(run: Run) -> list[int]:
    """Expand the choice of architectures."""
    space = get_space(run.settings["space"])
    chosen = run.jobs["archs"]
    if chosen == "all":
        return [int(number) for number in space.hashes.tolist()]
    if isinstance(chosen, dict):
        drawn = space.sample(chosen["sample"], seed=chosen["seed"], over="architectures")
        return [arch.valid_hash() for arch in drawn]
    return list(chosen)


def curve_problems(record: Record, curve: np.ndarray) -> Iterator[str]:
    """Say where the figures of a record are not what its curve gives.

    Curves are kept in single precision, so the epoch of least validation loss is checked by its
    loss, and a rounded metric with room for the last digit.

    Args:
        record: ``status``, ``perf``, ``valid_perf`` and ``best_epoch``.
        curve: (epochs, 7), columns as in `benchquery.table.schema.CURVE_COLUMNS`.
    """
    measured = ~np.isnan(curve[:, _COLUMN["valid_loss"]])
    if record["status"] == "ok" and not measured.all():
        yield "its status is ok, but epochs are missing from its curve"
    best = int(record["best_epoch"]) if not math.isnan(record["best_epoch"]) else -1
    if not measured.any() or best < 0:
        if measured.any() or best >= 0 or not math.isnan(record["perf"]):
            yield "it has a curve without a best epoch, or the other way round"
        return
    if best >= len(curve) or not measured[best]:
        yield f"its best epoch {best} is not on its curve"
        return
    loss = curve[:, _COLUMN["valid_loss"]]
    if loss[best] != np.nanmin(loss):
        yield f"its best epoch {best} is not one of least validation loss"
    for name in ("test_perf", "best_perf"):
        row = best if name == "test_perf" else int(np.flatnonzero(measured)[-1])
        if curve[row, _COLUMN[name]] != np.float32(record["perf"]):
            yield f"perf is {record['perf']}, its curve says {curve[row, _COLUMN[name]]} ({name})"
    highest = float(np.nanmax(curve[:, _COLUMN["valid_perf"]]))
    if abs(highest - record["valid_perf"]) > 0.0005 + 1e-6:
        yield f"valid_perf is {record['valid_perf']}, its curve has {highest}"


class DatasetWorker:
    """A worker with a dataset in memory, ready to train on it.

    Args:
        dataset: The dataset.
        place: Where to run.
    """

    def __init__(self, dataset: str, place: Place) -> None:
        import torch

        from benchbuild.compute.devices import claim, resolve_device
        from benchbuild.datasets import dataset_spec, load

        warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
        torch.set_num_threads(1)
        self._device = resolve_device(spread(place, torch.cuda.device_count()))
        claim(self._device)
        self._graph: Graph = load(dataset, place.data_root)
        self._spec = dataset_spec(dataset)

    @cached_property
    def found(self) -> Found:
        """The data itself decides the figures; how it is described does not."""
        import torch

        graph = self._graph
        facts = {
            "checksum": graph.checksum,
            "metric": graph.metric,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "classes": graph.num_classes,
        }
        spec = self._spec
        about = {"split": graph.split, "source": spec.source, "licence": spec.licence}
        on_gpu = self._device.type == "cuda"
        return Found(facts, about, torch.cuda.device_count() if on_gpu else 0)

    def recover(self) -> None:
        """Forget what was made of the graph, and give its memory back."""
        from benchbuild.compute.devices import release
        from benchbuild.kinds.darts import search
        from benchbuild.kinds.train.training import trainer

        trainer.prepare.cache_clear()
        search.prepare.cache_clear()
        release(self._device)


class NetworkWorker(DatasetWorker):
    """A worker that trains networks on a graph that they see as a whole.

    Args:
        dataset: The dataset.
        place: Where to run.

    Raises:
        DatasetError: If its training nodes may not see the others.
    """

    def __init__(self, dataset: str, place: Place) -> None:
        super().__init__(dataset, place)
        if self._graph.inductive:
            raise DatasetError(
                f"dataset {dataset!r} is inductive: its training, validation and test nodes are "
                "graphs that don't see each other. Networks are trained on one graph here; this "
                "dataset is for benchbuild condense"
            )

    def train(self, number: int, seed: int, hp: HyperParameters) -> Record:
        """Train one architecture; gives `RESULT_FIELDS`, status and reason."""
        from benchbuild.kinds.train.training import train

        return _fields(train(Arch.from_hash(number), self._graph, hp, seed, self._device))


class TrainContext(NetworkWorker):
    """A worker that trains with the hyper-parameters of its run."""

    def __init__(self, settings: Json, place: Place) -> None:
        super().__init__(settings["dataset"], place)
        self._hp = HyperParameters(**settings["hp"])

    def run(self, key: Key) -> Record:
        """Train one architecture with one seed."""
        job = TrainKey(*key)
        return {**job._asdict(), **self.train(job.hash, job.seed, self._hp)}


def spread(place: Place, devices: int) -> str:
    """Choose the device of a worker: workers take turns over all devices unless one is named."""
    if place.device in ("auto", "cuda") and devices:
        return f"cuda:{place.slot % devices}"
    return place.device


def _fields(result: TrainResult) -> Record:
    return {
        "status": result.status,
        "reason": result.reason,
        "epochs_done": result.epochs_done,
        "valid_perf": result.valid_perf,
        "perf": result.perf,
        "best_epoch": result.best_epoch,
        "params": result.params,
        "curve": result.curves.astype(np.float32).reshape(-1),
        "latency": result.latency,
        "train_time": result.train_seconds,
        "peak_memory": result.peak_memory,
        "environment": canonical(dict(result.environment)),
    }


def train_run(
    dataset: str,
    *,
    archs: Iterable[int] | None = None,
    sample: int | None = None,
    sample_seed: int = 0,
    seeds: Sequence[int] = tuple(range(DEFAULT_SEEDS)),
    hp: HyperParameters | None = None,
    space: str | None = None,
) -> Run:
    """Describe a run of trainings.

    Args:
        dataset: The dataset, with parameters if it has some.
        archs: The hashes to train; None for all, or for a sample.
        sample: How many to draw instead, uniformly among the architectures.
        sample_seed: Seed of that draw.
        seeds: The seeds of each architecture.
        hp: Hyper-parameters; None for the dataset's own.
        space: The space of the architectures; None for the dataset's own.

    Raises:
        PlanError: If both architectures and a sample are asked for, or too many.
    """
    settings = train_settings(dataset, hp or hyperparameters_for(dataset), space)
    chosen: object = "all"
    if archs is not None and sample is not None:
        raise PlanError("architectures are either named or sampled, not both")
    if archs is not None:
        chosen = list(archs)
    elif sample is not None:
        size = len(SPACES[settings["space"]])
        if not 1 <= sample <= size:
            raise PlanError(
                f"can't sample {sample} architectures: space {settings['space']!r} has {size:,}"
            )
        chosen = {"sample": sample, "seed": sample_seed}
    return Run("train", settings, {"archs": chosen, "seeds": list(seeds)})
