"""Options that several subcommands share, and what they mean."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.root import named_root
from benchbuild.errors import PlanError
from benchbuild.hyperparameters import HyperParameters, hyperparameters_for

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


def device(text: str) -> str:
    """Read the name of a device; for argparse. Whether it is there is seen by the workers."""
    if not re.fullmatch(r"auto|cpu|cuda(:\d{1,3})?", text, flags=re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is no device; use auto, cpu, cuda or cuda:i")
    return text


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
        "--device",
        type=device,
        default="auto",
        metavar="DEV",
        help="auto, cpu, cuda or cuda:i; default auto",
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
    from benchbuild.pipeline.runfolder import SCRATCH

    scratch = str(Path(args.out).resolve() / SCRATCH) if args.out else None
    # What was named here holds for workers elsewhere; else each machine has its own default.
    root = named_root(args.data_root)
    return Workers(
        device=args.device,
        count=args.workers,
        per_device=args.workers_per_device,
        data_root=str(root.resolve()) if root else None,
        scratch=scratch,
    )


def engine_from(args: argparse.Namespace) -> Engine:
    """Return the engine that was asked for, not yet started.

    Raises:
        PlanError: If the address of a Ray cluster is given for another engine.
    """
    if args.address is not None and args.engine != "ray":
        raise PlanError(f"--address {args.address} is that of a Ray cluster: add --engine ray")
    if args.engine == "ray":
        from benchbuild.engines.ray import RayEngine

        return RayEngine(workers_from(args), args.address)
    from benchbuild.engines.local import LocalEngine

    return LocalEngine(workers_from(args))
