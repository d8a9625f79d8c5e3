"""What ``submit`` and ``slurm-script`` have in common: what Slurm is asked for, and what it runs.

Options that are not Slurm's are handed on to the command that every array task runs.
"""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.commands import runners
from benchbuild.commands.options import positive
from benchbuild.errors import PlanError
from benchbuild.pipeline.jobs import AnyRun
from benchbuild.pipeline.registry import kind_of
from benchquery.naming import suggestion

if TYPE_CHECKING:
    from benchbuild.engines.slurm import Allocation

HEADROOM = 1.2
"""How many times the predicted memory is asked for."""


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
    parser.add_argument(
        "--memory", type=positive, metavar="GB", help="memory of a task; default: as predicted"
    )
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


def allocation_from(args: argparse.Namespace, cpus: int, memory: int) -> Allocation:
    """Return what Slurm is asked for.

    Args:
        args: The options.
        cpus: How many CPUs a task needs.
        memory: How much memory it needs, in GB.
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
        memory=memory,
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
    workers = needed if args.gpus else command.workers or cpus
    memory = args.memory or predicted_memory(described, workers, on_gpus=bool(args.gpus))
    if command.workers is None and not args.gpus:
        words += ["--workers", str(cpus)]
    if command.device == "auto" and args.gpus:
        words += ["--device", "cuda"]
    return allocation_from(args, cpus, memory), words, out


def predicted_memory(run: AnyRun, workers: int, *, on_gpus: bool) -> int:
    """Return the main memory that a task needs, in GB and rounded up, as far as is predicted.

    Args:
        run: What it runs a shard of.
        workers: How many workers it has.
        on_gpus: Whether they compute on GPUs, so that only what is beside them counts.
    """
    kind = kind_of(run.kind)
    needed = 0.0
    for cost in kind.costs(run, kind.keys(run)):
        beside = cost.host_memory if on_gpus else None
        needed = max(needed, cost.memory if beside is None else beside)
    return math.ceil(HEADROOM * workers * needed / 1e9)
