"""Slurm: one array task a shard, each the same command that a person would type."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbuild.errors import WorkerError

LOGS = "slurm"
"""Folder within that of the run that Slurm's own output goes to."""


@dataclass(frozen=True)
class Allocation:
    """What to ask Slurm for.

    Attributes:
        shards: How many array tasks.
        partition: The partition; None for Slurm's default.
        gpus: GPUs of a task.
        cpus: CPUs of a task.
        memory: Memory of a task in GB; None for Slurm's default.
        minutes: Time limit of a task.
        parallel: How many tasks may run at once; None for all.
        name: Name of the job.
        gpu_type: The type of the GPUs; None for any.
        account: Who pays; None for Slurm's default.
        qos: Quality of service; None for Slurm's default.
        constraint: Features that a node must have; None for any.
        others: Other options of sbatch by name.
    """

    shards: int
    partition: str | None = None
    gpus: int = 0
    cpus: int = 1
    memory: int | None = None
    minutes: int = 24 * 60
    parallel: int | None = None
    name: str = "benchbuild"
    gpu_type: str | None = None
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    others: tuple[tuple[str, str], ...] = ()

    @property
    def gres(self) -> str | None:
        """The GPUs as Slurm calls them; None if there are none."""
        kind = f":{self.gpu_type}" if self.gpu_type else ""
        return f"gpu{kind}:{self.gpus}" if self.gpus else None


def array_script(allocation: Allocation, command: Sequence[str]) -> str:
    """Return an sbatch script that runs every shard as a task of one array, in this folder.

    Tasks use the Python that this process runs in, whatever is on the path of the nodes.

    Args:
        allocation: What to ask for.
        command: The arguments of ``benchbuild`` without the shard.
    """
    limit = f"%{allocation.parallel}" if allocation.parallel else ""
    options = {
        "job-name": allocation.name,
        "array": f"1-{allocation.shards}{limit}",
        "partition": allocation.partition,
        "account": allocation.account,
        "qos": allocation.qos,
        "constraint": allocation.constraint,
        "gres": allocation.gres,
        "cpus-per-task": allocation.cpus,
        "mem": f"{allocation.memory}G" if allocation.memory else None,
        "time": allocation.minutes,
        "output": "%x-%A_%a.log",
        **dict(allocation.others),
    }
    lines = [f"#SBATCH --{name}={value}" for name, value in options.items() if value is not None]
    enter = f"cd {shlex.quote(str(Path.cwd()))} || exit"
    shard = f'--shard "$SLURM_ARRAY_TASK_ID/{allocation.shards}"'
    run = f"exec {shlex.join([sys.executable, '-m', 'benchbuild', *command])} {shard}"
    return "\n".join(["#!/bin/bash", *lines, "", enter, run, ""])


Main = Callable[[Sequence[str]], int]
"""Runs ``benchbuild`` with some arguments; gives its exit code."""


class ShardTask:
    """What an array task runs, in the folder that it was made in.

    Cut off by its time limit, it asks to be put into the queue again.

    Args:
        main: Runs ``benchbuild``; a function of a module, since tasks are pickled.
        arguments: The arguments of ``benchbuild`` for its shard.
    """

    def __init__(self, main: Main, arguments: Sequence[str]) -> None:
        self._main = main
        self._arguments = list(arguments)
        self._folder = Path.cwd()

    def __call__(self) -> int:
        """Run the shard.

        Raises:
            WorkerError: If it did not end well, so that Slurm shows it as failed.
        """
        os.chdir(self._folder)
        code = self._main(self._arguments)
        if code:
            raise WorkerError(f"benchbuild {shlex.join(self._arguments)} ended with {code}")
        return code

    def checkpoint(self) -> Any:
        """Resume where it was cut off; what was finished by then is in the parts."""
        return importlib.import_module("submitit").helpers.DelayedSubmission(self)


def submit(allocation: Allocation, main: Main, command: Sequence[str], logs: Path) -> list[Any]:
    """Submit every shard as a task of one array through submitit.

    Args:
        allocation: What to ask for.
        main: Runs ``benchbuild``; see `ShardTask`.
        command: The arguments of ``benchbuild`` without the shard.
        logs: Folder of the output of Slurm and submitit.

    Returns:
        The submitted jobs, by shard.

    Raises:
        WorkerError: If submitit is not installed, or Slurm is not here.
    """
    try:
        submitit = importlib.import_module("submitit")
    except ImportError as error:
        raise WorkerError(
            "submitting to Slurm needs the package 'submitit': pip install 'graphtab[slurm]'"
        ) from error
    options = {
        "slurm_job_name": allocation.name,
        "slurm_partition": allocation.partition,
        "slurm_array_parallelism": allocation.parallel or allocation.shards,
        "slurm_account": allocation.account,
        "slurm_qos": allocation.qos,
        "slurm_constraint": allocation.constraint,
        "slurm_gres": allocation.gres,
        "slurm_additional_parameters": dict(allocation.others) or None,
        "cpus_per_task": allocation.cpus,
        "mem_gb": allocation.memory,
        "timeout_min": allocation.minutes,
    }
    tasks = [
        ShardTask(main, [*command, "--shard", f"{index}/{allocation.shards}"])
        for index in range(1, allocation.shards + 1)
    ]
    try:
        executor = submitit.AutoExecutor(folder=logs, cluster="slurm")
        executor.update_parameters(**{k: v for k, v in options.items() if v is not None})
        return list(executor.submit_array(tasks))
    except (RuntimeError, OSError) as error:
        raise WorkerError(f"can't submit to Slurm: {str(error).splitlines()[0]}") from error
