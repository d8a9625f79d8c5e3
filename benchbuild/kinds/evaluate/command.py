"""``benchbuild evaluate``: judge condensed graphs by more models or seeds."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchbuild.commands.options import add_engine, add_shard, engine_from
from benchbuild.kinds.condense.options import add_evaluations, evaluations_from
from benchbuild.pipeline.jobs import Run
from benchbuild.pipeline.plan import Shard

NAME = "evaluate"
HELP = "train more models, or with more seeds, on the condensed graphs of a table"
EXAMPLE = "benchbuild evaluate tables/cora --models sgc,sage,mlp --seeds 3 --out runs/cora-models"

SOURCE = "source"
"""Folder within that of the run for the table of a run that was named instead of a table."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "folder",
        type=Path,
        metavar="TABLE_OR_RUN",
        help="a table of condensed graphs, or a run that makes one",
    )
    add_evaluations(parser, models="gcn", seeds="--seeds")
    add_shard(parser)
    add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate, or say what would be evaluated."""
    from benchbuild.commands.running import describe, out_folder, run_in_folder

    shard = Shard.parse(args.shard)
    if args.dry_run:
        with tempfile.TemporaryDirectory() as aside:
            print(describe(described(args, Path(aside)), shard))
        return 0
    out = out_folder(args)
    return run_in_folder(described(args, out), shard, out, engine_from(args), args.retry_failed)


def described(args: argparse.Namespace, aside: Path | None = None) -> Run:
    """Return the run that the options describe.

    Args:
        args: The options.
        aside: Where the table of a run that was named instead of one is made; None for the
            folder that the options name.
    """
    from benchbuild.commands.running import out_folder
    from benchbuild.kinds.evaluate.kind import evaluate_run

    return evaluate_run(_table(args.folder, aside or out_folder(args)), evaluations_from(args))


def _table(folder: Path, out: Path) -> Path:
    """Return a table; a run is merged into one first, beside what is made of it."""
    from benchbuild.pipeline.merge import merge
    from benchbuild.pipeline.runfolder import RUN

    if not (folder / RUN).exists():
        return folder
    table = out / SOURCE
    if not table.exists():
        merge([folder], table)
    return table
