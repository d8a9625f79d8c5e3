"""Differentiable search: a job is the supernet of one link list with one seed.

The paper's Figure 7 shows the average weight of each operation. Its text leaves open how DARTS
treats the macro space. Here every link list has a supernet of its own, so that the cell which is
searched is one that the space has, and the average goes over all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchbuild.errors import HyperParameterError, PlanError
from benchbuild.hyperparameters import HyperParameters, hyperparameters_for
from benchbuild.kinds.train.costs import RATES, CostModel, Work, size_of
from benchbuild.kinds.train.kind import NetworkWorker, train_settings
from benchbuild.pipeline.jobs import Cost, Field, Json, Key, Place, Record, Run, canonical
from benchquery.errors import AllSkipError
from benchquery.kinds.architectures.arch import LINKS, NODES, Arch
from benchquery.kinds.architectures.space import get_space

if TYPE_CHECKING:
    from benchbuild.pipeline.collect import Collection

LINK_NAMES: Mapping[str, tuple[int, ...]] = {"".join(map(str, link)): link for link in LINKS}
"""The nine link lists by name, as in ``0012``."""

DEFAULT_EPOCHS = 200
SEARCH_WIDTH = 64
"""Hidden width of a supernet at most: it holds 36 operations, and DARTS searches narrow too."""
DEFAULT_ARCH_LR = 0.02
"""DARTS's own, 0.0003, is meant for tens of thousands of steps; here an epoch is one step."""
DEFAULT_ARCH_WEIGHT_DECAY = 1e-3
"""That of DARTS."""

NO_ARCH = -1
"""What is derived if all four operations of largest weight are skips."""

HISTORY_WIDTH = 3
"""Figures of an epoch; see `benchbuild.kinds.darts.search.HISTORY`."""

_PASSES = 1.7
"""What an epoch of a search takes, in epochs of a training. Fitted to 9 searches on cora."""


class DartsKey(NamedTuple):
    """A link list by name, and a seed."""

    link: str
    seed: int


def parse_links(text: str | None) -> list[str]:
    """Read link lists, as in ``0012,0123``; None means all nine.

    Raises:
        PlanError: If one is not canonical, or comes twice.
    """
    names = list(LINK_NAMES) if text is None else [part.strip() for part in text.split(",")]
    for name in names:
        if name not in LINK_NAMES:
            raise PlanError(f"unknown link list {name!r}; allowed: {', '.join(LINK_NAMES)}")
    if len(set(names)) < len(names):
        raise PlanError(f"links {text!r}: each only once")
    return names


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
) -> Run:
    """Describe a differentiable search.

    Args:
        dataset: The dataset, with parameters if it has some.
        links: The link lists by name.
        seeds: The seeds of each.
        hp: Hyper-parameters; None for those of `search_hyperparameters`.
        arch_lr: Learning rate of the architecture parameters.
        arch_weight_decay: Their weight decay.

    Raises:
        HyperParameterError: If there is no pre-process layer, or a rate is not allowed.
    """
    hp = hp or search_hyperparameters(dataset)
    if not hp.pre:
        raise HyperParameterError(
            "hyper-parameter pre=0 is not allowed in a differentiable search: must be 1, because "
            "operations are mixed, so all must have one width"
        )
    if not 0 < arch_lr < math.inf:
        raise HyperParameterError(f"arch_lr={arch_lr} is not allowed: must be finite and above 0")
    if not 0 <= arch_weight_decay < math.inf:
        raise HyperParameterError(
            f"arch_weight_decay={arch_weight_decay} is not allowed: must be finite and from 0 up"
        )
    settings = {
        **train_settings(dataset, hp),
        "arch_lr": arch_lr,
        "arch_weight_decay": arch_weight_decay,
    }
    return Run("darts", settings, {"links": list(links), "seeds": list(seeds)})


def derive(link: str, ops: Sequence[str], weights: np.ndarray) -> int:
    """Return the hash of the architecture with the operations of largest weight.

    Args:
        link: The link list by name.
        ops: The operations that were mixed.
        weights: (nodes, operations).

    Returns:
        Its hash; `NO_ARCH` if all four are skips.
    """
    chosen = [ops[best] for best in weights.argmax(axis=1).tolist()]
    try:
        return Arch(LINK_NAMES[link], chosen).valid_hash()
    except AllSkipError:
        return NO_ARCH


def operations_of(settings: Json) -> tuple[str, ...]:
    """Return the operations that a run mixes: those of its space."""
    return get_space(settings["space"]).ops


def final_weights(ops: Sequence[str], record: Record) -> np.ndarray | None:
    """Return the weights (nodes, operations) at the end of a search; None unless it ended well."""
    if record["status"] != "ok":
        return None
    mixtures = np.asarray(record["weights"], dtype=np.float32).reshape(-1, NODES, len(ops))
    final: np.ndarray = mixtures[-1]
    return final


