"""``benchbuild darts``: search by a supernet, and compare what it weighs with the best."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbuild.commands.options import add_dataset, add_engine, add_shard, parse_seeds
from benchbuild.pipeline.records import OK

if TYPE_CHECKING:
    from benchbuild.kinds.darts.kind import DartsRun
    from benchbuild.kinds.darts.records import DartsRecord
    from benchbuild.pipeline.runfolder import RunFolder
    from benchquery.kinds.architectures.table import ArchTable
    from benchquery.kinds.weights.analysis import WeightComparison
    from benchquery.kinds.weights.mixtures import OperationWeights

NAME = "darts"
HELP = "search by DARTS: a supernet a link list, weights and architecture in turn"
EXAMPLE = "benchbuild darts --dataset karate --seeds 1 --epochs 20 --out runs/darts-karate"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_dataset(parser)
    parser.add_argument(
        "--links", metavar="L,L", help="link lists, as in 0012,0123; default: all nine"
    )
    parser.add_argument(
        "--seeds", default="1", metavar="SEEDS", help="seeds of each link list; default 1"
    )
    parser.add_argument(
        "--arch-lr",
        type=float,
        metavar="LR",
        help="learning rate of the architecture parameters; default 0.02",
    )
    parser.add_argument(
        "--arch-weight-decay",
        type=float,
        metavar="WD",
        help="weight decay of the architecture parameters; default 0.001",
    )
    add_shard(parser)
    add_engine(parser)
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw the comparison: .png, .svg, .pdf or .html"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace) -> int:
    """Search, then print the weights and compare them with a table of the dataset."""
    from benchbuild.commands.running import out_folder, run_or_describe
    from benchquery.figures.page import check_picture
    from benchquery.kinds.architectures.reading import lightread

    search = described(args)
    if args.plot:
        check_picture(args.plot)
        lightread(search.settings.dataset)
    code = run_or_describe(args, search, quiet=args.json)
    if code == 0 and not args.dry_run:
        report(out_folder(args, search.settings.dataset), as_json=args.json, picture=args.plot)
    return code


def described(args: argparse.Namespace) -> DartsRun:
    """Return the run that the options describe."""
    from benchbuild.kinds.darts.kind import darts_run, search_hyperparameters
    from benchbuild.kinds.darts.records import LINK_NAMES

    epochs = [f"epochs={args.epochs}"] if args.epochs else []
    rates = {"arch_lr": args.arch_lr, "arch_weight_decay": args.arch_weight_decay}
    return darts_run(
        args.dataset,
        links=args.links.split(",") if args.links else tuple(LINK_NAMES),
        seeds=parse_seeds(args.seeds),
        hp=search_hyperparameters(args.dataset).override_from([*args.hp, *epochs]),
        **{name: rate for name, rate in rates.items() if rate is not None},
    )


def report(out: Path, *, as_json: bool = False, picture: Path | None = None) -> None:
    """Print what the searches in a folder weigh, beside what the best architectures use.

    Args:
        out: The folder of the run.
        as_json: Whether to print JSON.
        picture: Where to draw the comparison, if there is a table to compare with.

    Raises:
        QueryError: If no search has ended well.
    """
    from benchbuild.pipeline.runfolder import RunFolder
    from benchquery.kinds.weights.analysis import compare_weights, weight_rows

    folder = RunFolder.open(out)
    records = _finished(folder)
    weights = _weights(folder, records)
    table = _table_of(weights.dataset)
    found = compare_weights(weights, table) if table is not None else None
    if picture and found is not None:
        _draw(found, picture)
    rows = weight_rows(weights) if found is None else found.rows()
    searches = [_search_row(record, table) for record in records]
    print((_json if as_json else _text)(weights.dataset, rows, searches, found))


def _finished(folder: RunFolder) -> list[DartsRecord]:
    """Return the records of a run that ended well, each job once, in the order of their keys."""
    records = {
        (record.link, record.seed): record
        for record in folder.parts.records()
        if record.status == OK
    }
    return [records[key] for key in sorted(records)]


def _weights(folder: RunFolder, records: list[DartsRecord]) -> OperationWeights:
    """Gather the final weights of some searches."""
    import numpy as np

    from benchquery.kinds.architectures.arch import NODES
    from benchquery.kinds.weights.mixtures import OperationWeights

    settings = folder.run.settings
    ops = settings.ops
    values = np.array([record.final_weights(ops) for record in records], dtype=np.float64)
    return OperationWeights(
        settings.dataset,
        ops,
        tuple((record.link, record.seed) for record in records),
        values.reshape(-1, NODES, len(ops)),
    )


def _table_of(dataset: str) -> ArchTable | None:
    """Return the table of a dataset, if there is one."""
    from benchquery.errors import TableNotFoundError
    from benchquery.kinds.architectures.reading import lightread

    try:
        return lightread(dataset)
    except TableNotFoundError:
        return None


def _search_row(record: DartsRecord, table: ArchTable | None) -> dict[str, Any]:
    """Say what a search derived, and how good a table says that is."""
    derived = record.derived
    row = {name: getattr(record, name) for name in ("link", "seed", "valid_perf", "derived")}
    if table is None:
        return row
    known = derived in table
    return row | {
        "perf": table[derived]["perf"] if known else None,
        "rank": table.rank(derived, by="perf") if known else None,
    }


def _draw(comparison: WeightComparison, picture: Path) -> None:
    from benchquery.figures import save
    from benchquery.kinds.weights.figures import weights

    save(weights(comparison), picture)


def _text(
    dataset: str,
    rows: list[dict[str, Any]],
    searches: list[dict[str, Any]],
    found: WeightComparison | None,
) -> str:
    from benchquery.text import format_table

    lines = [
        f"{dataset}: mean weight of each operation over {len(searches)} searches",
        format_table(rows),
        "what they derive",
        format_table(searches, plain=("derived",)),
    ]
    if found is None:
        lines.append(f"there is no table of {dataset!r} to compare with")
    else:
        largest, frequent = (max(d, key=d.__getitem__) for d in (found.weights, found.top))
        lines.append(
            f"largest weight: {largest}; most frequent in the top {found.share:.0%} by "
            f"{found.by}: {frequent}"
        )
        lines.append(
            f"Pearson {found.pearson:.3f} [{_ends(found.pearson_interval)}], "
            f"Spearman {found.spearman:.3f} [{_ends(found.spearman_interval)}]"
        )
    return "\n".join(lines)


def _ends(interval: tuple[float, float]) -> str:
    """Return the ends of an interval for people."""
    return ", ".join(f"{end:.2f}" for end in interval)


def _json(
    dataset: str,
    rows: list[dict[str, Any]],
    searches: list[dict[str, Any]],
    found: WeightComparison | None,
) -> str:
    body: dict[str, Any] = {"dataset": dataset, "operations": rows, "searches": searches}
    if found is not None:
        body |= {
            "pearson": found.pearson,
            "pearson_interval": found.pearson_interval,
            "spearman": found.spearman,
            "spearman_interval": found.spearman_interval,
        }
    return json.dumps(body, indent=1)
