"""The table of trained architectures: one row each, averaged over the seeds, and every curve.

A seed enters the averages if its training alone decided how it ended: ``ok``, or ``diverged``,
whose figures are those of the epochs before. A seed that ran out of memory or failed says nothing
about the architecture and is left out, as is one that is missing. ``seeds_ok`` counts the seeds
that ended ``ok``; ``status`` is the worst of all seeds (``missing`` counts as the worst) and
``reason`` the reason of the first seed that has it. Where no seed has a figure it is NaN. An
architecture without any record is no row; the manifest counts all jobs that are missing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchbuild.kinds.train.network.size import count_parameters
from benchbuild.pipeline.collect import Collection
from benchbuild.pipeline.records import DETERMINED, STATUSES
from benchquery.kinds.architectures.arch import Arch
from benchquery.table.curves import new_curves
from benchquery.table.manifest import CURVES
from benchquery.table.schema import CURVE_COLUMNS
from benchquery.table.writer import write_table

if TYPE_CHECKING:
    from benchbuild.kinds.train.kind import TrainSettings

AVERAGED = ("valid_perf", "perf", "latency", "train_time", "peak_memory", "best_epoch")
MISSING = "missing"
_ORDER = (*STATUSES, MISSING)

Array = npt.NDArray[np.generic]


def write_arch_table(collection: Collection, stage: Path) -> None:
    """Write the summary, the curves and the manifest of a table.

    The same records give the same bytes.

    Args:
        collection: The records of one or several training runs.
        stage: The folder to fill, as `benchquery.table.writer.new_table` gives it.
    """
    grid = _Grid(collection)
    _write_curves(collection, grid, stage / CURVES)
    settings: TrainSettings = collection.run.settings
    facts, about = collection.run.facts, collection.run.about
    statuses = Counter(collection.table.column("status").to_pylist())
    statuses[MISSING] = len(collection.missing)
    environments = collection.table.column("environment").unique().to_pylist()
    write_table(
        stage,
        _columns(collection, grid),
        name=settings.dataset,
        space=settings.space,
        origin=settings.origin,
        metric=facts["metric"],
        source={"builder": "graphtab benchbuild", "dataset": about["source"]},
        licence=f"the figures are their builder's; dataset: {about['licence']}",
        provenance={
            "recipe": settings.recipe,
            "hyperparameters": settings.hp.to_dict(),
            "round_valid": settings.round_valid,
            "dataset": {**facts, "split": about["split"]},
            "seeds": grid.seeds.tolist(),
            "jobs": {status: statuses[status] for status in _ORDER if statuses[status]},
            "environments": [json.loads(text) for text in sorted(filter(None, environments))],
            **({"warnings": list(collection.warnings)} if collection.warnings else {}),
        },
    )


class _Grid:
    """Which record is where among architectures and seeds.

    Attributes:
        hashes: The architectures, ascending.
        seeds: The seeds, ascending.
        rows: (architectures, seeds): the row of each record, -1 where there is none.
        statuses: (architectures, seeds): the status of each.
    """

    def __init__(self, collection: Collection) -> None:
        numbers = collection.table.column("hash").to_numpy()
        seeds = collection.table.column("seed").to_numpy()
        absent = [seed for _, seed in collection.missing]
        status = np.array(collection.table.column("status").to_pylist(), dtype=object)
        self.hashes = np.unique(numbers).astype(np.int32)
        self.seeds = np.union1d(seeds, absent).astype(np.int32)
        place = np.searchsorted(self.hashes, numbers), np.searchsorted(self.seeds, seeds)
        self.rows = np.full((len(self.hashes), len(self.seeds)), -1, dtype=np.int64)
        self.rows[place] = np.arange(len(numbers))
        self.statuses = np.full(self.rows.shape, MISSING, dtype=object)
        self.statuses[place] = status

    def spread(self, values: Array) -> npt.NDArray[np.float64]:
        """Lay a column out by architecture and seed; NaN where a seed does not count."""
        counts = np.isin(self.statuses, DETERMINED)
        return np.where(counts, values.astype(np.float64)[self.rows], np.nan)


def _columns(collection: Collection, grid: _Grid) -> dict[str, Array]:
    """Return the columns of the summary."""
    figures = {name: grid.spread(collection.table.column(name).to_numpy()) for name in AVERAGED}
    figures["best_epoch"][figures["best_epoch"] < 0] = np.nan
    params = _params(collection, grid.hashes.tolist())
    severity = np.vectorize(_ORDER.index, otypes=[np.int64])(grid.statuses)
    worst = severity.argmax(axis=1)
    everyone = np.arange(len(grid.hashes))
    texts = np.array(["", *collection.table.column("reason").to_pylist()], dtype=object)
    columns: dict[str, Array] = {"hash": grid.hashes}
    columns |= {name: _mean(values) for name, values in figures.items()}
    columns |= {
        "para": params / 1e6,
        "params": params,
        "seeds_ok": (severity == 0).sum(axis=1).astype(np.int32),
        "status": grid.statuses[everyone, worst],
        "reason": texts[grid.rows[everyone, worst] + 1],
    }
    for position, seed in enumerate(grid.seeds.tolist()):
        for name, values in figures.items():
            columns[f"{name}_seed{seed}"] = np.ascontiguousarray(values[:, position])
        columns[f"status_seed{seed}"] = grid.statuses[:, position]
    return columns


def _mean(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the mean over the seeds that have a figure; NaN if none has."""
    known = ~np.isnan(values)
    counts = known.sum(axis=1)
    sums = np.where(known, values, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _params(collection: Collection, hashes: Sequence[int]) -> npt.NDArray[np.int64]:
    """Count the parameters, which needs no record."""
    settings: TrainSettings = collection.run.settings
    facts = collection.run.facts
    return np.array(
        [
            count_parameters(
                Arch.from_hash(number), facts["features"], facts["classes"], settings.hp
            )
            for number in hashes
        ],
        dtype=np.int64,
    )


def _write_curves(collection: Collection, grid: _Grid, path: Path) -> None:
    """Write the curves, one chunk an architecture, in the order of the hashes."""
    settings: TrainSettings = collection.run.settings
    epochs = settings.hp.epochs
    shape = (len(grid.seeds), epochs, len(CURVE_COLUMNS))
    curves = collection.arrays["curve"]
    with new_curves(path, grid.hashes, grid.seeds, epochs) as data:
        for number, rows in enumerate(grid.rows.tolist()):
            block = np.full(shape, np.nan, dtype=np.float32)
            for position, row in enumerate(rows):
                if row >= 0 and (curve := curves[row]).size:
                    block[position] = curve.reshape(shape[1:])
            data[number] = block
