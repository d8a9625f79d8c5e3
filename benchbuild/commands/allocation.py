"""What ``submit`` and ``slurm-script`` have in common: what Slurm is asked for, and what it runs.

Options that are not Slurm's are handed on to the command that every array task runs.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.commands import runners
from benchbuild.commands.options import positive
from benchbuild.errors import PlanError
from benchquery.naming import suggestion

if TYPE_CHECKING:
    from benchbuild.engines.slurm import Allocation


def add_allocation(parser: argparse.ArgumentParser) -> None:
    """Add what Slurm is asked for."""
    names = "|".join(runners())
    parser.usage = f"%(prog)s --shards N [options] [{names}] [options of that command]"
    parser.set_defaults(handed_on=[])
    parser.add_argument("--shards", type=positive, required=True, metavar="N", help="array tasks")
    parser.add_argument("--partition", type=_word, metavar="P", help="default: Slurm's own")
    parser.add_argument("--gpus", type=positive, metavar="N", help="GPUs of a task; default none")
    parser.add_argument("--cpus", type=positive, default=1, metavar="N", help="CPUs of a task")
    parser.add_argument("--memory", type=positive, metavar="GB", help="memory of a task")
    parser.add_argument(
        "--time", type=positive, default=24 * 60, metavar="MIN", help="limit of a task in minutes"
    )
    parser.add_argument("--parallel", type=positive, metavar="N", help="tasks at once; default all")
    parser.add_argument(
        "--name", type=_word, default="benchbuild", metavar="NAME", help="name of the job"
    )


def _word(text: str) -> str:
    """Read a name that Slurm can take; for argparse."""
    if not re.fullmatch(r"[\w.-]+", text, flags=re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} has more than letters, digits and . _ -")
    return text


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


def shard_command(args: argparse.Namespace) -> tuple[list[str], Path]:
    """Return the command that every task runs, without its shard, and the folder of the run.

    Everything is checked here, so that a mistake shows before anything is queued.

    Raises:
        BenchBuildError: If an option is wrong, or the folder holds another run.
    """
    from benchbuild.commands.running import out_folder
    from benchbuild.pipeline.runfolder import RunFolder

    known = runners()
    words = list(args.handed_on)
    if not words or words[0].startswith("-"):
        words.insert(0, next(iter(known)))
    if words[0] not in known:
        guess = suggestion(words[0], known)
        raise PlanError(f"{words[0]!r} runs no shards{guess or ';'} allowed: {', '.join(known)}")
    command = args.program.parse(words)
    if command.dry_run or command.shard != "1/1":
        raise PlanError("leave --shard and --dry-run out: every task runs a shard of its own")
    described = known[words[0]].described(command)
    out = out_folder(command, described.settings.dataset)
    RunFolder.check(out, described)
    if command.workers is None and not args.gpus:
        words += ["--workers", str(args.cpus)]
    return words, out
