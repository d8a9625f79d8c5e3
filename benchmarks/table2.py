"""Table 2 and Figure 8 of the NAS-Bench-Graph paper, re-run under both protocols.

Each strategy may ask for 2% of the architectures of each of the nine published tables. Searches are
saved as traces; the table and the picture are made from them, so that strategies which need
environments of their own can be run there::

    export PYTHONPATH=. OMP_NUM_THREADS=1 AUTOGL_BACKEND=pyg
    python benchmarks/table2.py run random local evolution reinforce --seeds 100 -o out/own.parquet
    python benchmarks/table2.py run nni:random nni:evolution nni:evolution-repeats --seeds 20 \
        -o out/n.parquet
    python benchmarks/table2.py run nni:random nni:evolution-repeats --seeds 100 \
        --protocol leaky-test -o out/more.parquet
    python benchmarks/table2.py run nni:rl --seeds 10 -o out/rl.parquet
    python benchmarks/table2.py run autogl:graphnas autogl:agnn --seeds 10 -o out/gl.parquet
    python benchmarks/table2.py keep out/n.parquet out/more.parquet out/rl.parquet out/gl.parquet
    python benchmarks/table2.py report out/own.parquet --figure docs/images/figure8.png

Strategies that are slow or need environments of their own were run with 5 to 100 seeds once. What
they came to is kept in ``table2-kept.csv`` by ``keep``, and stands in the report where no traces
are given. A file of traces may be of some datasets and one protocol: ``--dataset cora --protocol
leaky-test``; so a search that was cut short goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import itertools
import math
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from scipy import stats

from benchquery import lightread
from benchquery.analysis.statistics import holm
from benchquery.search import (
    Budget,
    Trace,
    compare,
    load,
    random_search_exactly,
    run,
    save,
)
from benchquery.search.plot import plot_search

PROTOCOLS = ("validation", "leaky-test")
DATASETS = (
    "cora", "citeseer", "pubmed", "cs", "physics", "photo", "computers", "arxiv", "proteins",
)  # fmt: skip
BUDGET = "2%"


@dataclasses.dataclass(frozen=True)
class Cell:
    """What a strategy came to on a dataset: mean and standard error of the test metric.

    Attributes:
        strategy: The strategy.
        protocol: What the reward was.
        dataset: The dataset.
        seeds: Over how many searches.
        perf: The mean test metric of the finds.
        perf_error: Its standard error.
        jump: The mean of the largest step that the best so far makes, after the first tenth of the
            queries; None where it was not kept.
    """

    strategy: str
    protocol: str
    dataset: str
    seeds: int
    perf: float
    perf_error: float
    jump: float | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is of."""
        return self.strategy, self.protocol, self.dataset


KEPT = Path(__file__).with_name("table2-kept.csv")
PAPER_SEEDS = 5
LEAST_ERROR = 0.005
"""In points: what a printed error of 0.00 may be at most."""
LEVEL = 0.05


@dataclasses.dataclass(frozen=True)
class Published:
    """A row of the paper's table: mean and standard error in percent by dataset.

    Attributes:
        name: The method, as the paper names it.
        ours: The strategy here that it is to be held against.
        figures: By dataset. Cells that the copy of the paper at hand lost are missing.
    """

    name: str
    ours: str | None
    figures: dict[str, tuple[float, float]]


