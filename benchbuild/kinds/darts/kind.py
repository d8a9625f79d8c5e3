"""Differentiable search: a job is the supernet of one link list with one seed.

The paper's Figure 7 shows the average weight of each operation. Its text leaves open how DARTS
treats the macro space. Here every link list has a supernet of its own, so that the cell which is
searched is one that the space has, and the average goes over all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from benchbuild.datasets.registry import dataset_spec, hyperparameters_for
from benchbuild.errors import HyperParameterError, PlanError
from benchbuild.hyperparameters import RECIPE_VERSION, HyperParameters, Penalty, Rate
from benchbuild.kinds.darts.records import (
    HISTORY_WIDTH,
    LINK_NAMES,
    NO_ARCH,
    DartsKey,
    DartsRecord,
    derive,
)
from benchbuild.kinds.train.costs import RATES, CostModel, Work, held_memory
from benchbuild.kinds.train.kind import NetworkSettings, NetworkWorker
from benchbuild.kinds.train.memory import attention_memory
from benchbuild.kinds.workers import GraphAbout, GraphFacts
from benchbuild.pipeline.jobs import Cost, JobKind, Place, Run, canonical, combinations
from benchbuild.pipeline.records import DIVERGED, OK, JobKey
from benchbuild.pipeline.settings import Name, RunPart, Seeds, whole_numbers
from benchbuild.typed import Distinct
from benchquery.kinds.architectures.arch import NODES
from benchquery.kinds.architectures.space import get_space
from benchquery.naming import unknown
from benchquery.table.sealed import parse_object

if TYPE_CHECKING:
    from benchbuild.pipeline.collect import Collection

DEFAULT_EPOCHS = 200
SEARCH_WIDTH = 64
"""Hidden width of a supernet at most: it holds 36 operations, and DARTS searches narrow too."""
DEFAULT_ARCH_LR = 0.02
"""DARTS's own, 0.0003, is meant for tens of thousands of steps; here an epoch is one step."""
DEFAULT_ARCH_WEIGHT_DECAY = 1e-3
"""That of DARTS."""

_PASSES = 1.7
"""What an epoch of a search takes, in epochs of a training. Fitted to 9 searches on cora."""


@dataclass(frozen=True)
class DartsSettings(NetworkSettings):
    """What all searches of a run share.

    Attributes:
        hp: Hyper-parameters of the supernet.
        arch_lr: Learning rate of the architecture parameters.
        arch_weight_decay: Their weight decay.
    """

    hp: HyperParameters
    arch_lr: Rate
    arch_weight_decay: Penalty

    def __post_init__(self) -> None:
        """Refuse what no supernet can be trained with.

        Raises:
            HyperParameterError: If there is no pre-process layer.
            PlanError: If a rate is not allowed.
        """
        super().__post_init__()
        if not self.hp.pre:
            raise HyperParameterError(
                "hyper-parameter pre=0 is not allowed in a differentiable search: must be 1, "
                "because operations are mixed, so all must have one width"
            )

    @property
    def ops(self) -> tuple[str, ...]:
        """The operations that are mixed: those of the space."""
        return get_space(self.space).ops


@dataclass(frozen=True)
class DartsJobs(RunPart):
    """Which link lists are searched, and with which seeds.

    Attributes:
        links: The link lists by name.
        seeds: The seeds of each.
    """

    links: Annotated[tuple[Name, ...], Distinct("link list", most=len(LINK_NAMES))]
    seeds: Seeds

    def __post_init__(self) -> None:
        """Refuse link lists that are none.

        Raises:
            PlanError: If one is unknown.
        """
        super().__post_init__()
        for name in self.links:
            if name not in LINK_NAMES:
                raise PlanError(unknown("link list", name, LINK_NAMES))


DartsRun = Run[DartsSettings, DartsJobs]


def search_hyperparameters(dataset: str) -> HyperParameters:
    """Return what a supernet of a dataset is trained with, unless told otherwise.

    The dataset's own, with the pre-process layer that a supernet needs, narrower and shorter.
    """
    own = hyperparameters_for(dataset)
    return own.override(pre=1, hidden=min(own.hidden, SEARCH_WIDTH), epochs=DEFAULT_EPOCHS)


def darts_run(
    dataset: str,
    *,
    links: Sequence[str] = tuple(LINK_NAMES),
    seeds: Sequence[int] = (0,),
    hp: HyperParameters | None = None,
    arch_lr: float = DEFAULT_ARCH_LR,
    arch_weight_decay: float = DEFAULT_ARCH_WEIGHT_DECAY,
) -> DartsRun:
    """Describe a differentiable search.

    Args:
        dataset: The dataset, with parameters if it has some.
        links: The link lists by name.
        seeds: The seeds of each.
        hp: Hyper-parameters; None for those of `search_hyperparameters`.
        arch_lr: Learning rate of the architecture parameters.
        arch_weight_decay: Their weight decay.

    Raises:
        UnknownDatasetError: If there is no such dataset.
        HyperParameterError: If there is no pre-process layer.
        PlanError: If a link list or seed is unknown or comes twice, or a rate is not allowed.
    """
    spec = dataset_spec(dataset).require("nodes", JOB.name)
    settings = DartsSettings(
        dataset=spec.name,
        space=spec.space,
        recipe=RECIPE_VERSION,
        hp=hp or search_hyperparameters(dataset),
        arch_lr=arch_lr,
        arch_weight_decay=arch_weight_decay,
    )
    return Run(JOB.name, settings, DartsJobs(tuple(links), whole_numbers(seeds)))


