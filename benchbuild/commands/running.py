"""What the commands that run jobs have in common: run a shard in a folder and say how it went."""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.commands import runners
from benchbuild.commands.options import engine_from
from benchbuild.pipeline.cards import how_many_fit
from benchbuild.pipeline.jobs import AnyRun
from benchbuild.pipeline.plan import Shard, positions_of, units_of
from benchbuild.pipeline.records import STATUSES
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchquery.units import readable_bytes, readable_seconds

if TYPE_CHECKING:
    from benchbuild.pipeline.runner import ShardReport

RUNS = Path("runs")
"""Where runs go that are given no folder."""
ALL_FAILED = 1
"""The exit code of a run all of whose jobs failed."""


def out_folder(args: argparse.Namespace, subject: str) -> Path:
    """Return the folder of the run: the one that was named, or one called after the dataset.

    Runs of the first command are in ``runs/<dataset>``; those of others have the command in their
    name, as in ``runs/cora-condense``.

    Args:
        args: The options of `benchbuild.commands.options.add_shard`.
        subject: What the run is about: its dataset.
    """
    if args.out is not None:
        return Path(args.out)
    name = re.sub(r"[^\w.=,-]+", "-", subject)
    return RUNS / (name if args.command == next(iter(runners())) else f"{name}-{args.command}")


def describe(run: AnyRun, shard: Shard, per_device: int = 1, batch: int = 1) -> str:
    """Say what a shard has to run and what that is predicted to take.

    Args:
        run: The run.
        shard: The shard.
        per_device: How many workers shall share a GPU.
        batch: How many jobs may be run as one computation.
    """
    kind = kind_of(run.kind)
    keys = kind.keys(run)
    costs = kind.costs(run, keys)
    positions = positions_of(shard, costs, units_of(run, keys))
    chosen = [costs[position] for position in positions]
    groups = kind.together([keys[position] for position in positions], batch)
    joined = f", in {len(groups):,} batches" if batch > 1 else ""
    seconds = sum(cost.seconds for cost in chosen)
    longest = max((cost.seconds for cost in chosen), default=0.0)
    memory = max((cost.memory for cost in chosen), default=0.0)
    text = (
        f"{run.settings.dataset}: {len(keys):,} jobs in all, "
        f"{len(chosen):,} in shard {shard}{joined}\n"
        f"predicted time: {readable_seconds(seconds)} on one core, "
        f"{readable_seconds(longest)} for the longest job\n"
        f"predicted memory: up to {readable_bytes(memory)} a worker"
    )
    if not (fitting := how_many_fit(chosen, per_device)):
        return text
    tensors, host = (
        readable_bytes(max(getattr(cost, name) for cost in chosen))
        for name in ("gpu_memory", "host_memory")
    )
    return f"{text} on a CPU; on a GPU {tensors} there and {host} beside it\n{fitting}"


def run_or_describe(args: argparse.Namespace, run: AnyRun, *, quiet: bool = False) -> int:
    """Run the shard that the options name; with ``--dry-run`` only say what that would take.

    Args:
        args: The options of `benchbuild.commands.options.add_shard` and `add_engine`.
        run: What is run.
        quiet: Whether to print nothing on standard output.

    Returns:
        The exit code: 0, 1 if no job of the shard has a result, or 128 plus the number of the
        signal that ended it early.
    """
    shard = Shard.parse(args.shard)
    batch, out = getattr(args, "batch", 1), out_folder(args, run.settings.dataset)
    if args.dry_run:
        asked = dataclasses.replace(run, joined=batch > 1)
        print(describe(RunFolder.dealing(out, asked), shard, args.workers_per_device, batch))
        return 0
    from benchbuild import api
    from benchbuild.pipeline.signals import Stop

    if args.out is None:
        print(f"results go to {out}; --out names another folder", file=sys.stderr)
    engine = engine_from(args, out)
    with Stop().listening() as stop:
        report = api.run(
            run,
            out,
            shard=shard,
            engine=engine,
            retry_failed=args.retry_failed,
            batch=batch,
            progress=True,
            stop=stop,
        )
    for warning in report.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    stream = sys.stderr if report.stopped or quiet else sys.stdout
    print(_summary(report, shard, out), file=stream)
    if report.stopped:
        return 128 + report.stopped
    return ALL_FAILED if report.all_failed else 0


def _summary(report: ShardReport, shard: Shard, out: Path) -> str:
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
    if report.all_failed:
        text += "; every job failed"
    return text