PAPER = (
    Published("GNAS (AutoGL)", "autogl:graphnas", {
        "cora": (82.04, 0.17), "citeseer": (70.89, 0.16), "physics": (92.43, 0.04),
        "proteins": (78.71, 0.11)}),
    Published("Auto-GNN (AutoGL)", "autogl:agnn", {
        "cora": (81.80, 0.00), "citeseer": (70.76, 0.12), "physics": (92.42, 0.16),
        "proteins": (78.54, 0.30)}),
    Published("Random (NNI)", "nni:random", {
        "cora": (82.09, 0.08), "physics": (92.35, 0.05), "proteins": (78.32, 0.14)}),
    Published("EA (NNI)", "nni:evolution-repeats", {
        "cora": (81.85, 0.20), "physics": (92.22, 0.08), "proteins": (77.93, 0.21)}),
    Published("RL (NNI)", "nni:rl", {
        "cora": (82.27, 0.21), "physics": (92.48, 0.03), "proteins": (78.52, 0.18)}),
    Published("one of the three NNI rows", None, {
        "citeseer": (70.48, 0.12), "pubmed": (77.96, 0.12), "cs": (90.60, 0.07),
        "photo": (92.43, 0.02), "computers": (84.29, 0.29), "arxiv": (71.91, 0.06)}),
)  # fmt: skip
TOP_5 = {
    "cora": 80.63, "citeseer": 69.07, "pubmed": 76.60, "cs": 90.01, "physics": 91.67,
    "photo": 91.57, "computers": 82.77, "arxiv": 71.69, "proteins": 78.37,
}  # fmt: skip


def search(
    strategies: Sequence[str],
    datasets: Sequence[str],
    protocols: Sequence[str],
    seeds: int,
    out: Path,
) -> None:
    traces = load(out) if out.exists() else []
    done = {(t.dataset, t.protocol, t.strategy, t.seed) for t in traces}
    for protocol, dataset, strategy in itertools.product(protocols, datasets, strategies):
        table = lightread(dataset)
        start = time.perf_counter()
        for seed in range(seeds):
            if (dataset, protocol, strategy, seed) not in done:
                traces.append(run(strategy, table, BUDGET, seed=seed, protocol=protocol))  # type: ignore[arg-type]
        save(traces, out)
        took = time.perf_counter() - start
        print(f"{protocol} {dataset} {strategy}: {took:.1f} s", file=sys.stderr, flush=True)


def markdown(rows: Iterable[Sequence[str]]) -> str:
    header, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([header, "|---" * (header.count("|") - 1) + "|", *body])


def cell(mean: float, error: float) -> str:
    return f"{mean:.2f} ± {error:.2f}"


def kept() -> list[Cell]:
    """Return what is kept of searches."""
    with KEPT.open(newline="") as file:
        return [
            Cell(row["strategy"], row["protocol"], row["dataset"], int(row["seeds"]),
                 float(row["mean"]) / 100, float(row["error"]) / 100,
                 float(row["jump"]) / 100 if row["jump"] else None)
            for row in csv.DictReader(file)
        ]  # fmt: skip


def keep(traces: Sequence[Trace]) -> None:
    """Keep what searches came to: those of as many seeds or more take the place of older ones."""
    cells = {cell.key: cell for cell in kept()}
    for cell in cells_of(traces):
        if cell.key not in cells or cell.seeds >= cells[cell.key].seeds:
            cells[cell.key] = cell
    with KEPT.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["strategy", "protocol", "dataset", "seeds", "mean", "error", "jump"])
        for cell in cells.values():
            jump = "" if cell.jump is None else f"{100 * cell.jump:.3f}"
            writer.writerow([*cell.key, cell.seeds, f"{100 * cell.perf:.4f}",
                             f"{100 * cell.perf_error:.4f}", jump])  # fmt: skip


