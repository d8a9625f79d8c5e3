"""``benchbuild plan``: what a grid of condensations holds and would take."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from typing import Any

from benchbuild.kinds.condense.options import add_evaluations, evaluations_from, listed

NAME = "plan"
HELP = "count the configurations of a grid and predict what condensing them takes"
EXAMPLE = "benchbuild plan --grid gc-bench-node --dataset cora,citeseer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--grid", required=True, metavar="G", help="see ls grids")
    parser.add_argument("--dataset", metavar="D,D", help="only these datasets; default all")
    parser.add_argument(
        "--seed", default="0", metavar="S,S", help="condensation seeds, as in 0,1,2; default 0"
    )
    add_evaluations(parser, seeds="--eval-seeds")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the plan."""
    from benchbuild.datasets.registry import dataset_spec
    from benchbuild.kinds.condense.costs import predict
    from benchbuild.kinds.condense.repeats import without_repeats
    from benchquery.kinds.condensed.grids import grid

    named = listed("--dataset", args.dataset, str) if args.dataset else None
    datasets = named and [dataset_spec(name).name for name in named]
    configs = grid(args.grid, datasets, listed("--seed", args.seed, int))
    evaluations = evaluations_from(args, configs[0].domain)
    costs: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    planned = without_repeats(configs)
    for config in planned:
        costs[config.dataset, config.method].append(predict(config, evaluations).seconds)
    rows = [
        {"dataset": dataset, "method": method, "configurations": len(times), "seconds": sum(times)}
        for (dataset, method), times in costs.items()
    ]
    repeats = len(configs) - len(planned)
    print(json.dumps(rows, indent=1) if args.json else _text(args.grid, rows, repeats))
    return 0


def _text(name: str, rows: list[dict[str, Any]], repeats: int) -> str:
    from benchquery.units import readable_seconds

    total = sum(row["configurations"] for row in rows)
    seconds = sum(row["seconds"] for row in rows)
    lines = [
        f"{row['dataset']:10} {row['method']:10} {row['configurations']:5,}  "
        f"{readable_seconds(row['seconds'])}"
        for row in rows
    ]
    end = f"{name}: {total:,} configurations, predicted {readable_seconds(seconds)} on one core"
    more = f"; {repeats:,} more would give the same nodes once more" if repeats else ""
    return "\n".join([*lines, end + more])
