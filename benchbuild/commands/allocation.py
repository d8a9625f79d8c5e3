"""What ``submit`` and ``slurm-script`` have in common."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.commands.options import add_jobs, add_workers, positive, run_from

if TYPE_CHECKING:
    from benchbuild.engines.slurm import Allocation


def add_allocation(parser: argparse.ArgumentParser) -> None:
    """Add what is trained and what Slurm is asked for."""
    add_jobs(parser)
    add_workers(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder of the run, on a shared disk"
    )
    parser.add_argument("--shards", type=positive, required=True, metavar="N", help="array tasks")
    parser.add_argument("--partition", metavar="P", help="default: Slurm's own")
    parser.add_argument("--gpus", type=positive, metavar="N", help="GPUs of a task; default none")
    parser.add_argument("--cpus", type=positive, default=1, metavar="N", help="CPUs of a task")
    parser.add_argument("--memory", type=positive, metavar="GB", help="memory of a task")
    parser.add_argument(
        "--time", type=positive, default=24 * 60, metavar="MIN", help="limit of a task in minutes"
    )
    parser.add_argument("--parallel", type=positive, metavar="N", help="tasks at once; default all")
    parser.add_argument("--name", default="benchbuild", metavar="NAME", help="name of the job")


def allocation_from(args: argparse.Namespace) -> Allocation:
    """Return what Slurm is asked for."""
    from benchbuild.engines.slurm import Allocation

    return Allocation(
        shards=args.shards,
        partition=args.partition,
        gpus=args.gpus or 0,
        cpus=args.cpus,
        memory=args.memory,
        minutes=args.time,
        parallel=args.parallel,
        name=args.name,
    )


def train_arguments(args: argparse.Namespace) -> list[str]:
    """Return the arguments of ``benchbuild train`` that mean the same, without the shard.

    Everything is checked here, so that a mistake shows before anything is queued.

    Raises:
        BenchBuildError: If an option is wrong, or the folder holds another run.
    """
    from benchbuild.runfolder import RunFolder

    RunFolder.check(args.out, run_from(args))
    out = args.out.resolve()
    values: dict[str, object] = {
        "--dataset": args.dataset,
        "--epochs": args.epochs,
        "--sample": args.sample,
        "--sample-seed": args.sample_seed if args.sample else None,
        "--seeds": args.seeds,
        "--space": args.space,
        "--device": args.device,
        "--workers": args.workers or (None if args.gpus else args.cpus),
        "--workers-per-device": args.workers_per_device,
        "--data-root": args.data_root,
        "--out": out,
    }
    arguments = [
        text for name, value in values.items() if value is not None for text in (name, str(value))
    ]
    for assignment in args.hp:
        arguments += ["--hp", assignment]
    if args.archs:
        arguments += ["--archs", *(_absolute(word) for word in args.archs)]
    return arguments


def _absolute(word: str) -> str:
    """Make the name of a file independent of the folder that a task starts in."""
    return str(Path(word).resolve()) if Path(word).is_file() else word
