"""Options that several subcommands share, and what they mean."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.errors import PlanError
from benchbuild.hyperparameters import HyperParameters, hyperparameters_for
from benchbuild.jobs import Run

if TYPE_CHECKING:
    from benchbuild.engines.base import Engine, Workers

ENGINES = ("local", "ray")


def positive(text: str) -> int:
    """Read a whole number from 1 up; for argparse."""
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def natural(text: str) -> int:
    """Read a whole number from 0 up; for argparse."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 up")
    return int(text)


def add_dataset(parser: argparse.ArgumentParser) -> None:
    """Add the dataset and its hyper-parameters."""
    parser.add_argument("--dataset", required=True, metavar="D", help="see benchbuild datasets")
    parser.add_argument("--epochs", type=positive, metavar="N", help="the same as --hp epochs=N")
    parser.add_argument(
        "--hp",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change a hyper-parameter of the dataset, as in lr=0.05; may be repeated",
    )


def hyperparameters_from(args: argparse.Namespace) -> HyperParameters:
    """Return the dataset's hyper-parameters with the changes that were asked for."""
    epochs = [f"epochs={args.epochs}"] if args.epochs else []
    return hyperparameters_for(args.dataset).override_from([*args.hp, *epochs])


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add what is to be trained."""
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
    parser.add_argument(
        "--space", metavar="SPACE", help="full or proteins; default: that of the dataset"
    )


def run_from(args: argparse.Namespace) -> Run:
    """Return the run that the options of `add_jobs` describe.

    Raises:
        PlanError: If the architectures or seeds can't be understood.
        HyperParameterError: If a hyper-parameter is not allowed.
        UnknownDatasetError: If there is no such dataset.
    """
    from benchbuild.kinds.train import default_space, parse_archs, parse_seeds, train_run

    space = args.space or default_space(args.dataset)
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
    )


def add_shard(parser: argparse.ArgumentParser) -> None:
    """Add which share is run, and where its results go."""
    parser.add_argument(
        "--shard", default="1/1", metavar="I/N", help="share I of N, counted from 1; default 1/1"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="folder of the run; the same command resumes it"
    )
    parser.add_argument(
        "--retry-failed", action="store_true", help="run oom and failed jobs once more"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="only say what would be run and what it would take"
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add where jobs run."""
    parser.add_argument(
        "--device", default="auto", metavar="DEV", help="auto, cpu, cuda or cuda:i; default auto"
    )
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="processes; default: one a core, or --workers-per-device on every GPU",
    )
    parser.add_argument(
        "--workers-per-device",
        type=positive,
        default=1,
        metavar="N",
        help="processes that share a GPU; default 1. Small graphs leave it idle with one",
    )
    parser.add_argument(
        "--data-root", metavar="DIR", help="folder of the datasets; default: GRAPHTAB_DATA"
    )


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the engine and its workers."""
    add_workers(parser)
    parser.add_argument(
        "--engine", choices=ENGINES, default="local", help="where jobs run; default local"
    )
    parser.add_argument(
        "--address", metavar="A", help="Ray cluster to join; default: one is started here"
    )


def workers_from(args: argparse.Namespace) -> Workers:
    """Return the workers that the options describe."""
    from benchbuild.engines.base import Workers
    from benchbuild.runfolder import SCRATCH

    scratch = str(Path(args.out).resolve() / SCRATCH) if args.out else None
    return Workers(args.device, args.workers, args.workers_per_device, args.data_root, scratch)


def engine_from(args: argparse.Namespace) -> Engine:
    """Return the engine that was asked for, not yet started."""
    if args.engine == "ray":
        from benchbuild.engines.ray import RayEngine

        return RayEngine(workers_from(args), args.address)
    from benchbuild.engines.local import LocalEngine

    return LocalEngine(workers_from(args))
