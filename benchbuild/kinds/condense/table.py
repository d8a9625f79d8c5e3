"""The table of condensed graphs: one row a configuration and evaluation, the graphs, every curve.

A row says two things apart: ``status`` and ``reason`` are how the condensation ended,
``status_seedN`` and ``reason_seedN`` how the evaluation with seed N did, ``missing`` if there was
none. A row's figures are means over its evaluation seeds; a seed whose training diverged before
its first epoch, ran out of memory or failed has none. A condensation that gave no graph is a row
without figures.

Tables of the version before have one status a row, which is that of the condensation or else of
the worst evaluation. They are read as what that version meant.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchbuild.kinds.condense.controls import DISTINCT, add_controls
from benchbuild.kinds.condense.evaluations import Evaluated, EvaluatedSettings, Result
from benchbuild.kinds.condense.forms import payload_of, payload_type
from benchbuild.kinds.condense.gains import add_gains
from benchbuild.kinds.condense.payload import StoredPayload
from benchbuild.kinds.condense.records import CondenseRecord
from benchbuild.pipeline.collect import Collection
from benchbuild.pipeline.jobs import Run
from benchbuild.pipeline.records import DETERMINED, DIVERGED, OK, STATUSES
from benchbuild.pipeline.settings import Json
from benchquery import condread
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig, model_order
from benchquery.kinds.condensed.domains.images import IMAGES
from benchquery.kinds.condensed.graphs import GRAPHS, new_graphs
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.curves import new_curves
from benchquery.table.manifest import CURVES, Manifest
from benchquery.table.schema import CURVE_COLUMNS, curve_index
from benchquery.table.writer import write_table

if TYPE_CHECKING:
    from benchbuild.kinds.condense.kind import CondenseSettings

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
ENDED = (*COSTS, "best_epoch", "status", "reason")
"""What a row says of a condensation whatever it made."""
_CONFIG = (
    *("domain", "dataset", "method", "ratio", "ratio_of", "per_class"),
    *("init", "backbone", "seed", "protocol"),
)
_SHARES = ("dense", "compact")
"""The codings in which a set is compared with the one that it was made of."""
_FIGURES = ("valid_perf", "perf", "full_perf")
OTHER = "other_perf"
MISSING = "missing"
"""The status of an evaluation seed that a row was not evaluated with."""
_OF_THE_EVALUATION = "of the evaluation"
"""How the reason of an evaluation that diverged ends."""


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
        return self.config.text, model_order(self.evaluation.model), self.evaluation.text

    @property
    def _of_images(self) -> dict[str, float]:
        """What rows of images say beside: the time of an iteration, and the last epoch's figure."""
        if self.config.domain is not IMAGES:
            return {}
        spec = IMAGES.methods.get(self.config.method)
        chosen = spec is None or spec.family == "core-set"
        steps = 0 if chosen else int(self.config.values.get("epochs", 0))
        return {
            "iteration_time": self.about["condense_time"] / steps if steps else math.nan,
            "last_perf": _mean([result.last_perf for result in self.results.values()]),
        }

    def columns(self, seeds: Sequence[int]) -> dict[str, Any]:
        """Return its columns.

        Args:
            seeds: All evaluation seeds of the table.
        """
        names = _figures_of(self.config)
        figures = {
            name: [getattr(result, name) for result in self.results.values()] for name in names
        }
        perf, full = _mean(figures["perf"]), _mean(figures["full_perf"])
        columns = {
            "config": self.config.valid_hash(),
            "evaluation": self.evaluation.valid_hash(),
            "config_text": self.config.text,
            "evaluation_text": self.evaluation.text,
            **{name: self.config[name] for name in _CONFIG if name in self.config},
            "task": self.evaluation.task,
            "model": self.evaluation.model,
            "threshold": self.evaluation.threshold,
            **self.about,
            **self._of_images,
            "valid_perf": _mean(figures["valid_perf"]),
            "valid_perf_std": _std(figures["valid_perf"]),
            "perf": perf,
            "perf_std": _std(figures["perf"]),
            "full_perf": full,
            "full_perf_std": _std(figures["full_perf"]),
            "retained": perf / full if full else math.nan,
            "eval_seeds": len(_known(figures["perf"])),
            **({OTHER: _mean(figures[OTHER])} if OTHER in figures else {}),
        }
        further = {seed: one.further(self.evaluation) for seed, one in self.results.items()}
        for place, name in enumerate(self.evaluation.measures):
            for part, measure in enumerate((name, f"full_{name}")):
                found = {seed: figure[part][place] for seed, figure in further.items()}
                columns[measure] = _mean(list(found.values()))
                for seed in seeds:
                    columns[f"{measure}_seed{seed}"] = found.get(seed, math.nan)
        for seed in seeds:
            result = self.results.get(seed)
            for name in names:
                columns[f"{name}_seed{seed}"] = getattr(result, name) if result else math.nan
            columns[f"status_seed{seed}"] = result.status if result else MISSING
            columns[f"reason_seed{seed}"] = result.reason if result else ""
        return columns


