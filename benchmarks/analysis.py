"""Time of every analysis on all nine published tables, and of one of them by brute force.

    OMP_NUM_THREADS=1 python benchmarks/analysis.py
    OMP_NUM_THREADS=1 python benchmarks/analysis.py cora proteins

The surrogate learns from a twentieth of each table, as if the rest were still to be built.
The last line sets the smoothness of the smallest table, which never forms a pair, beside a plain
loop over all its pairs. The analyses of learning curves need a table with curves, and the
published ones have none.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial

import numpy as np

from benchquery import ArchTable, analysis, lightread, tables
from benchquery.kinds.architectures.analysis.agreement import MEASURES
from benchquery.kinds.architectures.arch import Arch
from benchquery.text import format_table

ONE_TABLE: dict[str, Callable[..., object]] = {
    "distribution": analysis.describe,
    "correlations": analysis.metric_correlations,
    "link frequencies": analysis.link_frequencies,
    "operation frequencies": analysis.op_frequencies,
    "smoothness": analysis.smoothness,
    "importance": analysis.node_importance,
    "landscape": analysis.landscape,
    "surrogate, of a twentieth": lambda table: analysis.fit_surrogate(
        table.where(np.arange(len(table)) % 20 == 0)
    ),
}
ALL_TABLES: dict[str, Callable[..., object]] = {
    **{name: partial(analysis.agreement_matrix, measure=name) for name in MEASURES},
    "transfer": analysis.transfer_matrix,
}


def seconds(function: Callable[..., object], *arguments: object) -> float:
    """Return the processor time of a call."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def smoothness_by_pairs(table: ArchTable) -> list[float]:
    """Return the mean difference by number of different choices, pair by pair."""
    values = table.column("perf")
    archs = [Arch.from_hash(number) for number in table]
    choices = np.array([(*arch.link, *map(hash, arch.ops)) for arch in archs])
    sums: defaultdict[int, float] = defaultdict(float)
    counts: defaultdict[int, int] = defaultdict(int)
    for row in range(len(values)):
        apart = (choices[row + 1 :] != choices[row]).sum(axis=1)
        difference = np.abs(values[row + 1 :] - values[row])
        for distance in np.unique(apart).tolist():
            sums[distance] += float(difference[apart == distance].sum())
            counts[distance] += int((apart == distance).sum())
    return [sums[distance] / counts[distance] for distance in sorted(sums)]


def main() -> None:
    """Time everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", help="names of tables (all published ones)")
    names = parser.parse_args().tables or [
        info.name for info in tables(kind="architectures") if info.origin == "published"
    ]
    published = {name: lightread(name) for name in names}
    spent = {
        name: sum(seconds(function, table) for table in published.values())
        for name, function in ONE_TABLE.items()
    }
    spent |= {name: seconds(function, published) for name, function in ALL_TABLES.items()}
    rows = [{"analysis": name, "CPU s": round(value, 2)} for name, value in spent.items()]
    rows.append({"analysis": "all", "CPU s": round(sum(spent.values()), 2)})
    print(f"{len(published)} tables, one core\n{format_table(rows)}")
    small = min(published.values(), key=len)
    ours, plain = seconds(analysis.smoothness, small), seconds(smoothness_by_pairs, small)
    print(
        f"\nsmoothness of {small.name}, {len(small):,} rows: {ours:.3f} s, "
        f"all pairs {plain:.3f} s: {plain / ours:.1f} times as fast"
    )


if __name__ == "__main__":
    main()
