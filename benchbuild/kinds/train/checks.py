"""What must hold of a table of architectures that was built here, beside its checksums and rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchbuild.kinds.train.records import PUBLISHED_DECIMALS, TrainFigures
from benchbuild.pipeline.records import DETERMINED
from benchquery import lightread
from benchquery.errors import QueryError
from benchquery.kinds.architectures.table import ArchTable

_FIGURES = ("status", "valid_perf", "perf", "best_epoch")


def problems_in_table(folder: Path) -> Iterator[str]:
    """Check the order of the rows, and every figure of the summary against the curves."""
    table = lightread(folder)
    if (np.diff(table.hashes) <= 0).any():
        yield "the rows are not in the order of their hashes"
    yield from _curve_problems(table)


def _curve_problems(table: ArchTable) -> Iterator[str]:
    """Check that every figure of the summary is what the curves give."""
    try:
        curves = table.curves
    except QueryError:
        return
    needed = {f"{name}_seed{seed}" for name in _FIGURES for seed in curves.seeds}
    if lacking := sorted(needed - set(table.columns)):
        yield f"there are curves, but no columns {', '.join(lacking)} to compare them with"
        return
    round_valid = table.manifest.provenance.get("round_valid", PUBLISHED_DECIMALS)
    for number in table:
        row = table[number]
        counted: dict[str, list[float]] = {"perf": [], "valid_perf": []}
        for seed in curves.seeds:
            figures = TrainFigures(**{name: row[f"{name}_seed{seed}"] for name in _FIGURES})
            for name, values in counted.items():
                values.append(getattr(figures, name))
            if figures.status in DETERMINED:
                for problem in figures.problems(curves.curve(number, seed), round_valid):
                    yield f"hash={number} seed={seed}: {problem}"
        for name, values in counted.items():
            known = [value for value in values if not np.isnan(value)]
            mean = sum(known) / len(known) if known else np.nan
            if not np.isclose(mean, row[name], rtol=1e-12, atol=0, equal_nan=True):
                yield f"hash={number}: {name} is {row[name]}, the mean of its seeds is {mean}"
