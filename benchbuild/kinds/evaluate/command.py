"""``benchbuild evaluate``: judge condensed graphs by more models or seeds."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.commands.options import add_engine, add_shard
from benchbuild.kinds.condense.options import add_evaluations, evaluations_from

if TYPE_CHECKING:
    from benchbuild.kinds.evaluate.kind import EvaluateRun

NAME = "evaluate"
HELP = "train more models, or with more seeds, on the condensed graphs of a table"
EXAMPLE = "benchbuild evaluate tables/cora --models sgc,sage,mlp --seeds 3 --out runs/cora-models"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "folder",
        type=Path,
        metavar="TABLE_OR_RUN",
        help="a table of condensed graphs, or a run that makes one",
    )
    add_evaluations(parser, seeds="--seeds")
    add_shard(parser)
    add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate, or say what would be evaluated."""
    from benchbuild.commands.running import run_or_describe

    if args.dry_run:
        with tempfile.TemporaryDirectory() as aside:
            return run_or_describe(args, described(args, Path(aside)))
    return run_or_describe(args, described(args))


def described(args: argparse.Namespace, aside: Path | None = None) -> EvaluateRun:
    """Return the run that the options describe.

    Args:
        args: The options.
        aside: Where the table of a run that was named instead of one is made; None for the
            folder of the run itself.
    """
    from benchbuild.kinds.evaluate.kind import evaluate_run
    from benchquery import condread

    table = _table(args, aside)
    return evaluate_run(table, evaluations_from(args, condread(table).domain))


def _table(args: argparse.Namespace, aside: Path | None) -> Path:
    """Return a table; a run is merged into one first, beside what is made of it.

    Shards that begin at the same time wait for the first of them to do so.
    """
    from benchbuild.commands.running import out_folder
    from benchbuild.kinds.evaluate.kind import SOURCE
    from benchbuild.pipeline.files import locked, make_folder
    from benchbuild.pipeline.merge import merge
    from benchbuild.pipeline.runfolder import RUN, RunFolder

    folder: Path = args.folder
    if not (folder / RUN).exists():
        return folder
    out = aside or out_folder(args, RunFolder.open(folder).run.settings.dataset)
    make_folder(out / "shards")
    with locked(out / "shards" / "source.lock", wait=True):
        if not (out / SOURCE).exists():
            merge([folder], out / SOURCE)
    return out / SOURCE
