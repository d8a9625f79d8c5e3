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
    parser.add_argument("--gpu-type", type=_word, metavar="T", help="their type, as in a100")
    parser.add_argument(
        "--cpus", type=positive, metavar="N", help="CPUs of a task; default: one a worker"
    )
    parser.add_argument("--memory", type=positive, metavar="GB", help="memory of a task")
    parser.add_argument(
        "--time", type=positive, default=24 * 60, metavar="MIN", help="limit of a task in minutes"
    )
    parser.add_argument("--parallel", type=positive, metavar="N", help="tasks at once; default all")
    parser.add_argument(
        "--name", type=_word, default="benchbuild", metavar="NAME", help="name of the job"
    )
    parser.add_argument("--account", type=_word, metavar="A", help="who pays; default: Slurm's own")
    parser.add_argument("--qos", type=_word, metavar="Q", help="quality of service")
    parser.add_argument("--constraint", type=_line, metavar="C", help="features a node must have")
    parser.add_argument(
        "--sbatch",
        type=_option,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any other option of sbatch, as in mail-type=END; may be repeated",
    )


def _word(text: str) -> str:
    """Read a name that Slurm can take; for argparse."""
    if not re.fullmatch(r"[\w.-]+", text, flags=re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} has more than letters, digits and . _ -")
    return text


def _line(text: str) -> str:
    """Read a value that fits into a line of a script; for argparse."""
    if not re.fullmatch(r"[\x21-\x7e]+", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} has spaces, or more than plain letters and signs"
        )
    return text


def _option(text: str) -> tuple[str, str]:
    """Read an option of sbatch that has none of its own here; for argparse."""
    key, _, value = text.partition("=")
    if not re.fullmatch(r"[a-z][a-z-]*", key) or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form KEY=VALUE")
    if key in _OWN:
        raise argparse.ArgumentTypeError(f"{key!r} has an option of its own, or is decided here")
    return key, _line(value)


_OWN = (
    *("job-name", "array", "partition", "gres", "gpus", "cpus-per-task", "mem", "time", "output"),
    *("account", "qos", "constraint"),
)


def allocation_from(args: argparse.Namespace, cpus: int) -> Allocation:
    """Return what Slurm is asked for.

    Args:
        args: The options.
        cpus: How many CPUs a task needs.
    """
    from benchbuild.engines.slurm import Allocation

    if args.gpu_type and not args.gpus:
        raise PlanError("--gpu-type says of which type GPUs are: say how many with --gpus")
    return Allocation(
        shards=args.shards,
        partition=args.partition,
        gpus=args.gpus or 0,
        gpu_type=args.gpu_type,
        cpus=cpus,
        memory=args.memory,
        minutes=args.time,
        parallel=args.parallel,
        name=args.name,
        account=args.account,
        qos=args.qos,
        constraint=args.constraint,
        others=tuple(args.sbatch),
    )


def shard_command(args: argparse.Namespace) -> tuple[Allocation, list[str], Path]:
    """Return what Slurm is asked for, the command of every task, and the folder of the run.

    The command lacks its shard. On GPUs every worker gets a CPU, and none trains on it for want of
    a GPU.

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
    needed = command.workers or (args.gpus or 1) * command.workers_per_device
    cpus = args.cpus or (needed if args.gpus else command.workers or 1)
    if command.workers is None and not args.gpus:
        words += ["--workers", str(cpus)]
    if command.device == "auto" and args.gpus:
        words += ["--device", "cuda"]
    return allocation_from(args, cpus), words, out
