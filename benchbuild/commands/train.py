"""``benchbuild train``: train the jobs of a shard that have no record yet."""

from __future__ import annotations

import argparse

from benchbuild.commands.options import add_engine, add_jobs, add_shard, run_from

NAME = "train"
HELP = "train architectures, or the shard of them that falls to this machine"
EXAMPLE = "benchbuild train --dataset karate --sample 20 --seeds 3 --out runs/karate"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_jobs(parser)
    add_shard(parser)
    add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Train, or say what would be trained."""
    from benchbuild.commands.running import run_or_describe

    return run_or_describe(args, run_from(args))
