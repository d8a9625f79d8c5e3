"""Checks a table or a run from end to end, and names everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchbuild.errors import CorruptPartError, RunFolderError
from benchbuild.kinds import kind_of
from benchbuild.kinds.condense.table import rows_of
from benchbuild.kinds.train.kind import curve_problems
from benchbuild.pipeline.jobs import key_names, label
from benchbuild.pipeline.parts import arrays_of
from benchbuild.pipeline.runfolder import RUN, RunFolder
from benchquery import condread, lightread
from benchquery.errors import BenchQueryError, QueryError
from benchquery.kinds.architectures.table import ArchTable
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table import store
from benchquery.table.manifest import MANIFEST


def problems_in(folder: Path) -> Iterator[str]:
    """Check a table or the folder of a run.

    Yields:
        A sentence for every problem; none if all is well.

    Raises:
        RunFolderError: If the folder is neither.
    """
    if (folder / MANIFEST).exists():
        yield from _table_problems(folder)
    elif (folder / RUN).exists():
        yield from _run_problems(RunFolder.open(folder))
    else:
        raise RunFolderError(
            f"{folder} is neither a table (no {MANIFEST}) nor the folder of a run (no {RUN})"
        )


def _run_problems(folder: RunFolder) -> Iterator[str]:
    """Check every part and every record of a run."""
    kind = kind_of(folder.run.kind)
    planned = set(kind.keys(folder.run))
    arrays = [field.name for field in kind.fields if field.dtype.endswith("[]")]
    parts = folder.parts
    for path in parts.paths():
        try:
            table = parts.read(path).table
        except CorruptPartError as error:
            yield str(error)
            continue
        except FileNotFoundError:
            # A run under way has gathered it into a bigger part, and checked it for that.
            continue
        columns = {name: arrays_of(table.column(name)) for name in arrays}
        for row, scalars in enumerate(table.drop_columns(arrays).to_pylist()):
            record = scalars | {name: column[row] for name, column in columns.items()}
            key = tuple(record[name] for name in key_names(kind))
            where = f"{path}: {label(kind, key)}"
            if key not in planned:
                yield f"{where}: it is not a job of this run"
            yield from (f"{where}: {problem}" for problem in kind.problems(folder.run, record))


def _table_problems(folder: Path) -> Iterator[str]:
    """Check the files, the rows and the curves of a table."""
    try:
        kind = store.verify(folder).kind
        if kind == "condensed":
            yield from _condensed_problems(condread(folder))
        elif kind == "architectures":
            table = lightread(folder)
            yield from _order_problems(table)
            yield from _curve_problems(table)
    except BenchQueryError as error:
        yield str(error)


def _condensed_problems(table: CondensedTable) -> Iterator[str]:
    """Check that every figure of the summary is what the curves give."""
    for row in rows_of(table):
        for seed, result in row.results.items():
            where = f"config={row.config.valid_hash()} model={row.evaluation.model} seed={seed}"
            yield from (f"{where}: {problem}" for problem in result.problems())


def _order_problems(table: ArchTable) -> Iterator[str]:
    if (np.diff(table.hashes) <= 0).any():
        yield "the rows are not in the order of their hashes"


def _curve_problems(table: ArchTable) -> Iterator[str]:
    """Check that every figure of the summary is what the curves give."""
    try:
        curves = table.curves
    except QueryError:
        return
    names = ("status", "perf", "valid_perf", "best_epoch")
    needed = {f"{name}_seed{seed}" for name in names for seed in curves.seeds}
    if lacking := sorted(needed - set(table.columns)):
        yield f"there are curves, but no columns {', '.join(lacking)} to compare them with"
        return
    for number in table:
        row = table[number]
        counted: dict[str, list[float]] = {"perf": [], "valid_perf": []}
        for seed in curves.seeds:
            record = {name: row[f"{name}_seed{seed}"] for name in names}
            where = f"hash={number} seed={seed}"
            for name, values in counted.items():
                values.append(record[name])
            if record["status"] in ("ok", "diverged"):
                curve = curves.curve(number, seed)
                yield from (f"{where}: {problem}" for problem in curve_problems(record, curve))
        for name, values in counted.items():
            known = [value for value in values if not np.isnan(value)]
            mean = sum(known) / len(known) if known else np.nan
            if not np.isclose(mean, row[name], rtol=1e-12, atol=0, equal_nan=True):
                yield f"hash={number}: {name} is {row[name]}, the mean of its seeds is {mean}"
