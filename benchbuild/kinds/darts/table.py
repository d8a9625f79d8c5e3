"""The table of a differentiable search: one row an operation of a node, and every epoch.

``summary.parquet`` has a row for each link list, seed, position and operation, with the weight at
the end of the search; a search that did not end well has NaN there. ``history.parquet`` has a row
an epoch. `benchquery.kinds.weights.analysis.read_weights` opens it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchbuild.kinds.darts.records import HISTORY_WIDTH, DartsRecord
from benchbuild.pipeline.collect import Collection
from benchbuild.pipeline.records import STATUSES
from benchquery.kinds.architectures.arch import NODES
from benchquery.kinds.weights.columns import COLUMNS
from benchquery.table.writer import write_table

if TYPE_CHECKING:
    from benchbuild.kinds.darts.kind import DartsSettings

HISTORY_FILE = "history.parquet"


def write_darts_table(collection: Collection, stage: Path) -> None:
    """Write the summary, the history and the manifest.

    The same records give the same bytes.

    Args:
        collection: The records of one or several searches with the same settings.
        stage: The folder to fill, as `benchquery.table.writer.new_table` gives it.
    """
    run, table = collection.run, collection.table
    settings: DartsSettings = run.settings
    ops = settings.ops
    records: list[DartsRecord] = list(collection.records())
    edges = [row for record in records for row in _edges(ops, record)]
    epochs = [row for record in records for row in _epochs(ops, record)]
    history = pa.Table.from_pylist(epochs, schema=_history_schema())
    pq.write_table(history, stage / HISTORY_FILE, compression="NONE")
    statuses = Counter(table.column("status").to_pylist())
    environments = sorted(filter(None, table.column("environment").unique().to_pylist()))
    write_table(
        stage,
        {name: np.array([row[name] for row in edges]) for name in edges[0]},
        name=settings.dataset,
        space=settings.space,
        origin="measured",
        metric=run.facts["metric"],
        source={"builder": "graphtab benchbuild", "dataset": run.about["source"]},
        licence=f"the figures are their builder's; dataset: {run.about['licence']}",
        provenance={
            "recipe": settings.recipe,
            "hyperparameters": settings.hp.to_dict(),
            "arch_lr": settings.arch_lr,
            "arch_weight_decay": settings.arch_weight_decay,
            "operations": list(ops),
            "dataset": {**run.facts, "split": run.about["split"]},
            "jobs": {status: statuses[status] for status in STATUSES if statuses[status]},
            "environments": [json.loads(text) for text in environments],
        },
        kind="weights",
    )


def _edges(ops: tuple[str, ...], record: DartsRecord) -> Iterator[dict[str, Any]]:
    """Yield the rows of one search: position by position, operation by operation."""
    final = record.final_weights(ops)
    weights = np.full((NODES, len(ops)), np.nan) if final is None else final
    shared = {c.name: getattr(record, c.name) for c in COLUMNS if hasattr(record, c.name)}
    for (node, op), weight in np.ndenumerate(weights.astype(np.float64)):
        own = {"position": node + 1, "operation": ops[op], "weight": float(weight)}
        yield {**shared, **own}


def _epochs(ops: tuple[str, ...], record: DartsRecord) -> Iterator[dict[str, Any]]:
    """Yield the epochs of one search, as far as it came."""
    history = np.asarray(record.history).reshape(-1, HISTORY_WIDTH)
    weights = np.asarray(record.weights).reshape(-1, NODES * len(ops))
    for epoch, (measured, mixture) in enumerate(zip(history, weights, strict=True)):
        train_loss, valid_loss, valid_perf = measured.tolist()
        yield {
            "link": record.link,
            "seed": record.seed,
            "epoch": epoch,
            "train_loss": train_loss,
            "valid_loss": valid_loss,
            "valid_perf": valid_perf,
            "weights": mixture.tolist(),
        }


def _history_schema() -> pa.Schema:
    """Return the columns of the history; weights are position by position."""
    figures = [(name, pa.float32()) for name in ("train_loss", "valid_loss", "valid_perf")]
    keys = [("link", pa.string()), ("seed", pa.int32()), ("epoch", pa.int32())]
    return pa.schema([*keys, *figures, ("weights", pa.list_(pa.float32()))])
