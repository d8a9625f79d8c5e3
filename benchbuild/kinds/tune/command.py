"""``benchbuild tune``: search hyper-parameters of training, or of a condensation method."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbuild.commands.options import add_engine, add_shard, natural, parse_seeds, positive
from benchbuild.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchbuild.kinds.tune.ranking import Trial
    from benchbuild.pipeline.jobs import AnyRun

NAME = "tune"
HELP = "search hyper-parameters by validation: of training, or with --method of a condensation"
EXAMPLE = "benchbuild tune --dataset csbm --trials 20 --range epochs=50 --out runs/tune-csbm"

_SHOWN = 5
_TRIALS = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--dataset", required=True, metavar="D", help="see benchbuild datasets")
    parser.add_argument(
        "--method",
        metavar="M",
        help="choose settings of a condensation method instead; default those of training",
    )
    parser.add_argument(
        "--size",
        metavar="N,N",
        help="with --method: sizes to try each choice at, as for condense; default written down",
    )
    parser.add_argument(
        "--trials",
        type=positive,
        metavar="N",
        help="random choices; default 50, with --method what is written down for it",
    )
    parser.add_argument(
        "--seeds", default="1", metavar="SEEDS", help="seeds of each choice; default 1: seed 0"
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


def described(args: argparse.Namespace) -> AnyRun:
    """Return the run that the options describe.

    Raises:
        PlanError: If options can't be used together.
    """
    return _of_method(args) if args.method else _of_training(args)


def _of_training(args: argparse.Namespace) -> AnyRun:
    from benchbuild.kinds.tune.kind import parse_ranges, tune_run

    if args.size:
        raise PlanError("--size is for settings of a method: say which with --method")
    return tune_run(
        args.dataset,
        trials=_TRIALS if args.trials is None else args.trials,
        seeds=parse_seeds(args.seeds),
        search_seed=args.search_seed,
        ranges=parse_ranges(args.ranges),
        round_valid=args.round_valid,
    )


def _of_method(args: argparse.Namespace) -> AnyRun:
    from benchbuild.kinds.choose.kind import choose_run, parse_ranges
    from benchbuild.kinds.condense.options import listed

    if args.round_valid is not None:
        raise PlanError("--round-valid is for trainings: leave it out with --method")
    return choose_run(
        args.dataset,
        args.method,
        trials=args.trials,
        sizes=listed("--size", args.size, float) if args.size else None,
        seeds=parse_seeds(args.seeds),
        search_seed=args.search_seed,
        ranges=parse_ranges(args.ranges, args.dataset, args.method),
    )


def ranking(out: Path, as_json: bool) -> str:
    """Say which trials did best."""
    from benchbuild.kinds.choose.kind import rank_choices
    from benchbuild.kinds.tune.kind import rank_trials
    from benchbuild.pipeline.runfolder import RunFolder

    folder = RunFolder.open(out)
    ranks: dict[str, Callable[[Any, Iterable[Any]], list[Trial]]]
    ranks = {"tune": rank_trials, "choose": rank_choices}
    trials = ranks[folder.run.kind](folder.run, folder.parts.records())
    if as_json:
        return json.dumps([{**vars(trial), "hp": dict(trial.hp)} for trial in trials], indent=1)
    lines = [f"{len(trials):,} of {folder.run.jobs.trials:,} trials are complete"]
    for trial in trials[:_SHOWN]:
        hp = " ".join(f"--hp {name}={value}" for name, value in trial.hp.items())
        said = hp or "the present settings"
        lines.append(f"{trial.valid_perf:.4f}  {trial.failures} not ok  {said}")
    return "\n".join(lines)
