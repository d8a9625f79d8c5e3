"""``benchbuild merge``: make one table of the records of some runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

NAME = "merge"
HELP = "make one table of the records in some run folders"
EXAMPLE = "benchbuild merge runs/karate --out tables/karate"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR", help="folders of runs")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="TABLE", help="folder of the table to write"
    )
    parser.add_argument("--allow-gaps", action="store_true", help="merge even if jobs are missing")
    parser.add_argument("--replace", action="store_true", help="replace a table that is there")


def run(args: argparse.Namespace) -> int:
    """Merge, and say what came of it."""
    from benchbuild.api import merge
    from benchbuild.pipeline.signals import Stop

    with Stop().listening() as stop:
        merged = merge(
            args.folders,
            args.out,
            allow_gaps=args.allow_gaps,
            replace=args.replace,
            progress=sys.stderr.isatty(),
            stop=stop,
        )
    for warning in merged.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print(merged)
    return 0
