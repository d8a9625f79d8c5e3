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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchbuild.errors import PlanError
from benchbuild.kinds.condense.costs import predict
from benchbuild.kinds.condense.domains import MODULES, find_domain
from benchbuild.kinds.condense.evaluations import EVALUATION_FIELDS, Evaluations
from benchbuild.kinds.condense.nodes.payload import StoredGraph
from benchbuild.kinds.train.kind import DatasetWorker, canonical_dataset
from benchbuild.pipeline.jobs import OK, Cost, Field, Json, Key, Place, Record, Run, canonical
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig
from benchquery.kinds.condensed.methods import RECIPE

if TYPE_CHECKING:
    from benchbuild.kinds.condense.evaluator import Evaluator
    from benchbuild.kinds.condense.method import AnyProblem
    from benchbuild.kinds.condense.process import Condensation
    from benchbuild.pipeline.collect import Collection


class CondenseKey(NamedTuple):
    """A configuration, as its canonical text."""

    config: str


GRAPH_FIELDS = (
    Field("nodes", "int32", "figure"),
    Field("x", "float16[]", "figure"),
    Field("y", "float32[]", "figure"),
    Field("adjacency", "float16[]", "figure"),
)
"""The condensed graph: features, classes or probabilities, edge weights; all flattened."""

CONDENSE_FIELDS = (
    *GRAPH_FIELDS,
    Field("best_epoch", "int32", "figure"),
    Field("valid_perf", "float64", "figure"),
    Field("loss_names", "string", "figure"),
    Field("trace_epoch", "int32[]", "figure"),
    Field("trace_losses", "float32[]", "figure"),
    Field("trace_valid", "float32[]", "figure"),
    Field("trace_seconds", "float32[]", "measurement"),
    Field("condense_time", "float64", "measurement"),
    Field("condense_time_best", "float64", "measurement"),
    Field("expert_time", "float64", "measurement"),
    Field("expert_bytes", "int64", "measurement"),
    Field("peak_memory", "int64", "measurement"),
    Field("peak_gpu_memory", "float64", "measurement"),
    Field("environment", "string", "measurement"),
)
"""What a condensation gives. The losses of the snapshots are flattened, names first; the names
have a space between them."""


@dataclass(frozen=True)
class CondenseKind:
    """Condense graphs and evaluate them; merges into a table of condensed graphs."""

    name: str = "condense"
    fields: tuple[Field, ...] = (
        Field("config", "string", "key"),
        *CONDENSE_FIELDS,
        *EVALUATION_FIELDS,
    )
    preload: tuple[str, ...] = (
        "benchbuild.datasets",
        "benchbuild.kinds.condense.process",
        *MODULES,
    )

    def keys(self, run: Run) -> list[Key]:
        """List the configurations in the order in which they were given."""
        return [CondenseKey(text) for text in run.jobs["configs"]]

    def expected(self, runs: Sequence[Run]) -> set[Key]:
        """List the configurations of all runs."""
        return {key for run in runs for key in self.keys(run)}

    def costs(self, run: Run, keys: Sequence[Key]) -> list[Cost]:
        """Predict what jobs take; see `benchbuild.kinds.condense.costs`."""
        evaluations = Evaluations.read(run.settings)
        return [predict(CondenseConfig.from_text(key[0]), evaluations) for key in keys]

    def open(self, settings: Json, place: Place) -> CondenseContext:
        """Load the dataset."""
        return CondenseContext(settings, place)

    def problems(self, run: Run, record: Record) -> Iterator[str]:
        """Check a record's figures against its curves, its choice against its trace."""
        yield from Evaluations.read(run.settings).problems(record)
        valid = np.asarray(record["trace_valid"])
        if not len(valid):
            if record["status"] == "ok":
                yield "its status is ok, but it has no snapshots"
            return
        chosen = int(np.where(np.isnan(valid), -1.0, valid).argmax())
        epochs = record["trace_epoch"]
        if len(epochs) != len(valid) or int(epochs[chosen]) != record["best_epoch"]:
            yield f"its epoch {record['best_epoch']} is not the first of best validation metric"
        graph = StoredGraph.from_record(record)
        if graph is None or not graph.is_finite:
            yield "it has no graph, or one that is not finite"

    def score(self, record: Record) -> float:
        """Return the validation metric that chose the snapshot."""
        return float(record["valid_perf"])

    def write_table(self, collection: Collection, stage: Path) -> None:
        """Write a table of condensed graphs; see `benchbuild.kinds.condense.table`."""
        from benchbuild.kinds.condense.table import write_condensed_table

        write_condensed_table(collection, stage)


