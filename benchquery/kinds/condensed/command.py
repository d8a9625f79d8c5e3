"""``benchquery condensed``: condensed graphs shown, ranked, and beside the paper's figures."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from math import isnan, nan
from typing import Any

from benchquery.commands.options import add_command, add_where, print_rows
from benchquery.commands.show import add_show, run_show
from benchquery.commands.top import add_top, run_top
from benchquery.errors import QueryError, TableNotFoundError
from benchquery.kinds.condensed.config import PROTOCOLS, changed_values
from benchquery.kinds.condensed.domains.images import IMAGES
from benchquery.kinds.condensed.published import (
    GRAPHS_PAPER,
    IMAGES_PAPER,
    SOURCE,
    SOURCES,
    WHOLE,
    Published,
    accuracies,
    augmentation_of,
    mean_accuracy,
    whole_accuracy,
)
from benchquery.kinds.condensed.reading import condread
from benchquery.kinds.condensed.show import listed
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.record import Record

_KIND = "condensed"
_EXAMPLE = "'ratio < 0.03' or 'method == gcond'"
_SETTINGS = ("init", "backbone", "task", "model")


def add(commands: Any) -> None:
    """Add the commands."""
    what = "show, rank and compare condensed graphs"
    group = commands.add_parser(
        "condensed",
        help=what,
        description=f"{what.capitalize()}.",
        epilog="example: benchquery condensed top cora -k 5",
    )
    actions = group.add_subparsers(required=True, metavar="ACTION")

    show = add_command(
        actions,
        "show",
        partial(run_show, kind=_KIND),
        "show one configuration and all its evaluations; options name it by its columns",
        "condensed show cora --method gcond --ratio 0.026 --seed 0",
    )
    add_show(show)
    top = add_command(
        actions,
        "top",
        partial(run_top, kind=_KIND),
        "list the best condensed graphs",
        "condensed top cora -k 5",
    )
    add_top(top)
    compare = add_command(
        actions,
        "compare",
        _compare,
        f"compare with the figures of the paper ({SOURCE})",
        "condensed compare cora --where 'ratio == 0.026'",
    )
    compare.add_argument("table", metavar="dataset", help="the dataset, or name of a table")
    compare.add_argument(
        "--protocol",
        choices=PROTOCOLS,
        default=PROTOCOLS[0],
        help=f"as-released has settings and faults of the published code ({PROTOCOLS[0]})",
    )
    add_where(compare, _EXAMPLE)
    board = add_command(
        actions,
        "leaderboard",
        _leaderboard,
        "rank methods at one size by validation, published figures beside measured ones",
        "condensed leaderboard cora --ratio 0.026",
    )
    board.add_argument("table", metavar="dataset", help="the dataset: all its tables count")
    board.add_argument("--ratio", type=float, metavar="R", help="the size, for one graph")
    board.add_argument("--per-class", type=int, metavar="N", help="the size, for a set")
    board.add_argument("--model", metavar="M", help="the model that judged; default the usual one")
    for what, name, example in (("table", "B5", "b5 --dataset cora"), ("figure", "3a", "3a")):
        cells = add_command(
            actions,
            what,
            partial(_cells, what=what),
            f"put a {what} of GC-Bench together from the rows there are, and say which are missing",
            f"condensed {what} {example}",
        )
        cells.add_argument("name", help=f"the {what}, as in {name}")
        cells.set_defaults(dataset=None)
        if what == "table":
            cells.add_argument("--dataset", metavar="D", help="only what it says of this one")
    soon = add_command(
        actions,
        "reach",
        _reach,
        "say how soon methods that learn reach an accuracy of validation nodes",
        "condensed reach cora --where 'ratio == 0.026' --accuracy 0.78",
    )
    soon.add_argument("table", metavar="dataset", help="the dataset, or name of a table")
    soon.add_argument(
        "--accuracy",
        type=float,
        metavar="A",
        help="from 0 to 1; default: the greatest that all of them reach",
    )
    add_where(soon, _EXAMPLE)
    edges = add_command(
        actions,
        "structure",
        _structure,
        "say of each graph how dense and how homophilous it is, and what chance and the paper say",
        "condensed structure cora --where 'method == sgdd'",
    )
    edges.add_argument("table", metavar="dataset", help="the dataset, or name of a table")
    add_where(edges, _EXAMPLE)
    book = add_command(
        actions,
        "ledger",
        _ledger,
        "list what the paper prints, what its released code gives, and what is right",
        "condensed ledger nci1 --where 'model == gin'",
    )
    book.add_argument("table", metavar="dataset", help="the dataset, or name of a table")
    add_where(book, _EXAMPLE)


def _compare(args: argparse.Namespace) -> None:
    from benchquery.kinds.condensed.analysis import in_order

    try:
        opened = condread(args.table, args.source)
    except TableNotFoundError:
        if args.source is not None or args.where or not (printed := accuracies(args.table)):
            raise
        _show_printed(printed, as_json=args.json)
        return
    table = opened.where(*args.where, protocol=args.protocol)
    means = table.mean(over="seed")
    methods = in_order({mean["method"] for mean in means})
    means.sort(key=lambda mean: (methods.index(mean["method"]), mean[table.size]))
    rows = [*_whole_rows(table), *(_compared(table, mean) for mean in means)]
    if args.json:
        print_rows(rows, as_json=True)
        return
    one_task = len({row["task"] for row in rows}) == 1
    print_rows([_for_people(row, with_task=not one_task) for row in rows], as_json=False)
    print(f"\npercent; paper: {SOURCES[_paper(table)]}")


def _show_printed(figures: Sequence[Published], *, as_json: bool) -> None:
    """Show what is printed of a dataset of which there is no table here."""
    names = ("method", "ratio", "per_class", "model", "augmentation")
    said = [name for name in names if any(getattr(one, name) is not None for one in figures)]
    rows: list[dict[str, Any]] = []
    for one in figures:
        row = {name: getattr(one, name) for name in said}
        paper, std = (nan if value is None else value for value in (one.percent, one.percent_std))
        if as_json:
            row |= {"unit": "percent", "paper": paper, "paper_std": std, "source": one.source}
        else:
            row = {name: "-" if value is None else str(value) for name, value in row.items()}
            row |= {"paper": _plus_minus(paper, std), "table": one.table.upper()}
        rows.append(row)
    print_rows(rows, as_json=as_json)
    if not as_json:
        dataset, source = figures[0].dataset, SOURCES[figures[0].paper]
        print(
            f"\npercent; there is no table of {dataset!r} here: this is what is printed in {source}"
        )


def _ledger(args: argparse.Namespace) -> None:
    from benchquery.kinds.condensed.faults import FAULTS
    from benchquery.kinds.condensed.ledger import ledger

    table = condread(args.table, args.source).where(*args.where)
    entries = ledger(table)
    if args.json:
        print_rows([asdict(entry) for entry in entries], as_json=True)
        return
    some_failed = any(entry.failed for entry in entries)
    rows = [
        {
            "method": entry.method,
            table.size: str(entry.size),
            "model": entry.model,
            "printed": _plus_minus(entry.printed, nan),
            "as released": _plus_minus(entry.released, nan),
            "corrected": _plus_minus(entry.corrected, nan),
            **({"failed": str(entry.failed)} if some_failed else {}),
            "faults": " ".join(entry.faults),
            "released with": "-"
            if isnan(entry.released)
            else listed(dict(entry.settings)) or "default",
        }
        for entry in entries
    ]
    print_rows(rows, as_json=False)
    print(f"\npercent; printed: {SOURCES[_paper(table)]}")
    for number, what in FAULTS.items():
        if any(number in entry.faults for entry in entries):
            print(f"{number}: {what}")


def _leaderboard(args: argparse.Namespace) -> None:
    from benchquery.kinds.condensed.leaderboard import leaderboard, protocol_of, tables_of

    found = tables_of(args.table, args.source)
    sizes = {"ratio": args.ratio, "per_class": args.per_class}
    other = next(name for name in sizes if name != found[0].size)
    if sizes[found[0].size] is None or sizes[other] is not None:
        option = found[0].size.replace("_", "-")
        raise QueryError(f"the size of what is condensed of {args.table!r} is said by --{option}")
    board = leaderboard(found, sizes[found[0].size], args.model)
    if args.json:
        shared = {name: getattr(board, name) for name in ("dataset", "model", "evaluation")}
        shared[found[0].size] = board.size
        print_rows([{**shared, **asdict(one)} for one in board.standings], as_json=True)
        return
    rows = [
        {
            "rank": "-" if one.rank is None else str(one.rank),
            "method": one.method,
            "valid": _plus_minus(one.valid, one.valid_std),
            "test": _plus_minus(one.test, one.test_std),
            "seeds": f"{one.seeds} ({one.failed} failed)" if one.failed else str(one.seeds or "-"),
            "paper": _plus_minus(one.paper, one.paper_std),
            "origin": one.origin,
            "protocol": one.protocol or "-",
            "settings": listed(one.settings) or "default",
            "table": " ".join(one.tables) or "-",
        }
        for one in board.standings
    ]
    print_rows(rows, as_json=False)
    print(f"\npercent, ranked by validation; judged: {protocol_of(board)}")
    print(f"paper: {SOURCES[_paper(found[0])]}")


def _reach(args: argparse.Namespace) -> None:
    from benchquery.kinds.condensed.reaching import reaching

    if args.accuracy is not None and not 0 <= args.accuracy <= 1:
        raise QueryError(f"--accuracy is {args.accuracy}; allowed are numbers from 0 to 1")
    table = condread(args.table, args.source).where(*args.where)
    found = reaching(table, args.accuracy)
    if args.json:
        print_rows([asdict(one) for one in found], as_json=True)
        return
    rows = [
        {
            "method": one.method,
            table.size: f"{one.size:g}",
            "init": one.init,
            "backbone": one.backbone,
            "protocol": one.protocol,
            "reached": f"{one.reached} of {one.seeds}",
            "seconds": "-" if isnan(one.seconds) else f"{one.seconds:.1f}",
            "epochs": "-" if isnan(one.epochs) else f"{one.epochs:.0f}",
            "best": f"{100 * one.best:.1f}",
            "settings": listed(one.settings) or "default",
        }
        for one in found
    ]
    print_rows(rows, as_json=False)
    print(f"\nuntil {100 * found[0].accuracy:.1f}% of the validation nodes, judging excluded")


def _structure(args: argparse.Namespace) -> None:
    from benchquery.kinds.condensed.structure import structures

    rows = structures(condread(args.table, args.source).where(*args.where))
    if not args.json:
        hidden = ("config", "init", "backbone", "weighted_degree")
        rows = [{name: row[name] for name in row if name not in hidden} for row in rows]
    print_rows(rows, as_json=args.json)


def _cells(args: argparse.Namespace, what: str) -> None:
    from benchquery.kinds.condensed.reproduction import (
        figure_cells,
        layout,
        missing_parts,
        table_cells,
    )

    if what == "table":
        cells = table_cells(args.name, args.source, args.dataset)
    else:
        cells = figure_cells(args.name, args.source)
    if args.json:
        print_rows([{**asdict(cell), "missing": cell.missing} for cell in cells], as_json=True)
        return
    down, across = layout(cells)
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for cell in cells:
        place = tuple(_shown(getattr(cell, name)) for name in down)
        digits = 1 if cell.unit != "fraction" else 2
        ours, paper = (
            "-" if isnan(one) else f"{one:.{digits}f}" for one in (cell.ours, cell.paper)
        )
        row = rows.setdefault(place, dict(zip(down, place, strict=True)))
        row[_shown(getattr(cell, across))] = f"{ours} | {paper}" if not isnan(cell.paper) else ours
    columns = dict.fromkeys(name for row in rows.values() for name in row)
    print_rows([{name: row.get(name, "") for name in columns} for row in rows.values()],
               as_json=False)  # fmt: skip
    units = " and ".join(dict.fromkeys(cell.unit for cell in cells))
    beside = "ours | printed" if any(not isnan(cell.paper) for cell in cells) else "ours"
    found = sum(not cell.missing for cell in cells)
    print(f"\n{beside}, {units}; {found} of {len(cells)} measured; paper: {SOURCE}")
    for line in missing_parts(cells):
        print(f"missing: {line}")


def _shown(value: object) -> str:
    """Return what tells a cell apart, for people."""
    if isinstance(value, float):
        return "whole" if isnan(value) else f"{value:g}"
    return (listed(value) or "default") if isinstance(value, Mapping) else str(value)


def _paper(table: CondensedTable) -> str:
    return IMAGES_PAPER if table.domain is IMAGES else GRAPHS_PAPER


def _whole_rows(table: CondensedTable) -> Iterator[dict[str, Any]]:
    """Compare the models that were trained on the whole graph; their seeds are the evaluation's."""
    seen = set()
    for record in table.records():
        if record["evaluation"] not in seen and not isnan(record["full_perf"]):
            seen.add(record["evaluation"])
            size: Any = 1.0 if table.size == "ratio" else WHOLE
            ours = {"method": WHOLE, table.size: size, "init": "none", "backbone": "none"}
            ours |= {name: record[name] for name in ("task", "model", "protocol")}
            ours |= {"count": record["eval_seeds"], "failed": 0, "hyperparameters": {}}
            ours |= {"evaluation": changed_values(record["evaluation_text"])}
            augmentation = augmentation_of(record["evaluation_text"])
            figure = whole_accuracy(table.dataset, record["model"], record["task"], augmentation)
            yield _beside(ours, record["full_perf"], record["full_perf_std"], figure)