class DartsKind(JobKind[DartsSettings, DartsJobs, DartsRecord]):
    """Search by DARTS; merges into a table of operation weights."""

    name = "darts"
    settings = DartsSettings
    jobs = DartsJobs
    record = DartsRecord
    facts = GraphFacts
    about = GraphAbout
    preload = ("benchbuild.datasets.graph", "benchbuild.kinds.darts.search")
    table = "weights"
    rows = "operation weights"
    commands = ("benchbuild.kinds.darts.command",)

    def keys(self, run: DartsRun) -> list[JobKey]:
        """List the jobs: seed by seed, so that the first is complete as early as can be."""
        pairs = combinations(run.jobs.seeds, run.jobs.links)
        return [DartsKey(link, seed) for seed, link in pairs]

    def costs(self, run: DartsRun, keys: Sequence[JobKey]) -> list[Cost]:
        """Predict what jobs take: all operations in every node, for two steps an epoch."""
        size, hp = dataset_spec(run.settings.dataset).size, run.settings.hp
        model = CostModel(size, hp)
        inner, leaf = (
            Work.total([model.activation_work(), *_operations(run.settings, model, leaf=leaf)])
            for leaf in (False, True)
        )
        attention = NODES * attention_memory(size, hp) if "gat" in run.settings.ops else 0.0
        held = held_memory(size) + attention
        of: dict[str, Cost] = {}
        for name, link in LINK_NAMES.items():
            leaves = NODES - len(set(link) - {0})
            nodes = [inner] * (NODES - leaves) + [leaf] * leaves
            work = Work.total([model.frame_work(leaves), *nodes])
            seconds = _PASSES * hp.epochs * work.seconds(RATES)
            of[name] = Cost(seconds, held + work.held_memory)
        return [of[key[0]] for key in keys]

    def open(self, settings: DartsSettings, place: Place) -> DartsContext:
        """Load the dataset."""
        return DartsContext(settings, place)

    def problems(self, run: DartsRun, record: DartsRecord) -> Iterator[str]:
        """Check that a search that ended well has its epochs, mixtures and what follows.

        Raises:
            ValueError: If it does not say where it ran.
        """
        if record.environment:
            parse_object(record.environment)
        if record.status != OK:
            return
        ops, epochs = run.settings.ops, run.settings.hp.epochs
        widths = {"weights": NODES * len(ops), "history": HISTORY_WIDTH}
        for name, width in widths.items():
            count = len(getattr(record, name))
            if count != epochs * width:
                yield f"its {name} have {count} figures instead of {epochs} x {width}"
                return
        mixtures = np.asarray(record.weights).reshape(epochs, NODES, len(ops))
        if not np.allclose(mixtures.sum(axis=2), 1, atol=1e-5):
            yield "the weights of a node do not add up to 1"
        derived = derive(record.link, ops, mixtures[-1])
        if derived != record.derived:
            yield f"it derives {record.derived}, its weights say {derived}"

    def score(self, record: DartsRecord) -> float:
        """Return the validation metric of the mixture."""
        return record.valid_perf

    def write_table(self, collection: Collection, stage: Path) -> None:
        """Write a table of operation weights; see `benchbuild.kinds.darts.table`."""
        from benchbuild.kinds.darts.table import write_darts_table

        write_darts_table(collection, stage)


JOB = DartsKind()


def _operations(settings: DartsSettings, model: CostModel, *, leaf: bool) -> list[Work]:
    """Return the work of every operation of one node; what comes before it they share."""
    return [model.operation_work(op, raw=False, leaf=leaf) for op in settings.ops]


class DartsContext(NetworkWorker):
    """A worker that searches with the settings of its run."""

    def __init__(self, settings: DartsSettings, place: Place) -> None:
        super().__init__(settings.dataset, place)
        self._settings = settings

    def run(self, key: JobKey) -> DartsRecord:
        """Search one link list with one seed."""
        from benchbuild.kinds.darts.search import SearchSettings, search

        job, settings = DartsKey(*key), self._settings
        how = SearchSettings(settings.ops, settings.arch_lr, settings.arch_weight_decay)
        link = LINK_NAMES[job.link]
        found = search(link, self._graph, settings.hp, how, seed=job.seed, device=self._device)
        done = found.epochs_done
        ok = done == settings.hp.epochs
        return DartsRecord(
            link=job.link,
            seed=job.seed,
            status=OK if ok else DIVERGED,
            reason="" if ok else f"the loss was not finite in epoch {done}",
            epochs_done=done,
            derived=derive(job.link, settings.ops, found.weights[-1]) if ok else NO_ARCH,
            valid_perf=float(found.history[-1, -1]) if ok else math.nan,
            params=found.params,
            weights=found.weights.astype(np.float32).reshape(-1),
            history=found.history.astype(np.float32).reshape(-1),
            train_time=found.train_seconds,
            peak_memory=found.peak_memory,
            environment=canonical({**found.environment, **self._where}),
        )

    def recover(self) -> None:
        """Forget what was made of the graph, and give its memory back."""
        from benchbuild.kinds.darts import search

        search.prepare.cache_clear()
        super().recover()