class EvaluatingWorker(DatasetWorker):
    """A worker with a dataset in memory, ready to evaluate condensed graphs on it.

    Args:
        settings: The dataset and the evaluations.
        place: Where to run.
    """

    def __init__(self, settings: Json, place: Place) -> None:
        super().__init__(settings["dataset"], place)
        self.evaluations = Evaluations.read(settings)
        self._domain = find_domain(self._graph.sort)
        self._prepared = self._domain.prepare(self._graph)
        self.evaluator: Evaluator[Any] = self._domain.make_evaluator(self._prepared, self._device)

    @cached_property
    def problem(self) -> AnyProblem:
        """The data as methods see it."""
        return self._domain.make_problem(self._prepared, self._device)

    def environment(self) -> str:
        """Say where this worker runs, as JSON."""
        from benchbuild.compute.devices import environment

        return canonical(environment(self._device, threads=1))


class CondenseContext(EvaluatingWorker):
    """A worker that condenses."""

    def __init__(self, settings: Json, place: Place) -> None:
        super().__init__(settings, place)
        self._judge = EvalConfig.from_text(settings["judge"])
        self._temporary = tempfile.TemporaryDirectory()
        self._scratch = Path(place.scratch or self._temporary.name)

    def run(self, key: Key) -> Record:
        """Condense and evaluate one configuration."""
        from benchbuild.kinds.condense.process import run_condensation

        done = run_condensation(
            self.problem,
            CondenseConfig.from_text(key[0]),
            self.evaluator,
            self._judge,
            self._scratch,
        )
        return {
            "config": key[0],
            "environment": self.environment(),
            **_condense_fields(done),
            **self._evaluate(done),
        }

    def _evaluate(self, done: Condensation) -> dict[str, Any]:
        """Evaluate what was kept; how the condensation ended comes before how that did."""
        own = {"status": done.status, "reason": done.reason}
        if done.best is None:
            nothing = {f.name: np.empty(0, f.dtype[:-2]) for f in EVALUATION_FIELDS}
            return {**nothing, "eval_reasons": "", **own}
        found = self.evaluations.run(self.evaluator, done.best.payload)
        return found if done.status == OK else {**found, **own}


def _condense_fields(done: Condensation) -> dict[str, Any]:
    best, costs = done.best, done.costs
    own = ("epoch", "valid_perf", "seconds")
    losses = {name: values for name, values in done.trace.items() if name not in own}
    graph = {
        "nodes": 0,
        **{f.name: np.empty(0, f.dtype[:-2]) for f in GRAPH_FIELDS if f.name != "nodes"},
    }
    if best is not None:
        graph = best.payload.to_record()
    return {
        **graph,
        "best_epoch": -1 if best is None else best.epoch,
        "valid_perf": float("nan") if best is None else best.valid_perf,
        "loss_names": " ".join(losses),
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


def trace_of(record: Record) -> dict[str, np.ndarray]:
    """Read the figures of a record's snapshots by name."""
    names = record["loss_names"].split()
    shape = len(names), len(record["trace_epoch"])
    losses = np.asarray(record["trace_losses"]).reshape(shape)
    return {
        "epoch": np.asarray(record["trace_epoch"]),
        **dict(zip(names, losses, strict=True)),
        "valid_perf": np.asarray(record["trace_valid"]),
        "seconds": np.asarray(record["trace_seconds"]),
    }


def graph_columns(graph: StoredGraph | None, threshold: float) -> dict[str, Any]:
    """Return what a table says of a graph; zeros and NaN if there is none."""
    if graph is None:
        nothing = {"nodes": 0, "edges": 0, "graph_bytes": 0}
        return {**nothing, "density": float("nan"), "homophily": float("nan")}
    return graph.columns(threshold)


def condense_run(
    dataset: str, configs: Iterable[CondenseConfig], evaluations: Evaluations, grid: str = ""
) -> Run:
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
    name = canonical_dataset(dataset)
    chosen = list(dict.fromkeys(configs))
    if not chosen:
        raise PlanError(f"there is nothing to condense on {name!r}")
    for config in chosen:
        config.check_runnable()
        if config.dataset != name:
            raise PlanError(f"{config!r} is not of the dataset {name!r} of this run")
    settings = {
        "dataset": name,
        "recipe": RECIPE,
        "judge": evaluations.judge.text,
        **evaluations.settings,
    }
    return Run("condense", settings, {"configs": [c.text for c in chosen], "grid": grid})
