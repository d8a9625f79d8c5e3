"""The table of condensed graphs: one row a configuration and evaluation, the graphs, every curve.

A row's figures are means over its evaluation seeds. A seed whose training diverged before its
first epoch, ran out of memory or failed has none; the row's status is then that of the worst seed.
A condensation that gave no graph is a row without figures.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchbuild.kinds.condense.evaluations import Evaluations, Result
from benchbuild.kinds.condense.kind import graph_columns, trace_of
from benchbuild.kinds.condense.nodes.payload import StoredGraph
from benchbuild.pipeline.collect import Collection
from benchbuild.pipeline.jobs import DETERMINED, OK, STATUSES, Record, Run
from benchquery.kinds.condensed.config import MODELS, CondenseConfig, EvalConfig
from benchquery.kinds.condensed.graphs import GRAPHS, new_graphs
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.curves import new_curves
from benchquery.table.manifest import CURVES
from benchquery.table.schema import CURVE_COLUMNS
from benchquery.table.writer import write_table

CUSTOM = "custom"
"""The grid of configurations that were chosen one by one."""

COSTS = (
    "condense_time",
    "condense_time_best",
    "expert_time",
    "expert_bytes",
    "peak_memory",
    "peak_gpu_memory",
)
ABOUT = (
    "nodes",
    "edges",
    "graph_bytes",
    "density",
    "homophily",
    *COSTS,
    "best_epoch",
    "status",
    "reason",
)
"""What a row says of a graph whatever its figures."""
_CONFIG = ("dataset", "method", "ratio", "ratio_of", "init", "backbone", "seed", "protocol")
_FIGURES = ("valid_perf", "perf", "full_perf")


@dataclass(frozen=True)
class Row:
    """A condensed graph as one evaluation judged it.

    Attributes:
        config: How it was condensed.
        evaluation: How it was judged, with seed 0.
        about: The columns of the graph and of its costs, ``best_epoch``, ``status``, ``reason``.
        results: What was found, by evaluation seed.
    """

    config: CondenseConfig
    evaluation: EvalConfig
    about: Mapping[str, Any]
    results: Mapping[int, Result]

    @property
    def order(self) -> tuple[object, ...]:
        """Where it stands in the table."""
        model = MODELS.index(self.evaluation.model)
        return self.config.text, model, self.evaluation.text

    def columns(self, seeds: Sequence[int]) -> dict[str, Any]:
        """Return its columns.

        Args:
            seeds: All evaluation seeds of the table.
        """
        figures = {
            name: [getattr(result, name) for result in self.results.values()] for name in _FIGURES
        }
        perf, full = _mean(figures["perf"]), _mean(figures["full_perf"])
        columns = {
            "config": self.config.valid_hash(),
            "evaluation": self.evaluation.valid_hash(),
            "config_text": self.config.text,
            "evaluation_text": self.evaluation.text,
            **{name: self.config[name] for name in _CONFIG},
            "task": self.evaluation.task,
            "model": self.evaluation.model,
            "threshold": self.evaluation.number("threshold"),
            **self.about,
            "valid_perf": _mean(figures["valid_perf"]),
            "valid_perf_std": _std(figures["valid_perf"]),
            "perf": perf,
            "perf_std": _std(figures["perf"]),
            "full_perf": full,
            "full_perf_std": _std(figures["full_perf"]),
            "retained": perf / full if full else math.nan,
            "eval_seeds": len(_known(figures["perf"])),
            **self._state(),
        }
        for seed in seeds:
            for name in _FIGURES:
                result = self.results.get(seed)
                columns[f"{name}_seed{seed}"] = getattr(result, name) if result else math.nan
        return columns

    def _state(self) -> dict[str, str]:
        """Return the status: that of the condensation, or of the worst evaluation."""
        if self.about["status"] != STATUSES[0] or not self.results:
            return {"status": self.about["status"], "reason": self.about["reason"]}
        worst = max(self.results.values(), key=lambda result: STATUSES.index(result.status))
        return {"status": worst.status, "reason": worst.reason}


@dataclass(frozen=True)
class Kept:
    """A condensed graph with the figures of its snapshots by name."""

    graph: StoredGraph
    trace: Mapping[str, np.ndarray]


def write_condensed_table(collection: Collection, stage: Path) -> None:
    """Write the table of some runs of condensations. The same records give the same bytes.

    Args:
        collection: The records of one or several runs.
        stage: The folder to fill, as `benchquery.table.writer.new_table` gives it.
    """
    rows: list[Row] = []
    kept: dict[str, Kept] = {}
    environments: set[str] = set()
    for record in records_of(collection):
        config = CondenseConfig.from_text(record["config"])
        graph = StoredGraph.from_record(record)
        if graph is not None:
            kept[config.valid_hash()] = Kept(graph, trace_of(record))
        environments |= {record["environment"]} - {""}
        rows += _rows(collection.run, config, graph, record)
    grids = {run.jobs["grid"] for run in collection.runs}
    write_rows(
        stage,
        rows,
        kept,
        collection.run,
        space=grids.pop() or CUSTOM if len(grids) == 1 else CUSTOM,
        environments=[json.loads(text) for text in sorted(environments)],
    )


def write_extended_table(collection: Collection, source: CondensedTable, stage: Path) -> None:
    """Write a table once more with new evaluations of its graphs.

    A new figure takes the place of one that was there for the same model and seed; an evaluation
    that gave none does not.

    Args:
        collection: The records of one or several runs of evaluations.
        source: The table that their graphs came from.
        stage: The folder to fill.
    """
    rows = {row.order: row for row in rows_of(source)}
    worst_first = sorted(rows.values(), key=lambda row: -STATUSES.index(row.about["status"]))
    best = {row.config.text: row for row in worst_first}
    kept = kept_of(source)
    environments = list(source.manifest.provenance["environments"])
    for record in records_of(collection):
        before = best[record["config"]]
        graph = kept[before.config.valid_hash()].graph
        for evaluation, results in Evaluations.read(collection.run.settings).results(record):
            about = {**before.about, **graph_columns(graph, evaluation.number("threshold"))}
            if not results:
                about |= {"status": record["status"], "reason": record["reason"]}
            new = Row(before.config, evaluation, about, results)
            old = rows.get(new.order)
            known = {seed: one for seed, one in results.items() if not math.isnan(one.perf)}
            rows[new.order] = (
                replace(new, results={**results, **old.results, **known}) if old else new
            )
        here = json.loads(record["environment"] or "null")
        environments += [here] if here and here not in environments else []
    provenance = source.manifest.provenance
    settings = {**collection.run.settings, "judge": provenance["judge"]}
    write_rows(
        stage,
        rows.values(),
        kept,
        replace(collection.run, settings=settings),
        space=source.manifest.space,
        environments=environments,
    )


def records_of(collection: Collection) -> Iterator[Record]:
    """Give the records of a collection one by one, arrays included."""
    for row in range(collection.table.num_rows):
        scalars = collection.table.slice(row, 1).to_pylist()[0]
        yield scalars | {name: column[row] for name, column in collection.arrays.items()}


def _rows(
    run: Run, config: CondenseConfig, graph: StoredGraph | None, record: Record
) -> Iterator[Row]:
    """Make the rows of a record, one an evaluation."""
    known = {name: record[name] for name in (*COSTS, "best_epoch", "status", "reason")}
    if graph is not None and record["status"] not in DETERMINED:
        # The machine failed an evaluation, which says so itself; the condensation is fine.
        known |= {"status": OK, "reason": ""}
    known["best_epoch"] = math.nan if graph is None else float(known["best_epoch"])
    for name in ("expert_bytes", "peak_memory"):
        known[name] = max(known[name], 0)
    for evaluation, results in Evaluations.read(run.settings).results(record):
        about = {**graph_columns(graph, evaluation.number("threshold")), **known}
        yield Row(config, evaluation, about, results)


def rows_of(table: CondensedTable) -> Iterator[Row]:
    """Read the rows of a table back."""
    for number, record in enumerate(table.records()):
        seeds = [seed for seed in table.curves.seeds if f"perf_seed{seed}" in record]
        curves = dict(zip(table.curves.seeds, table.curves.block(number), strict=True))
        yield Row(
            CondenseConfig.from_text(record["config_text"]),
            evaluation := EvalConfig.from_text(record["evaluation_text"]),
            {name: record[name] for name in ABOUT},
            {
                seed: Result(
                    status=record["status"],
                    reason=record["reason"],
                    **{name: record[f"{name}_seed{seed}"] for name in _FIGURES},
                    curve=curves[seed][: evaluation.count("epochs")],
                )
                for seed in seeds
                if _known([record[f"{name}_seed{seed}"] for name in _FIGURES])
            },
        )


def kept_of(table: CondensedTable) -> dict[str, Kept]:
    """Read the graphs of a table back, by the hash of their configuration."""
    kept = {}
    for config in table:
        if config in table.graphs.configs:
            graph = StoredGraph.from_arrays(table.graph(config))
            kept[config] = Kept(graph, table.trace(config))
    return kept


def write_rows(
    stage: Path,
    rows: Iterable[Row],
    kept: Mapping[str, Kept],
    run: Run,
    *,
    space: str,
    environments: Sequence[Any],
) -> None:
    """Write the files of a table.

    Args:
        stage: The folder to fill.
        rows: Its rows, in any order.
        kept: The graphs by the hash of their configuration.
        run: Says of what dataset they are.
        space: The grid of the configurations.
        environments: Where the figures were made.
    """
    ordered = sorted(rows, key=lambda row: row.order)
    seeds = sorted({seed for row in ordered for seed in row.results})
    _write_curves(stage / CURVES, ordered, seeds)
    with new_graphs(stage / GRAPHS) as graphs:
        for config in sorted(kept):
            graphs.add(config, kept[config].graph.to_arrays(), kept[config].trace)
    cells = [row.columns(seeds) for row in ordered]
    statuses = Counter(cell["status"] for cell in cells)
    settings, facts, about = run.settings, run.facts, run.about
    write_table(
        stage,
        {name: _array([cell[name] for cell in cells]) for name in cells[0]},
        name=settings["dataset"],
        space=space,
        origin=settings.get("origin", "measured"),
        metric=facts["metric"],
        source={"builder": "graphtab benchbuild", "dataset": about["source"]},
        licence=f"the figures are their builder's; dataset: {about['licence']}",
        provenance={
            "recipe": settings["recipe"],
            "judge": settings["judge"],
            "dataset": {**facts, "split": about["split"]},
            "eval_seeds": seeds,
            "rows": {status: statuses[status] for status in STATUSES if statuses[status]},
            "environments": list(environments),
        },
        kind="condensed",
    )


def _write_curves(path: Path, rows: Sequence[Row], seeds: Sequence[int]) -> None:
    """Write the curves, one chunk a row."""
    epochs = max(row.evaluation.count("epochs") for row in rows)
    numbers = np.arange(len(rows), dtype=np.int32)
    with new_curves(path, numbers, np.array(seeds or [0], dtype=np.int32), epochs) as data:
        for number, row in enumerate(rows):
            if not row.results:
                continue
            block = np.full((len(seeds), epochs, len(CURVE_COLUMNS)), np.nan, dtype=np.float32)
            for seed, result in row.results.items():
                block[seeds.index(seed), : len(result.curve)] = result.curve
            data[number] = block


def _known(values: Sequence[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _mean(values: Sequence[float]) -> float:
    known = _known(values)
    return float(np.mean(known)) if known else math.nan


def _std(values: Sequence[float]) -> float:
    """Return the sample standard deviation of what is known; NaN of less than two."""
    known = _known(values)
    return float(np.std(known, ddof=1)) if len(known) > 1 else math.nan


def _array(values: Sequence[Any]) -> np.ndarray:
    """Make a column; texts become objects."""
    return np.array(values, dtype=object if isinstance(values[0], str) else None)
