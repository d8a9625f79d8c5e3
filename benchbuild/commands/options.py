"""Options that several subcommands share, and what they mean."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.registry import hyperparameters_for
from benchbuild.errors import PlanError
from benchbuild.hyperparameters import HyperParameters

if TYPE_CHECKING:
    from benchbuild.pipeline.engine import Engine

ENGINES = ("local", "ray")
MOST_SEEDS = 10_000


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


def parse_seeds(text: str) -> list[int]:
    """Read seeds: a count (``3`` is 0, 1, 2), or the seeds themselves (``0,2`` or ``5,``).

    Raises:
        PlanError: If it is neither, or a seed comes twice.
    """
    parts = [part.strip() for part in text.split(",")]
    if parts[-1] == "" and len(parts) > 1:
        parts.pop()
        listed = True
    else:
        listed = len(parts) > 1
    if not all(re.fullmatch(r"\d{1,9}", part, flags=re.ASCII) for part in parts):
        raise PlanError(
            f"seeds {text!r} are neither a count, as in 3, nor seeds from 0, as in 0,1,2 or 5,"
        )
    numbers = [int(part) for part in parts]
    if not listed and numbers[0] > MOST_SEEDS:
        raise PlanError(f"seeds {text!r}: at most {MOST_SEEDS:,} at a time")
    if not listed:
        numbers = list(range(numbers[0]))
    if not numbers or len(set(numbers)) < len(numbers):
        raise PlanError(f"seeds {text!r}: there must be at least one, and each only once")
    return numbers


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


def add_space(parser: argparse.ArgumentParser) -> None:
    """Add the space of the architectures."""
    parser.add_argument(
        "--space", metavar="SPACE", help="full or proteins; default: that of the dataset"
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
        "--out",
        type=Path,
        metavar="DIR",
        help="folder of the run, default runs/DATASET or runs/DATASET-COMMAND; the same command "
        "resumes it",
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


def engine_from(args: argparse.Namespace, out: Path) -> Engine:
    """Return the engine that was asked for, not yet started.

    Args:
        args: The options of `add_engine`.
        out: The folder of the run.

    Raises:
        PlanError: If the address of a Ray cluster is given for another engine.
    """
    if args.address is not None and args.engine != "ray":
        raise PlanError(f"--address {args.address} is that of a Ray cluster: add --engine ray")
    from benchbuild.api import worker_settings

    workers = worker_settings(
        out,
        count=args.workers,
        device=args.device,
        per_device=args.workers_per_device,
        data_root=args.data_root,
        capture=getattr(args, "capture", False),
    )
    if args.engine == "ray":
        from benchbuild.engines.ray import RayEngine

        return RayEngine(workers, args.address)
    from benchbuild.engines.local import LocalEngine

    return LocalEngine(workers)
