"""Table 2 and Figure 8 of the NAS-Bench-Graph paper, re-run under both protocols.

Each strategy may ask for 2% of the architectures of each of the nine published tables, with
five seeds. Searches are saved as traces; the table and the picture are made from them, so
that strategies which need environments of their own can be run there::

    export PYTHONPATH=. OMP_NUM_THREADS=1 AUTOGL_BACKEND=pyg
    python benchmarks/table2.py run nni:random nni:evolution nni:evolution-repeats -o out/n.parquet
    python benchmarks/table2.py run nni:rl -o out/rl.parquet
    python benchmarks/table2.py run autogl:random autogl:graphnas autogl:agnn -o out/gl.parquet
    python benchmarks/table2.py run random local evolution reinforce -o out/own.parquet
    python benchmarks/table2.py report out/*.parquet --figure docs/images/figure8.png
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import math
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from benchquery import lightread
from benchquery.search import PROTOCOLS, Standing, Trace, compare, load, run, save
from benchquery.search.plot import plot_search

DATASETS = (
    "cora", "citeseer", "pubmed", "cs", "physics", "photo", "computers", "arxiv", "proteins",
)  # fmt: skip
BUDGET = "2%"


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


def side_by_side(standings: Sequence[Standing]) -> list[list[str]]:
    """Return the paper's rows, each with ours under both protocols, then the other strategies."""
    found = {(s.strategy, s.protocol, s.dataset): s for s in standings}
    strategies = dict.fromkeys(s.strategy for s in standings)

    def ours(strategy: str) -> Iterable[list[str]]:
        for protocol in ("leaky-test", "validation"):
            cells = [found.get((strategy, protocol, dataset)) for dataset in DATASETS]
            if any(cells):
                figures = [cell(100 * s.perf, 100 * s.perf_error) if s else "" for s in cells]
                yield [strategy, f"here, {protocol.removeprefix('leaky-')}", *figures]

    rows = [["method", "rewarded with", *DATASETS]]
    for row in PAPER:
        figures = [cell(*row.figures[d]) if d in row.figures else "" for d in DATASETS]
        rows.append([row.name, "paper, test", *figures])
        if row.ours in strategies:
            del strategies[row.ours]
            rows += ours(row.ours)
    for strategy in strategies:
        rows += ours(strategy)
    quantiles = [100 * np.quantile(lightread(d).column("perf"), 0.95) for d in DATASETS]
    rows.append(["the top 5%", "paper", *(f"{TOP_5[d]:.2f}" for d in DATASETS)])
    rows.append(["the top 5%", "here", *(f"{quantile:.2f}" for quantile in quantiles)])
    return rows


def price_of_honesty(standings: Sequence[Standing]) -> list[list[str]]:
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


def near_the_best(standings: Sequence[Standing]) -> int:
    """Count the strategies within two standard errors of the best, itself included."""
    best = max(standings, key=lambda row: row.perf)
    return sum(
        best.perf - row.perf <= 2 * math.hypot(best.perf_error, row.perf_error) for row in standings
    )


def verdicts(standings: Sequence[Standing]) -> list[list[str]]:
    """Hold the searches that saw the test set against the paper's, cell by cell."""
    found = {(s.strategy, s.dataset): s for s in standings if s.protocol == "leaky-test"}
    rows = [["paper's row", "dataset", "paper", "here", "standard errors apart", "reproduced"]]
    for published, dataset in itertools.product(PAPER, DATASETS):
        ours = found.get((published.ours or "", dataset))
        if ours is None or dataset not in published.figures:
            continue
        mean, error = published.figures[dataset]
        both = math.hypot(error, 100 * ours.perf_error)
        apart = abs(mean - 100 * ours.perf) / both
        rows.append(
            [published.name, dataset, cell(mean, error),
             cell(100 * ours.perf, 100 * ours.perf_error), f"{apart:.1f}",
             "yes" if apart <= 2 else "no"]
        )  # fmt: skip
    return rows


def report(traces: Sequence[Trace], figure: Path | None) -> None:
    order = list(dict.fromkeys(trace.strategy for trace in traces))
    standings = sorted(compare(traces), key=lambda row: order.index(row.strategy))
    contests = {(row.dataset, row.table_sha256, row.budget, row.workers) for row in standings}
    if len(contests) > len({row.dataset for row in standings}):
        sys.exit("the traces are of several tables, budgets or numbers of workers on a dataset")
    seeds = max(row.seeds for row in standings)
    print(f"Test metric in percent, {BUDGET} of the architectures, {seeds} seeds, mean ± standard "
          f"error:\n\n{markdown(side_by_side(standings))}")  # fmt: skip
    print(f"\nThe paper's figures against ours, test-rewarded:\n\n{markdown(verdicts(standings))}")
    print(f"\nWhat the honest reward changes:\n\n{markdown(price_of_honesty(standings))}")
    if figure:
        draw(traces, figure)


def draw(traces: Sequence[Trace], figure: Path) -> None:
    """Draw the strategies that ran under both protocols, one picture each."""
    ran = [{t.strategy for t in traces if t.protocol == protocol} for protocol in PROTOCOLS]
    both = [trace for trace in traces if trace.strategy in set.intersection(*ran)]
    for protocol, name in zip(PROTOCOLS, (f"{figure.stem}-validation", figure.stem), strict=True):
        chosen = [trace for trace in both if trace.protocol == protocol]
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
    reporter = commands.add_parser("report", help="print the tables, draw the figure")
    reporter.add_argument("traces", nargs="+", type=Path)
    reporter.add_argument("--figure", type=Path)
    args = parser.parse_args()
    if args.command == "run":
        args.out.parent.mkdir(parents=True, exist_ok=True)
        datasets, protocols = args.dataset or DATASETS, args.protocol or PROTOCOLS
        search(args.strategies, datasets, protocols, args.seeds, args.out)
    else:
        report([trace for path in args.traces for trace in load(path)], args.figure)


if __name__ == "__main__":
    main()
