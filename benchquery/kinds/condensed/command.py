"""``benchquery condensed``: condensed graphs shown, ranked, and beside the paper's figures."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from math import isnan, nan
from typing import Any

from benchquery.commands.options import add_command, add_where, print_rows
from benchquery.commands.show import add_show, run_show
from benchquery.commands.top import add_top, run_top
from benchquery.kinds.condensed.config import PROTOCOLS, changed_values
from benchquery.kinds.condensed.domains.images import IMAGES
from benchquery.kinds.condensed.published import (
    GRAPHS_PAPER,
    IMAGES_PAPER,
    SOURCE,
    SOURCES,
    WHOLE,
    Published,
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
        help=f"as-released has faults of the published code, kept on purpose ({PROTOCOLS[0]})",
    )
    add_where(compare, _EXAMPLE)
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

    table = condread(args.table, args.source).where(*args.where, protocol=args.protocol)
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


def _ledger(args: argparse.Namespace) -> None:
    from benchquery.kinds.condensed.faults import FAULTS
    from benchquery.kinds.condensed.ledger import ledger

    table = condread(args.table, args.source).where(*args.where)
    entries = ledger(table)
    if args.json:
        print_rows([asdict(entry) for entry in entries], as_json=True)
        return
    rows = [
        {
            "method": entry.method,
            table.size: str(entry.size),
            "model": entry.model,
            "printed": _plus_minus(entry.printed, nan),
            "as released": _plus_minus(entry.released, nan),
            "corrected": _plus_minus(entry.corrected, nan),
            "faults": " ".join(entry.faults),
        }
        for entry in entries
    ]
    print_rows(rows, as_json=False)
    print(f"\npercent; printed: {SOURCES[_paper(table)]}")
    for number, what in FAULTS.items():
        if any(number in entry.faults for entry in entries):
            print(f"{number}: {what}")


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
    """Compare the mean over condensation seeds; what a method began with is in no paper."""
    names = ("method", table.size, *_SETTINGS, "protocol", "count", "failed")
    ours = {name: mean[name] for name in (*names, "hyperparameters")}
    ours["evaluation"] = changed_values(mean["evaluation_text"])
    begun = mean["hyperparameters"].get("epochs") == 0
    figure = None if begun else mean_accuracy(mean)
    return _beside(ours, mean["perf"], mean["perf_std"], figure)


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
        "seeds": str(row["count"]),
        "paper": _plus_minus(row["paper"], row["paper_std"]),
        "difference": "-" if isnan(row["difference"]) else f"{row['difference']:+.1f}",
        "settings": changed or "default",
        "evaluation": judged or "default",
    }


def _plus_minus(mean: float, std: float) -> str:
    if isnan(mean):
        return "-"
    return f"{mean:.1f}" if isnan(std) else f"{mean:.1f} ± {std:.1f}"
