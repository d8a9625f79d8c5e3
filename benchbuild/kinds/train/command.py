"""``benchbuild train``: train the jobs of a shard that have no record yet."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from benchbuild.commands.options import (
    add_dataset,
    add_engine,
    add_shard,
    add_space,
    hyperparameters_from,
    natural,
    parse_seeds,
    positive,
)
from benchbuild.errors import PlanError

if TYPE_CHECKING:
    from benchbuild.kinds.train.kind import TrainRun

NAME = "train"
HELP = "train architectures, or the shard of them that falls to this machine"
EXAMPLE = "benchbuild train --dataset karate --sample 20 --seeds 3 --out runs/karate"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_dataset(parser)
    parser.add_argument(
        "--archs",
        nargs="+",
        metavar="A",
        help="hashes (10000,61237) or a file that lists them; default: the whole space",
    )
    parser.add_argument("--sample", type=positive, metavar="N", help="N random architectures")
    parser.add_argument(
        "--sample-seed", type=natural, default=0, metavar="S", help="seed of the sample; default 0"
    )
    parser.add_argument(
        "--seeds",
        default="3",
        metavar="SEEDS",
        help="how many seeds (3: 0, 1, 2), or which (0,2 or 5,); default 3",
    )
    add_space(parser)
    parser.add_argument(
        "--round-valid",
        type=positive,
        metavar="N",
        help="round validation metrics to N decimals, as the published tables have 3; default: "
        "exact",
    )
    add_shard(parser)
    add_engine(parser)
    parser.add_argument(
        "--capture",
        action="store_true",
        help="record an epoch as a CUDA graph and start it as a whole: the same figures with fewer "
        "launches, on GPUs only; see docs/gpu.md",
    )
    parser.add_argument(
        "--batch",
        type=positive,
        default=1,
        metavar="N",
        help="train up to N seeds of an architecture as one computation, with fewer launches; a "
        "run that is begun so has them in one shard; see docs/gpu.md",
    )


def run(args: argparse.Namespace) -> int:
    """Train, or say what would be trained."""
    from benchbuild.commands.running import run_or_describe

    return run_or_describe(args, described(args))


def described(args: argparse.Namespace) -> TrainRun:
    """Return the run that the options describe.

    Raises:
        PlanError: If the architectures or seeds can't be understood.
        HyperParameterError: If a hyper-parameter is not allowed.
        UnknownDatasetError: If there is no such dataset.
    """
    from benchbuild.datasets.registry import dataset_spec
    from benchbuild.kinds.train.kind import parse_archs, train_run

    space = args.space or dataset_spec(args.dataset).require("nodes", NAME).space
    if args.archs and args.sample:
        raise PlanError("--archs and --sample can't be used together: name one of them")
    return train_run(
        args.dataset,
        archs=parse_archs(args.archs, space) if args.archs else None,
        sample=args.sample,
        sample_seed=args.sample_seed,
        seeds=parse_seeds(args.seeds),
        hp=hyperparameters_from(args),
        space=space,
        round_valid=args.round_valid,
    )