def _compared(table: CondensedTable, mean: Record) -> dict[str, Any]:
    """Compare the mean over condensation seeds; what a method began with is in no paper.

    Where all seeds chose the same nodes there is no spread to tell.
    """
    from benchquery.kinds.condensed.analysis import is_one_graph

    names = ("method", table.size, *_SETTINGS, "protocol", "count", "failed")
    ours = {name: mean[name] for name in (*names, "hyperparameters")}
    ours["evaluation"] = changed_values(mean["evaluation_text"])
    begun = mean["hyperparameters"].get("epochs") == 0
    figure = None if begun else mean_accuracy(mean)
    ours["one_graph"] = is_one_graph(table, mean)
    return _beside(ours, mean["perf"], nan if ours["one_graph"] else mean["perf_std"], figure)


def _beside(
    ours: Mapping[str, Any], perf: float, std: float, figure: Published | None
) -> dict[str, Any]:
    """Put a figure of ours beside the paper's; all in percent."""
    paper = nan if figure is None or figure.percent is None else figure.percent
    return {
        **ours,
        "unit": "percent",
        "ours": 100 * perf,
        "ours_std": 100 * std,
        "paper": paper,
        "paper_std": nan if figure is None or figure.std is None else figure.percent_std,
        "difference": 100 * perf - paper,
        "source": None if figure is None else figure.source,
    }


