"""``benchbuild slurm-script``: print a batch script instead of submitting it."""

from __future__ import annotations

import argparse

from benchbuild.commands.allocation import add_allocation, shard_command

NAME = "slurm-script"
HELP = "print an sbatch script that runs every shard as a task of one array"
EXAMPLE = "benchbuild slurm-script --shards 32 train --dataset cora --out runs/cora > cora.sbatch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_allocation(parser)


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from benchbuild.engines.slurm import array_script

    allocation, command, _ = shard_command(args)
    print(array_script(allocation, command), end="")
    return 0
