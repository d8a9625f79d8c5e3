"""``benchbuild status``: how far a run is."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbuild.pipeline.status import Status

NAME = "status"
HELP = "say how far a run is: done, failed, missing, rate"
EXAMPLE = "benchbuild status runs/karate"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of the run")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the state."""
    from benchbuild.pipeline.runfolder import RunFolder
    from benchbuild.pipeline.status import status_of

    status = status_of(RunFolder.open(args.folder))
    print(json.dumps(dataclasses.asdict(status), indent=1) if args.json else _text(status))
    return 0


def _text(status: Status) -> str:
    ends = ", ".join(f"{count:,} {name}" for name, count in status.ends.items() if count)
    rate = f"{status.rate:,.1f} jobs an hour" if status.rate else "unknown"
    lines = [
        f"jobs     {status.jobs:,}",
        f"done     {status.done:,}" + (f" ({ends})" if ends else ""),
        f"failed   {status.failed:,}",
        f"missing  {status.missing:,}",
        f"rate     {rate}",
    ]
    lines += [f"shard    {s.shard}: {s.done:,} of {s.jobs:,} jobs done" for s in status.shards]
    lines += [f"damaged  {problem}" for problem in status.damaged]
    return "\n".join(lines)
