"""``benchbuild evaluate``: judge condensed graphs by more models or seeds, or one's own graphs."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.commands.options import add_engine, add_shard
from benchbuild.errors import PlanError
from benchbuild.kinds.condense.options import add_evaluations, evaluations_from

if TYPE_CHECKING:
    from benchbuild.kinds.evaluate.kind import EvaluateRun

NAME = "evaluate"
HELP = "train more models, or with more seeds, on condensed graphs of a table or of one's own"
EXAMPLE = "benchbuild evaluate tables/cora --models sgc,sage,mlp --seeds 3 --out runs/cora-models"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        metavar="TABLE_OR_RUN",
        help="a table of condensed graphs, or a run that makes one",
    )
    parser.add_argument(
        "--graph",
        type=Path,
        nargs="+",
        metavar="NPZ",
        help="condensed graphs of one's own instead, with --dataset: files with x, y and adj or "
        "edges; several are seeds of one method",
    )
    parser.add_argument("--dataset", metavar="D", help="what the graphs of --graph were made of")
    parser.add_argument("--name", metavar="M", help="what made them; default own")
    parser.add_argument(
        "--ratio", type=float, metavar="R", help="ratio to list them under; default by their nodes"
    )
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help="evaluate the graphs whose rows fulfil it, as in 'ratio == 0.026'; repeatable",
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
        aside: Where the table of a run that was named instead of one is made, or that of graphs of
            one's own; None for the folder of the run itself.

    Raises:
        PlanError: If the options don't go together.
    """
    from benchbuild.kinds.evaluate.kind import evaluate_run
    from benchquery import condread

    if (args.folder is None) == (args.graph is None):
        raise PlanError("give either a table or run, or --graph with files of graphs")
    if args.graph is not None:
        return _described_own(args, aside)
    if given := [name for name in ("dataset", "name", "ratio") if getattr(args, name) is not None]:
        raise PlanError(f"--{' and --'.join(given)}: only with --graph; a table says it itself")
    table = _table(args, aside)
    return evaluate_run(table, evaluations_from(args, condread(table).domain), args.where)


def _described_own(args: argparse.Namespace, aside: Path | None) -> EvaluateRun:
    """Return the run that evaluates graphs of one's own."""
    from benchbuild.commands.running import out_folder
    from benchbuild.datasets import dataset_spec, load
    from benchbuild.kinds.condense.domains import domain_of
    from benchbuild.kinds.evaluate.kind import evaluate_run
    from benchbuild.kinds.evaluate.own import NAME as OWN
    from benchbuild.kinds.evaluate.own import Given, write_own_table
    from benchquery.kinds.condensed.domains.nodes import NODES
    from benchquery.table.writer import new_table

    if args.dataset is None or args.where:
        raise PlanError(
            "--graph goes with --dataset, which says what it was made of, and no --where"
        )
    if domain_of(args.dataset) is not NODES:
        raise PlanError(f"--graph is one graph with labelled nodes; {args.dataset!r} is a set")
    evaluations = evaluations_from(args, NODES)
    given, spec = Given(args.name or OWN, args.ratio), dataset_spec(args.dataset)
    data = load(args.dataset, args.data_root)

    def make(folder: Path) -> None:
        with new_table(folder) as stage:
            write_own_table(args.graph, given, (data, spec), stage, evaluations)

    table = _beside(aside or out_folder(args, spec.name), make)
    run = evaluate_run(table, evaluations)
    with tempfile.TemporaryDirectory() as other:
        make(Path(other) / table.name)
        if evaluate_run(Path(other) / table.name, evaluations) != run:
            raise PlanError(
                f"{table.parent} evaluates other graphs, or in another way: name another --out"
            )
    return run


def _table(args: argparse.Namespace, aside: Path | None) -> Path:
    """Return a table; a run is merged into one first, beside what is made of it."""
    from benchbuild.commands.running import out_folder
    from benchbuild.pipeline.merge import merge
    from benchbuild.pipeline.runfolder import RUN, RunFolder

    folder: Path = args.folder
    if not (folder / RUN).exists():
        return folder
    out = aside or out_folder(args, RunFolder.open(folder).run.settings.dataset)
    return _beside(out, lambda table: merge([folder], table))


def _beside(out: Path, make: Callable[[Path], object]) -> Path:
    """Return the table in the folder of a run, made if there is none.

    Shards that begin at the same time wait for the first of them to do so.
    """
    from benchbuild.kinds.evaluate.kind import SOURCE
    from benchbuild.pipeline.files import locked, make_folder

    make_folder(out / "shards")
    with locked(out / "shards" / "source.lock", wait=True):
        if not (out / SOURCE).exists():
            make(out / SOURCE)
    return out / SOURCE