def _seeds(row: Mapping[str, Any]) -> str:
    """Return how many seeds a figure is of, and how many of them failed."""
    if row.get("one_graph"):
        return "one graph"
    return f"{row['count']} ({row['failed']} failed)" if row["failed"] else str(row["count"])


def _for_people(row: Mapping[str, Any], *, with_task: bool) -> dict[str, str]:
    """Return what of a comparison fits on a line."""
    settings = [name for name in _SETTINGS if with_task or name != "task"]
    sizes = [name for name in ("ratio", "per_class") if name in row]
    named = {name: row[name] for name in ("method", *sizes, *settings)}
    changed = listed(row["hyperparameters"])
    judged = listed(row["evaluation"])
    return {
        **{name: str(value) for name, value in named.items()},
        "ours": _plus_minus(row["ours"], row["ours_std"]),
        "seeds": _seeds(row),
        "paper": _plus_minus(row["paper"], row["paper_std"]),
        "difference": "-" if isnan(row["difference"]) else f"{row['difference']:+.1f}",
        "settings": changed or "default",
        "evaluation": judged or "default",
    }


def _plus_minus(mean: float, std: float) -> str:
    if isnan(mean):
        return "-"
    return f"{mean:.1f}" if isnan(std) else f"{mean:.1f} ± {std:.1f}"
