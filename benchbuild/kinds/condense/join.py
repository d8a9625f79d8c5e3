"""``benchbuild join``: one table of some tables of condensed data.

The runs that `merge` takes share how their results are judged. Tables needn't: what was judged by a
paper's settings and what was judged by those of this project go into one table by joining two. And
a part of the rows can be had, without the graphs, for a table that says more of those of another.
Where graphs are left out to save room, how they came to be can stay.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchbuild.errors import MergeError
from benchquery.kinds.condensed.reading import condread

if TYPE_CHECKING:
    from benchbuild.kinds.condense.table import Kept, Row
    from benchquery.kinds.condensed.table import CondensedTable

NAME = "join"
HELP = "make one table of some tables of condensed data of one dataset"
EXAMPLE = "benchbuild join tables/nci1 tables/nci1-released --out tables/nci1-all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("tables", type=Path, nargs="+", metavar="TABLE", help="folders of tables")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="TABLE", help="folder of the table to write"
    )
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help="keep rows that fulfil it, as in 'model != gcn'; repeatable",
    )
    graphs = parser.add_mutually_exclusive_group()
    graphs.add_argument(
        "--no-graphs",
        action="store_true",
        help="leave the graphs themselves out, and how they came to be",
    )
    graphs.add_argument(
        "--graphs-where",
        action="append",
        default=[],
        metavar="CONDITION",
        help="leave out the graphs of rows that don't fulfil it, as in 'seed == 1', but not how "
        "they came to be; repeatable",
    )
    parser.add_argument("--replace", action="store_true", help="replace a table that is there")


def run(args: argparse.Namespace) -> int:
    """Join, and say what came of it."""
    graphs = None if args.no_graphs else args.graphs_where
    rows = join(args.tables, args.out, args.where, graphs=graphs, replace=args.replace)
    print(f"{args.out}: {rows:,} rows of {len(args.tables)} tables")
    return 0


def join(
    folders: Sequence[Path],
    out: Path,
    where: Sequence[str] = (),
    *,
    graphs: Sequence[str] | None = (),
    replace: bool = False,
) -> int:
    """Write one table of the rows of some. What is written is new: no table is changed.

    Args:
        folders: The tables.
        out: The folder to write.
        where: Conditions that rows must fulfil.
        graphs: Conditions that a row must fulfil for its graph to be copied, too; None if none is,
            nor how it came to be.
        replace: Whether a table that is there may be replaced, once the new one is whole.

    Returns:
        How many rows it has.

    Raises:
        MergeError: If tables are of other data than the first, or two hold one row, or condensed
            graphs of one configuration that are not the same; or if no row fulfils the conditions.
        BenchQueryError: If a table can't be read or written.
    """
    from benchbuild.kinds.condense.table import Source, write_rows
    from benchquery.table.writer import new_table

    tables = [condread(folder) for folder in folders]
    first = tables[0].manifest
    rows: dict[Any, Row] = {}
    kept: dict[str, Kept] = {}
    environments: list[Any] = []
    for folder, table in zip(folders, tables, strict=True):
        provenance = table.manifest.provenance
        if provenance["dataset"] != first.provenance["dataset"]:
            raise MergeError(
                f"the table {folder} is of other data than {folders[0]}: {table.dataset!r} there, "
                f"{tables[0].dataset!r} here, or another split or version of it"
            )
        _add(rows, kept, table.where(*where), folder)
        environments += [one for one in provenance["environments"] if one not in environments]
    if not rows:
        raise MergeError(f"no row of these tables is one where {' and '.join(where)}")
    chosen = {config for table in tables for config in table.where(*where, *(graphs or ()))}
    judges = list(dict.fromkeys(judge for table in tables for judge in _judges(table)))
    source = Source(
        dataset=first.name,
        recipe=first.provenance["recipe"],
        judge=judges[0] if len(judges) == 1 else judges,
        facts=first.provenance["dataset"],
        split=first.provenance["dataset"]["split"],
        origin=first.source["dataset"],
        licence=first.licence,
    )
    with new_table(out, replace=replace) as stage:
        write_rows(
            stage,
            rows.values(),
            kept,
            source,
            space="custom",
            environments=environments,
            left_out=None if graphs is None else kept.keys() - chosen,
        )
    return len(rows)


def _judges(table: CondensedTable) -> list[str]:
    """Return how the snapshots of a table were judged; several ways if it was joined itself."""
    judges = table.manifest.provenance["judge"]
    return [judges] if isinstance(judges, str) else list(judges)


def _add(rows: dict[Any, Row], kept: dict[str, Kept], table: CondensedTable, folder: Path) -> None:
    """Add what a table holds to what was there.

    Raises:
        MergeError: If it repeats or contradicts what was there.
    """
    from benchbuild.kinds.condense.table import kept_of, rows_of

    for row in rows_of(table):
        if row.order in rows:
            raise MergeError(
                f"the table {folder} has a row that one before it has too: the configuration "
                f"{row.config.valid_hash()} evaluated by {row.evaluation.text}"
            )
        rows[row.order] = row
    for config, one in kept_of(table).items():
        if config in kept and not _same(kept[config], one):
            raise MergeError(
                f"the table {folder} has another condensed graph than one before it for the "
                f"configuration {config}"
            )
        if config not in kept or kept[config].payload is None:
            kept[config] = one


def _same(one: Kept, other: Kept) -> bool:
    """Tell whether two condensed graphs are the same, number by number, if both are there."""
    if one.payload is None or other.payload is None:
        return True
    arrays, others = one.payload.to_arrays(), other.payload.to_arrays()
    return arrays.keys() == others.keys() and all(
        np.array_equal(arrays[name], others[name]) for name in arrays
    )