@dataclass(frozen=True)
class DartsKind:
    """Search by DARTS; merges into a table of operation weights."""

    name: str = "darts"
    fields: tuple[Field, ...] = (
        Field("link", "string", "key"),
        Field("seed", "int32", "key"),
        Field("epochs_done", "int32", "figure"),
        Field("derived", "int32", "figure"),
        Field("valid_perf", "float64", "figure"),
        Field("params", "int64", "figure"),
        Field("weights", "float32[]", "figure"),
        Field("history", "float32[]", "figure"),
        Field("train_time", "float64", "measurement"),
        Field("peak_memory", "int64", "measurement"),
        Field("environment", "string", "measurement"),
    )
    preload: tuple[str, ...] = ("benchbuild.datasets", "benchbuild.kinds.darts.search")

    def keys(self, run: Run) -> list[Key]:
        """List the jobs: seed by seed, so that the first is complete as early as can be."""
        return [DartsKey(link, seed) for seed in run.jobs["seeds"] for link in run.jobs["links"]]

    def expected(self, runs: Sequence[Run]) -> set[Key]:
        """List the jobs of all runs."""
        return {key for run in runs for key in self.keys(run)}

    def costs(self, run: Run, keys: Sequence[Key]) -> list[Cost]:
        """Predict what jobs take: all operations in every node, for two steps an epoch."""
        size, hp = size_of(run.settings["dataset"]), HyperParameters(**run.settings["hp"])
        model = CostModel(size, hp)
        inner, leaf = (
            Work.total([model.activation_work(), *self._operations(run, model, leaf=leaf)])
            for leaf in (False, True)
        )
        of: dict[str, Cost] = {}
        for name, link in LINK_NAMES.items():
            leaves = NODES - len(set(link) - {0})
            nodes = [inner] * (NODES - leaves) + [leaf] * leaves
            work = Work.total([model.frame_work(leaves), *nodes])
            seconds = _PASSES * hp.epochs * work.seconds(RATES)
            of[name] = Cost(seconds, size.held_memory + work.held_memory)
        return [of[key[0]] for key in keys]

    def _operations(self, run: Run, model: CostModel, *, leaf: bool) -> list[Work]:
        """Return the work of every operation of one node; what comes before it they share."""
        ops = operations_of(run.settings)
        return [model.operation_work(op, raw=False, leaf=leaf) for op in ops]

    def open(self, settings: Json, place: Place) -> DartsContext:
        """Load the dataset."""
        return DartsContext(settings, place)

    def problems(self, run: Run, record: Record) -> Iterator[str]:
        """Check that a search that ended well has its epochs, mixtures and what follows."""
        if record["status"] != "ok":
            return
        ops, epochs = operations_of(run.settings), run.settings["hp"]["epochs"]
        for name, width in (("weights", NODES * len(ops)), ("history", HISTORY_WIDTH)):
            if len(record[name]) != epochs * width:
                yield f"its {name} have {len(record[name])} figures instead of {epochs} x {width}"
                return
        mixtures = np.asarray(record["weights"]).reshape(epochs, NODES, len(ops))
        if not np.allclose(mixtures.sum(axis=2), 1, atol=1e-5):
            yield "the weights of a node do not add up to 1"
        derived = derive(record["link"], ops, mixtures[-1])
        if derived != record["derived"]:
            yield f"it derives {record['derived']}, its weights say {derived}"

    def score(self, record: Record) -> float:
        """Return the validation metric of the mixture."""
        return float(record["valid_perf"])

    def write_table(self, collection: Collection, stage: Path) -> None:
        """Write a table of operation weights; see `benchbuild.kinds.darts.table`."""
        from benchbuild.kinds.darts.table import write_darts_table

        write_darts_table(collection, stage)


class DartsContext(NetworkWorker):
    """A worker that searches with the settings of its run."""

    def __init__(self, settings: Json, place: Place) -> None:
        super().__init__(settings["dataset"], place)
        self._settings = settings

    def run(self, key: Key) -> Record:
        """Search one link list with one seed."""
        from benchbuild.kinds.darts.search import SearchSettings, search

        job = DartsKey(*key)
        hp = HyperParameters(**self._settings["hp"])
        ops = operations_of(self._settings)
        how = SearchSettings(ops, self._settings["arch_lr"], self._settings["arch_weight_decay"])
        link = LINK_NAMES[job.link]
        found = search(link, self._graph, hp, how, seed=job.seed, device=self._device)
        done = found.epochs_done
        ok = done == hp.epochs
        return {
            **job._asdict(),
            "status": "ok" if ok else "diverged",
            "reason": "" if ok else f"the loss was not finite in epoch {done}",
            "epochs_done": done,
            "derived": derive(job.link, ops, found.weights[-1]) if ok else NO_ARCH,
            "valid_perf": float(found.history[-1, -1]) if ok else math.nan,
            "params": found.params,
            "weights": found.weights.astype(np.float32).reshape(-1),
            "history": found.history.astype(np.float32).reshape(-1),
            "train_time": found.train_seconds,
            "peak_memory": found.peak_memory,
            "environment": canonical(found.environment),
        }
