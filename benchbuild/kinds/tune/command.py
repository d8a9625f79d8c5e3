"""``benchbuild tune``: search hyper-parameters for a dataset, as the paper did."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.commands.options import add_engine, add_shard, natural, parse_seeds, positive

if TYPE_CHECKING:
    from benchbuild.kinds.tune.kind import TuneRun

NAME = "tune"
HELP = "search hyper-parameters: random trials on 30 anchor architectures"
EXAMPLE = "benchbuild tune --dataset csbm --trials 20 --range epochs=50 --out runs/tune-csbm"

_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--dataset", required=True, metavar="D", help="see benchbuild datasets")
    parser.add_argument(
        "--trials", type=positive, default=50, metavar="N", help="random choices; default 50"
    )
    parser.add_argument(
        "--seeds", default="1", metavar="SEEDS", help="seeds of each training; default 1"
    )
    parser.add_argument(
        "--search-seed", type=natural, default=0, metavar="S", help="seed of the search; default 0"
    )
    parser.add_argument(
        "--range",
        action="append",
        default=[],
        dest="ranges",
        metavar="NAME=V,V",
        help="choose from other values than the paper's, as in lr=0.1,0.01; may be repeated",
    )
    parser.add_argument(
        "--round-valid",
        type=positive,
        metavar="N",
        help="round validation metrics to N decimals; default: exact",
    )
    add_shard(parser)
    add_engine(parser)
    parser.add_argument("--json", action="store_true", help="print the ranking as JSON")


def run(args: argparse.Namespace) -> int:
    """Search, then print the ranking."""
    from benchbuild.commands.running import out_folder, run_or_describe

    search = described(args)
    code = run_or_describe(args, search, quiet=args.json)
    if code == 0 and not args.dry_run:
        print(ranking(out_folder(args, search.settings.dataset), args.json))
    return code


def described(args: argparse.Namespace) -> TuneRun:
    """Return the run that the options describe."""
    from benchbuild.kinds.tune.kind import parse_ranges, tune_run

    return tune_run(
        args.dataset,
        trials=args.trials,
        seeds=parse_seeds(args.seeds),
        search_seed=args.search_seed,
        ranges=parse_ranges(args.ranges),
        round_valid=args.round_valid,
    )


def ranking(out: Path, as_json: bool) -> str:
    """Say which trials did best."""
    from benchbuild.kinds.tune.kind import rank_trials
    from benchbuild.pipeline.runfolder import RunFolder

    folder = RunFolder.open(out)
    trials = rank_trials(folder.run, folder.parts.records())
    if as_json:
        return json.dumps([{**vars(trial), "hp": trial.hp.to_dict()} for trial in trials], indent=1)
    lines = [f"{len(trials):,} of {folder.run.jobs.trials:,} trials are complete"]
    for trial in trials[:_SHOWN]:
        hp = " ".join(f"--hp {name}={value}" for name, value in trial.hp.to_dict().items())
        lines.append(f"{trial.valid_perf:.4f}  {trial.failures} not ok  {hp}")
    return "\n".join(lines)
