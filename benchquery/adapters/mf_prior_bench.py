"""mf-prior-bench: tables with learning curves as one of its tabular benchmarks.

What it reads is a frame with a row for each architecture and epoch. `write_frame` writes that
without the package; `open_benchmark` opens it there.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.adapters.fidelities import ELAPSED, REWARD, by_epoch, forms
from benchquery.errors import MissingPackageError, QueryError
from benchquery.kinds.architectures.table import ArchTable
from benchquery.table.files import written_aside

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    np = LazyModule("numpy")
    pa = LazyModule("pyarrow")
    pq = LazyModule("pyarrow.parquet")

KEY = "id"
FIDELITY = "epoch"


def write_frame(table: ArchTable, path: Path) -> None:
    """Write the means over seeds of every epoch as Parquet, whole or not at all.

    Args:
        table: A table with learning curves.
        path: The file.

    Raises:
        QueryError: If the table has no learning curves, or the file can't be written.
    """
    found = by_epoch(table)
    if found is None:
        raise QueryError(f"the table {table.name!r} has no learning curves, so no fidelities")
    epochs = len(found.numbers)
    columns: dict[str, Any] = {KEY: table.hashes.astype(str), **forms(table)}
    frame = {name: np.repeat(values, epochs) for name, values in columns.items()}
    frame[FIDELITY] = np.tile(found.numbers, len(table))
    frame[REWARD] = found.rewards.mean(axis=1).ravel()
    frame[ELAPSED] = found.seconds.mean(axis=1).ravel()
    with written_aside(path) as aside:
        pq.write_table(pa.table(frame), aside)


def open_benchmark(path: Path) -> Any:
    """Return a file of `write_frame` as a ``TabularBenchmark``.

    Its space of configurations is empty, as only the architectures of the table are known: draw
    them by ``sample`` or take them from ``configs``.

    Args:
        path: The file.

    Raises:
        MissingPackageError: If mf-prior-bench is not installed.
    """
    try:
        import mfpbench
        import pandas as pd
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            f"this needs the package {error.name!r}: pip install mf-prior-bench, in an environment"
            " of its own if it asks for another numpy"
        ) from error
    metrics = {
        REWARD: mfpbench.Metric(minimize=False, bounds=(0, 1)),
        ELAPSED: mfpbench.Metric(minimize=True, bounds=(0, np.inf)),
    }
    result = dataclasses.make_dataclass(
        "Result", metrics, bases=(mfpbench.Result,), frozen=True,
        namespace={
            "metric_defs": metrics,
            "default_value_metric": REWARD,
            "default_value_metric_test": None,
            "default_cost_metric": ELAPSED,
        },
    )  # fmt: skip
    frame = pd.read_parquet(path)
    chosen = [name for name in frame.columns if name.startswith(("link", "op"))]
    config = dataclasses.make_dataclass(
        "Config", chosen, bases=(mfpbench.TabularConfig,), frozen=True, eq=False, unsafe_hash=True
    )
    return mfpbench.TabularBenchmark(
        Path(path).stem, frame,
        id_key=KEY, fidelity_key=FIDELITY, config_type=config, result_type=result,
    )  # fmt: skip
