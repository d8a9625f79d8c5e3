"""``benchquery condensed``: condensed graphs shown, ranked, and beside the paper's figures."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from math import isnan, nan
from typing import Any

from benchquery.commands.options import (
    add_by,
    add_command,
    add_table,
    add_where,
    print_figures,
    print_rows,
)
from benchquery.errors import QueryError
from benchquery.kinds.condensed.config import PROTOCOLS, CondenseConfig, changed_values
from benchquery.kinds.condensed.published import (
    SOURCE,
    WHOLE,
    Published,
    mean_accuracy,
    whole_accuracy,
)
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.rows import Record
from benchquery.table.schema import is_of_one_seed
from benchquery.table.store import condread
from benchquery.text import to_json

_SETTINGS: Mapping[str, type] = {
    "method": str,
    "ratio": float,
    "init": str,
    "backbone": str,
    "seed": int,
    "protocol": str,
}
_FIGURES = ("valid_perf", "perf", "perf_std", "retained")
_TEXTS = ("config_text", "evaluation_text")
_EXAMPLE = "'ratio < 0.03' or 'method == gcond'"


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
        _show,
        "show one configuration and all its evaluations",
        "condensed show cora --method gcond --ratio 0.026 --seed 0",
    )
    add_table(show)
    show.add_argument("--hash", help="hash of the configuration")
    for name, kind in _SETTINGS.items():
        show.add_argument(f"--{name}", type=kind, help=f"its {name}")
    add_where(show, _EXAMPLE)

    top = add_command(
        actions, "top", _top, "list the best condensed graphs", "condensed top cora -k 5"
    )
    add_table(top)
    top.add_argument("-k", type=int, default=10, help="how many (10)")
    add_by(top)
    add_where(top, _EXAMPLE)

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


def _chosen(table: CondensedTable, args: argparse.Namespace) -> str:
    """Return the hash of the one configuration that the options name.

    Raises:
        QueryError: If they fit none, or several.
    """
    given = {name: getattr(args, name) for name in _SETTINGS if getattr(args, name) is not None}
    if args.hash is not None:
        if given or args.where:
            raise QueryError("give either --hash or what the configuration is, not both")
        return str(args.hash)
    fitting = table.where(*args.where, **given)
    if len(fitting) == 1:
        return next(iter(fitting))
    kinds = {
        name: sorted(set((fitting if fitting else table).column(name).tolist()))
        for name in _SETTINGS
    }
    options = "; ".join(
        f"--{name} {', '.join(map(str, values))}"
        for name, values in kinds.items()
        if len(values) > 1
    )
    if not fitting:
        raise QueryError(f"no configuration of {args.table!r} fits; there are: {options}")
    raise QueryError(
        f"{len(fitting)} configurations of {args.table!r} fit; narrow it down by "
        f"{options or '--where or --hash: ' + ', '.join(fitting)}"
    )


def _show(args: argparse.Namespace) -> None:
    table = condread(args.table, args.source)
    key = _chosen(table, args)
    record = table[key]
    evaluations = [dict(row) for row in table.evaluations(key).records()]
    if args.json:
        print(to_json({**record, "evaluations": evaluations}))
        return
    names = [name for name in table.columns if name not in _TEXTS and not is_of_one_seed(name)]
    config = CondenseConfig.from_text(record["config_text"])
    print(f"{config!r} on {table.name} ({table.manifest.origin})\n")
    print_figures(record, names, table.manifest.kind, max(map(len, names)) + 1)
    print(f"\nhyper-parameters: {_listed(config.hyperparameters) or 'none'}\n")
    brief = ("evaluation", "model", "eval_seeds", *_FIGURES, "full_perf")
    print_rows([{name: row[name] for name in brief} for row in evaluations], as_json=False)


def _top(args: argparse.Namespace) -> None:
    table = condread(args.table, args.source).where(*args.where)
    rows = table.top(args.k, args.by).records()
    if not args.json:
        wanted = (
            "config",
            *_SETTINGS,
            "model",
            *dict.fromkeys((*_FIGURES, "condense_time", args.by)),
        )
        rows = [Record({name: row[name] for name in wanted if name in row}) for row in rows]
    print_rows(rows, as_json=args.json)


def _compare(args: argparse.Namespace) -> None:
    from benchquery.kinds.condensed.analysis import in_order

    table = condread(args.table, args.source).where(*args.where, protocol=args.protocol)
    means = table.mean(over="seed")
    methods = in_order({mean["method"] for mean in means})
    means.sort(key=lambda mean: (methods.index(mean["method"]), mean["ratio"]))
    rows = [*_whole_rows(table), *map(_compared, means)]
    if args.json:
        print_rows(rows, as_json=True)
        return
    one_task = len({row["task"] for row in rows}) == 1
    print_rows([_for_people(row, with_task=not one_task) for row in rows], as_json=False)
    print(f"\npercent; paper: {SOURCE}")


def _whole_rows(table: CondensedTable) -> Iterator[dict[str, Any]]:
    """Compare the models that were trained on the whole graph; their seeds are the evaluation's."""
    seen = set()
    for record in table.records():
        if record["evaluation"] not in seen and not isnan(record["full_perf"]):
            seen.add(record["evaluation"])
            ours = {"method": WHOLE, "ratio": 1.0, "init": "none", "backbone": "none"}
            ours |= {name: record[name] for name in ("task", "model", "protocol")}
            ours |= {"count": record["eval_seeds"], "failed": 0, "hyperparameters": {}}
            ours |= {"evaluation": changed_values(record["evaluation_text"])}
            figure = whole_accuracy(table.name, record["model"], record["task"])
            yield _beside(ours, record["full_perf"], record["full_perf_std"], figure)


def _compared(mean: Record) -> dict[str, Any]:
    """Compare the mean over condensation seeds."""
    names = ("method", "ratio", "init", "backbone", "task", "model", "protocol", "count", "failed")
    ours = {name: mean[name] for name in (*names, "hyperparameters")}
    ours["evaluation"] = changed_values(mean["evaluation_text"])
    return _beside(ours, mean["perf"], mean["perf_std"], mean_accuracy(mean))


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
        "paper_std": nan if figure is None or figure.std is None else figure.std,
        "difference": 100 * perf - paper,
        "source": None if figure is None else figure.source,
    }


def _for_people(row: Mapping[str, Any], *, with_task: bool) -> dict[str, str]:
    """Return what of a comparison fits on a line."""
    task = ("task",) if with_task else ()
    named = {name: row[name] for name in ("method", "ratio", "init", "backbone", *task, "model")}
    changed = _listed(row["hyperparameters"])
    judged = _listed(row["evaluation"])
    return {
        **{name: str(value) for name, value in named.items()},
        "ours": _plus_minus(row["ours"], row["ours_std"]),
        "seeds": str(row["count"]),
        "paper": _plus_minus(row["paper"], row["paper_std"]),
        "difference": "-" if isnan(row["difference"]) else f"{row['difference']:+.1f}",
        "settings": changed or "default",
        "evaluation": judged or "default",
    }


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _plus_minus(mean: float, std: float) -> str:
    if isnan(mean):
        return "-"
    return f"{mean:.1f}" if isnan(std) else f"{mean:.1f} ± {std:.1f}"
