"""What the commands that run jobs have in common: run a shard in a folder and say how it went."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.commands.options import engine_from
from benchbuild.errors import PlanError
from benchbuild.kinds import kind_of
from benchbuild.pipeline.jobs import STATUSES, Run
from benchbuild.pipeline.plan import Shard, positions_of
from benchbuild.pipeline.units import readable_bytes, readable_seconds

if TYPE_CHECKING:
    from benchbuild.engines.base import Engine
    from benchbuild.pipeline.runner import Report


def out_folder(args: argparse.Namespace) -> Path:
    """Return the folder of the run.

    Raises:
        PlanError: If none was named.
    """
    if args.out is None:
        raise PlanError("--out DIR is missing: the folder that the results go to")
    return Path(args.out)


def describe(run: Run, shard: Shard) -> str:
    """Say what a shard has to run and what that is predicted to take."""
    kind = kind_of(run.kind)
    keys = kind.keys(run)
    costs = kind.costs(run, keys)
    chosen = [costs[position] for position in positions_of(shard, costs)]
    seconds = sum(cost.seconds for cost in chosen)
    longest = max((cost.seconds for cost in chosen), default=0.0)
    memory = max((cost.memory for cost in chosen), default=0.0)
    return (
        f"{run.settings['dataset']}: {len(keys):,} jobs in all, {len(chosen):,} in shard {shard}\n"
        f"predicted time: {readable_seconds(seconds)} on one core, "
        f"{readable_seconds(longest)} for the longest job\n"
        f"predicted memory: up to {readable_bytes(memory)} a worker"
    )


def run_or_describe(args: argparse.Namespace, run: Run, *, quiet: bool = False) -> int:
    """Run the shard that the options name; with ``--dry-run`` only say what that would take.

    Args:
        args: The options of `benchbuild.commands.options.add_shard` and `add_engine`.
        run: What is run.
        quiet: Whether to print nothing on standard output.

    Returns:
        The exit code.
    """
    shard = Shard.parse(args.shard)
    if args.dry_run:
        print(describe(run, shard))
        return 0
    out = out_folder(args)
    return run_in_folder(run, shard, out, engine_from(args), args.retry_failed, quiet=quiet)


def run_in_folder(
    run: Run,
    shard: Shard,
    out: Path,
    engine: Engine,
    retry_failed: bool = False,
    *,
    quiet: bool = False,
) -> int:
    """Begin or resume a run in a folder.

    Args:
        run: What is run; its facts are found here.
        shard: Which of its jobs.
        out: The folder.
        engine: Where they run.
        retry_failed: Whether to run those again that ended for reasons of the machine.
        quiet: Whether to print nothing on standard output.

    Returns:
        The exit code: 0, or 128 plus the number of the signal that ended it early.
    """
    from benchbuild.pipeline.runfolder import RunFolder
    from benchbuild.pipeline.runner import run_shard
    from benchbuild.pipeline.signals import Stop

    RunFolder.check(out, run)
    stop = Stop()
    with stop.listening():
        try:
            with stop.at_once():
                found = engine.start(run)
            run = dataclasses.replace(run, facts=found.facts, about=found.about)
            folder = RunFolder.begin(out, run)
            report = run_shard(folder, shard, engine, stop, retry_failed=retry_failed)
        finally:
            engine.close()
    for warning in report.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    stream = sys.stderr if report.stopped or quiet else sys.stdout
    print(_summary(report, shard, out), file=stream)
    return 128 + report.stopped if report.stopped else 0


def _summary(report: Report, shard: Shard, out: Path) -> str:
    """Say how running a shard ended."""
    counts = [f"{report.ends[status]:,} {status}" for status in STATUSES if report.ends[status]]
    text = (
        f"shard {shard} in {out}: {report.total:,} jobs, {report.before:,} finished before, "
        f"now {', '.join(counts) or 'none'}"
    )
    if report.stopped:
        text = f"stopped by {report.stopped.name}; {text}"
    if report.missing:
        text += f"; {report.missing:,} still missing: run the same command again to go on"
    return text
