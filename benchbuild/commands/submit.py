"""``benchbuild submit``: queue every shard of a run on a cluster."""

from __future__ import annotations

import argparse

from benchbuild.commands.allocation import add_allocation, shard_command
from benchbuild.errors import WorkerError

NAME = "submit"
HELP = "queue the shards of a run on a Slurm cluster, through submitit"
EXAMPLE = (
    "benchbuild submit --engine slurm --shards 32 --partition gpu --gpus 1 --time 600 "
    "train --dataset cora --out runs/cora"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--engine", choices=("slurm",), default="slurm", help="default slurm")
    add_allocation(parser)
    parser.add_argument("--wait", action="store_true", help="wait until all shards have ended")


def run(args: argparse.Namespace) -> int:
    """Submit, and wait if asked to."""
    from benchbuild.engines.slurm import LOGS, submit

    allocation, command, out = shard_command(args)
    jobs = submit(allocation, args.program.main, command, out / LOGS)
    print(f"submitted {len(jobs):,} shards as Slurm jobs {jobs[0].job_id} to {jobs[-1].job_id}")
    if args.wait:
        failed = [shard for shard, job in enumerate(jobs, start=1) if job.exception() is not None]
        if failed:
            raise WorkerError(
                f"{len(failed):,} of {len(jobs):,} shards did not end well, for example "
                f"{failed[0]}/{len(jobs)}: see {out / LOGS} and submit again"
            )
    print(f"see how far it is: benchbuild status {out}")
    return 0