@dataclass(frozen=True)
class Kept:
    """What is kept of a condensation, with the figures of its snapshots by name.

    Attributes:
        payload: What it made; None if that is left out.
        trace: The figures.
    """

    payload: StoredPayload | None
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
    settings: CondenseSettings = collection.run.settings
    record: CondenseRecord
    for record in collection.records():
        config = CondenseConfig.from_text(record.config)
        payload = payload_of(record)
        if payload is not None:
            kept[config.valid_hash()] = Kept(payload, record.trace)
        environments |= {record.environment} - {""}
        rows += _rows(settings, config, payload, record)
    grids = {run.jobs.grid for run in collection.runs}
    write_rows(
        stage,
        rows,
        kept,
        Source.of_run(collection.run, settings.judge.text),
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
    settings: EvaluatedSettings = collection.run.settings
    record: Evaluated
    for record in collection.records():
        before = best[record.config]
        payload = kept[before.config.valid_hash()].payload
        assert payload is not None, "what was evaluated is there"
        for evaluation, found in settings.evaluations.results(record):
            about = {**before.about, **payload.columns(evaluation.threshold)}
            results = found or _failed(settings, evaluation, record)
            new = Row(before.config, evaluation, about, results)
            old = rows.get(new.order)
            known = {seed: one for seed, one in results.items() if not math.isnan(one.perf)}
            rows[new.order] = (
                replace(new, results={**results, **old.results, **known}) if old else new
            )
        here = json.loads(record.environment or "null")
        environments += [here] if here and here not in environments else []
    judge = source.manifest.provenance["judge"]
    write_rows(
        stage,
        rows.values(),
        kept,
        Source.of_run(collection.run, judge),
        space=source.manifest.space,
        environments=environments,
    )


@dataclass(frozen=True)
class Source:
    """What a table is made from, as far as its manifest says so.

    Attributes:
        dataset: Its name.
        recipe: Version of the recipes.
        judge: How snapshots were judged, as text; several where tables were joined.
        facts: What was measured of the dataset, its metric included.
        split: How the dataset is split, in words.
        origin: Where it is from.
        licence: What the table may be used for.
    """

    dataset: str
    recipe: str
    judge: str | list[str]
    facts: Json
    split: str
    origin: str
    licence: str

    @classmethod
    def of_run(cls, run: Run[Any, Any], judge: str | list[str]) -> Source:
        """Return what the records of a run were made from."""
        return cls(
            run.settings.dataset,
            run.settings.recipe,
            judge,
            run.facts,
            run.about["split"],
            run.about["source"],
            f"the figures are their builder's; dataset: {run.about['licence']}",
        )


def contents(manifest: Manifest, folder: Path) -> str:
    """Say how many condensed graphs a table has, and in how many rows if there are more."""
    table = condread(folder)
    rows = f" in {manifest.rows:,} rows" if manifest.rows != len(table) else ""
    return f"{len(table):,} {table.domain.many}{rows}"


def problems_in_table(folder: Path) -> Iterator[str]:
    """Check that every figure of the summary is what the curves give."""
    for row in rows_of(condread(folder)):
        for seed, result in row.results.items():
            where = f"config={row.config.valid_hash()} model={row.evaluation.model} seed={seed}"
            yield from (f"{where}: {problem}" for problem in result.problems(row.evaluation))


def _failed(
    settings: EvaluatedSettings, evaluation: EvalConfig, record: Evaluated
) -> dict[int, Result]:
    """Return what a job that gave no result says of each of its seeds."""
    curve = np.full((evaluation.count("epochs"), len(CURVE_COLUMNS)), np.nan, dtype=np.float32)
    nothing = Result(record.status, record.reason, math.nan, math.nan, math.nan, curve)
    return dict.fromkeys(settings.evaluations.seeds, nothing)


def _rows(
    settings: EvaluatedSettings,
    config: CondenseConfig,
    payload: StoredPayload | None,
    record: CondenseRecord,
) -> Iterator[Row]:
    """Make the rows of a record, one an evaluation."""
    known = {name: getattr(record, name) for name in ENDED}
    if payload is not None and record.status not in DETERMINED:
        # The machine failed an evaluation, which says so itself; the condensation is fine.
        known |= {"status": OK, "reason": ""}
    known["best_epoch"] = math.nan if payload is None else float(known["best_epoch"])
    known["expert_bytes"] = max(known["expert_bytes"], 0)
    known["peak_memory"] = float(known["peak_memory"]) if known["peak_memory"] > 0 else math.nan
    for evaluation, results in settings.evaluations.results(record):
        about = {**_columns(config, payload, evaluation.threshold), **known}
        yield Row(config, evaluation, about, results)


def rows_of(table: CondensedTable) -> Iterator[Row]:
    """Read the rows of a table, or of a part of one, back."""
    for number, record in zip(table.positions.tolist(), table.records(), strict=True):
        curves = dict(zip(table.curves.seeds, table.curves.block(number), strict=True))
        evaluation = EvalConfig.from_text(record["evaluation_text"])
        config = CondenseConfig.from_text(record["config_text"])
        own = _blank(config)
        about = {name: record[name] for name in (*own, *ENDED)}
        if DISTINCT in record:
            about[DISTINCT] = record[DISTINCT]
        if f"status_seed{table.curves.seeds[0]}" not in record and _is_of_evaluation(record):
            about |= {"status": OK, "reason": ""}
        results = {}
        for seed in table.curves.seeds:
            if f"perf_seed{seed}" in record:
                curve = curves[seed][: evaluation.count("epochs")]
                names = _figures_of(config)
                figures = {name: record[f"{name}_seed{seed}"] for name in names}
                status, reason = _state(record, seed, curve)
                more, full_more = (
                    tuple(record[f"{part}{name}_seed{seed}"] for name in evaluation.measures)
                    for part in ("", "full_")
                )
                if status != MISSING:
                    results[seed] = Result(
                        status, reason, **figures, curve=curve, more=more, full_more=full_more
                    )
        yield Row(config, evaluation, about, results)


def _is_of_evaluation(record: Mapping[str, Any]) -> bool:
    """Tell whether the one status of a row of the version before is that of its evaluations.

    It is that of the condensation if there is no graph, or that diverged.
    """
    diverged = record["status"] == DIVERGED
    return record["nodes"] > 0 and (not diverged or record["reason"].endswith(_OF_THE_EVALUATION))


def _state(record: Mapping[str, Any], seed: int, curve: np.ndarray) -> tuple[str, str]:
    """Return how the evaluation with a seed ended, and why that is not well.

    A row of the version before does not say so by seed. One whose curve breaks off diverged; one
    without a figure ended as the row did, or was not run where that was well.
    """
    if f"status_seed{seed}" in record:
        return record[f"status_seed{seed}"], record[f"reason_seed{seed}"]
    failed = record["status"] != OK and _is_of_evaluation(record)
    known = ~np.isnan(curve[:, curve_index("valid_loss")])
    if not known.any():
        return (record["status"], record["reason"]) if failed else (MISSING, "")
    if (epochs := int(known.sum())) < len(curve):
        return DIVERGED, f"the loss was not finite in epoch {epochs} {_OF_THE_EVALUATION}"
    if failed and math.isnan(record[f"full_perf_seed{seed}"]):
        return record["status"], record["reason"]
    return OK, ""


def kept_of(table: CondensedTable) -> dict[str, Kept]:
    """Read the graphs of a table back, by the hash of their configuration; none if it has none."""
    kept: dict[str, Kept] = {}
    if GRAPHS not in table.manifest.files:
        return kept
    for config in table:
        if config in table.graphs.traced:
            payload = None
            if config in table.graphs.configs:
                form = payload_type(table.graphs.form(config))
                payload = form.from_arrays(table.graph(config))
            kept[config] = Kept(payload, table.trace(config))
    return kept


def write_rows(
    stage: Path,
    rows: Iterable[Row],
    kept: Mapping[str, Kept],
    source: Source,
    *,
    space: str,
    environments: Sequence[Any],
    left_out: Container[str] | None = frozenset(),
) -> None:
    """Write the files of a table.

    Args:
        stage: The folder to fill.
        rows: Its rows, in any order.
        kept: The graphs by the hash of their configuration.
        source: What they are made from.
        space: The grid of the configurations.
        environments: Where the figures were made.
        left_out: The configurations whose graphs are left out, by their hash; what is known of how
            they came to be stays. None if there is to be no file of graphs at all.
    """
    ordered = sorted(rows, key=lambda row: row.order)
    seeds = sorted({seed for row in ordered for seed in row.results})
    _write_curves(stage / CURVES, ordered, seeds)
    if left_out is not None:
        with new_graphs(stage / GRAPHS) as graphs:
            for config in sorted(kept):
                payload, trace = kept[config].payload, kept[config].trace
                if payload is None or config in left_out:
                    graphs.add_trace(config, trace)
                else:
                    graphs.add(config, payload.to_arrays(), trace, payload.form)
    cells = [row.columns(seeds) for row in ordered]
    _add_shares(cells, source.facts)
    add_gains(ordered, cells)
    add_controls(ordered, cells, kept)
    statuses = Counter(cell["status"] for cell in cells)
    names = dict.fromkeys(name for cell in cells for name in cell)
    write_table(
        stage,
        {name: _array([cell.get(name, math.nan) for cell in cells]) for name in names},
        name=source.dataset,
        space=space,
        origin="measured",
        metric=source.facts["metric"],
        source={"builder": "graphtab benchbuild", "dataset": source.origin},
        licence=source.licence,
        provenance={
            "recipe": source.recipe,
            "judge": source.judge,
            "dataset": {**source.facts, "split": source.split},
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


def _figures_of(config: CondenseConfig) -> tuple[str, ...]:
    """Return the figures that every evaluation seed of a row has."""
    return (*_FIGURES, OTHER) if config.domain.two_metrics else _FIGURES


def _columns(
    config: CondenseConfig, payload: StoredPayload | None, threshold: float
) -> dict[str, Any]:
    """Return what a table says of what is kept."""
    return _blank(config) if payload is None else payload.columns(threshold)


def _blank(config: CondenseConfig) -> dict[str, Any]:
    """Return what a table says where nothing is kept: zeros and NaN."""
    return dict(payload_type(config.domain.form).blank)


def _add_shares(cells: Sequence[dict[str, Any]], facts: Json) -> None:
    """Say how large sets are relative to the one that they were made of, in the same coding."""
    for coding in _SHARES:
        if (name := f"bytes_{coding}") in cells[0] and name in facts:
            for cell in cells:
                cell[f"share_{coding}"] = cell[name] / facts[name] if cell[name] else math.nan


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