def largest_step(trace: Trace) -> float:
    """Return the largest step that the best so far makes, after the first tenth of the queries."""
    best = np.maximum.accumulate(trace.progress().rewards)
    return float(np.diff(best[len(best) // 10 :]).max(initial=0.0))


def cells_of(traces: Sequence[Trace]) -> list[Cell]:
    """Return what searches came to, strategies in the order in which they were run."""
    order = list(dict.fromkeys(trace.strategy for trace in traces))
    steps: dict[tuple[str, str, str], list[float]] = {}
    for trace in traces:
        key = (trace.strategy, trace.protocol, trace.dataset)
        steps.setdefault(key, []).append(largest_step(trace))
    standings = sorted(compare(traces, chance=False), key=lambda row: order.index(row.strategy))
    contests = {(row.dataset, row.table_sha256, row.budget, row.workers) for row in standings}
    if len(contests) > len({row.dataset for row in standings}):
        sys.exit("the traces are of several tables, budgets or numbers of workers on a dataset")
    return [
        Cell(row.strategy, row.protocol, row.dataset, row.seeds, row.perf, row.perf_error,
             float(np.mean(steps[row.strategy, row.protocol, row.dataset])))
        for row in standings
    ]  # fmt: skip


def all_cells(traces: Sequence[Trace]) -> list[Cell]:
    """Return what the traces say, then what is kept of searches that they have none of."""
    cells = cells_of(traces)
    searched = {cell.key for cell in cells}
    return cells + [cell for cell in kept() if cell.key not in searched]


def exactly(protocol: str) -> list[str]:
    """Return what random search finds on average, without a search."""
    found = []
    for dataset in DATASETS:
        table = lightread(dataset)
        queries = int(Budget.parse(BUDGET, len(table)).amount)
        found.append(f"{100 * random_search_exactly(table, queries, protocol).perf[0]:.2f}")
    return found


def side_by_side(standings: Sequence[Cell]) -> list[list[str]]:
    """Return the paper's rows, each with ours under both protocols, then the other strategies."""
    found = {(s.strategy, s.protocol, s.dataset): s for s in standings}
    strategies = dict.fromkeys(s.strategy for s in standings)

    def ours(strategy: str) -> Iterable[list[str]]:
        for protocol in ("leaky-test", "validation"):
            cells = [found.get((strategy, protocol, dataset)) for dataset in DATASETS]
            if any(cells):
                figures = [cell(100 * s.perf, 100 * s.perf_error) if s else "" for s in cells]
                counts = sorted({s.seeds for s in cells if s}, reverse=True)
                reward = f"here, {protocol.removeprefix('leaky-')}"
                yield [strategy, reward, " or ".join(map(str, counts)), *figures]

    rows = [["method", "rewarded with", "seeds", *DATASETS]]
    for row in PAPER:
        figures = [cell(*row.figures[d]) if d in row.figures else "" for d in DATASETS]
        rows.append([row.name, "paper, test", str(PAPER_SEEDS), *figures])
        if row.ours in strategies:
            del strategies[row.ours]
            rows += ours(row.ours)
    for strategy in strategies:
        rows += ours(strategy)
    for protocol in ("leaky-test", "validation"):
        reward = protocol.removeprefix("leaky-")
        rows.append(["random search, exactly", f"here, {reward}", "all", *exactly(protocol)])
    quantiles = [100 * np.quantile(lightread(d).column("perf"), 0.95) for d in DATASETS]
    rows.append(["the top 5%", "paper", "", *(f"{TOP_5[d]:.2f}" for d in DATASETS)])
    rows.append(["the top 5%", "here", "", *(f"{quantile:.2f}" for quantile in quantiles)])
    return rows


def price_of_honesty(standings: Sequence[Cell]) -> list[list[str]]:
    """Say what rewarding with validation changes, over the strategies run under both."""
    rows = [["dataset", "rewarded with test", "with validation", "difference", "below the top 5%",
             "near the best, test", "near the best, validation"]]  # fmt: skip
    for dataset in DATASETS:
        leaky, fair = (
            {s.strategy: s for s in standings if (s.dataset, s.protocol) == (dataset, protocol)}
            for protocol in ("leaky-test", "validation")
        )
        both = sorted(leaky.keys() & fair.keys())
        means = [100 * np.mean([one[name].perf for name in both]) for one in (leaky, fair)]
        line = np.quantile(lightread(dataset).column("perf"), 0.95)
        counts = [
            sum(fair[name].perf < line for name in both),
            *(near_the_best([one[name] for name in both]) for one in (leaky, fair)),
        ]
        rows.append(
            [dataset, f"{means[0]:.2f}", f"{means[1]:.2f}", f"{means[1] - means[0]:+.2f}",
             *(f"{count} of {len(both)}" for count in counts)]
        )  # fmt: skip
    return rows


def near_the_best(standings: Sequence[Cell]) -> int:
    """Count the strategies within two standard errors of the best, itself included."""
    best = max(standings, key=lambda row: row.perf)
    return sum(
        best.perf - row.perf <= 2 * math.hypot(best.perf_error, row.perf_error) for row in standings
    )


def welch(one: tuple[float, float, int], other: tuple[float, float, int]) -> float:
    """Return the p-value that two means are equal, each with its standard error and seeds."""
    (a, a_error, a_seeds), (b, b_error, b_seeds) = one, other
    freedom = (a_error**2 + b_error**2) ** 2 / (
        a_error**4 / (a_seeds - 1) + b_error**4 / (b_seeds - 1)
    )
    return float(2 * stats.t.sf(abs(a - b) / math.hypot(a_error, b_error), freedom))


def verdicts(standings: Sequence[Cell]) -> list[list[str]]:
    """Hold the searches that saw the test set against the paper's, by a test over all cells.

    Welch's test of each cell, corrected by Holm: a paper's figure is not reproduced if a
    difference of that size would come up by chance in fewer than 5% of such tables.
    """
    found = {(s.strategy, s.dataset): s for s in standings if s.protocol == "leaky-test"}
    compared = []
    for published, dataset in itertools.product(PAPER, DATASETS):
        ours = found.get((published.ours or "", dataset))
        if ours is not None and dataset in published.figures:
            mean, error = published.figures[dataset]
            theirs = (mean, max(error, LEAST_ERROR), PAPER_SEEDS)
            p = welch(
                theirs, (100 * ours.perf, max(100 * ours.perf_error, LEAST_ERROR), ours.seeds)
            )
            compared.append((published, dataset, ours, p))
    rows = [["paper's row", "dataset", "paper", "here", "p", "corrected", "reproduced"]]
    corrected = holm([p for *_, p in compared])
    for (published, dataset, ours, p), q in zip(compared, corrected, strict=True):
        rows.append(
            [published.name, dataset, cell(*published.figures[dataset]),
             cell(100 * ours.perf, 100 * ours.perf_error), f"{p:.3f}", f"{q:.3f}",
             "no" if q <= LEVEL else "yes"]
        )  # fmt: skip
    return rows


def report(traces: Sequence[Trace], figure: Path | None) -> None:
    cells = all_cells(traces)
    print(f"Test metric in percent, {BUDGET} of the architectures, mean ± standard error:\n\n"
          f"{markdown(side_by_side(cells))}")  # fmt: skip
    print(f"\nThe paper's figures against ours, test-rewarded:\n\n{markdown(verdicts(cells))}")
    print(f"\nWhat the honest reward changes:\n\n{markdown(price_of_honesty(cells))}")
    if figure:
        draw(traces, figure)


def draw(traces: Sequence[Trace], figure: Path) -> None:
    """Draw the searches of each protocol, one picture each."""
    for protocol, name in zip(PROTOCOLS, (f"{figure.stem}-validation", figure.stem), strict=True):
        chosen = [trace for trace in traces if trace.protocol == protocol]
        chosen.sort(key=lambda trace: DATASETS.index(trace.dataset))
        plot_search(chosen, figure.with_stem(name), "perf")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True, dest="command")
    runner = commands.add_parser("run", help="search, and save the traces")
    runner.add_argument("strategies", nargs="+")
    runner.add_argument("-o", "--out", type=Path, required=True, help="traces (.parquet)")
    runner.add_argument("--dataset", action="append", choices=DATASETS)
    runner.add_argument("--protocol", action="append", choices=PROTOCOLS)
    runner.add_argument("--seeds", type=int, default=5, help="of each search (5)")
    keeper = commands.add_parser("keep", help="keep what searches came to, for reports to come")
    keeper.add_argument("traces", nargs="+", type=Path)
    reporter = commands.add_parser("report", help="print the tables, draw the figure")
    reporter.add_argument("traces", nargs="+", type=Path)
    reporter.add_argument("--figure", type=Path)
    args = parser.parse_args()
    if args.command == "run":
        args.out.parent.mkdir(parents=True, exist_ok=True)
        datasets, protocols = args.dataset or DATASETS, args.protocol or PROTOCOLS
        search(args.strategies, datasets, protocols, args.seeds, args.out)
        return
    traces = [trace for path in args.traces for trace in load(path)]
    if args.command == "keep":
        keep(traces)
    else:
        report(traces, args.figure)


if __name__ == "__main__":
    main()
