"""``benchbuild verify``: check a table or a run from end to end."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchquery.program import one_line

NAME = "verify"
HELP = "check a table or a run: checksums, rows, and figures against curves"
EXAMPLE = "benchbuild verify tables/karate"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, metavar="TABLE_OR_RUN", help="what to check")


def run(args: argparse.Namespace) -> int:
    """Print every problem; exits with 2 if there is one."""
    from benchbuild.pipeline.verify import problems_in

    found = False
    for problem in problems_in(args.folder):
        found = True
        print(f"benchbuild: error: {one_line(problem)}", file=sys.stderr)
    if not found:
        print(f"{args.folder}: no problems found")
    return 2 if found else 0
