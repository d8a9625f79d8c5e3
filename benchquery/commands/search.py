"""``benchquery search``: strategies let loose on a table, and what they find."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery.commands.options import add_command, add_table, print_rows
from benchquery.errors import QueryError
from benchquery.kinds.architectures.reading import lightread

if TYPE_CHECKING:
    from benchquery.kinds.architectures.table import ArchTable
    from benchquery.search import Budget, SearchReport, Trace

_KEYS = (
    "strategy", "dataset", "seed", "queries", "hash", "valid_perf", "perf", "regret", "protocol",
    "beyond_noise",
)  # fmt: skip


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "search",
        _run,
        "let strategies search a table, and report what they find",
        "search cora --strategy evolution --budget 2% --seeds 5",
    )
    add_table(parser)
    parser.add_argument(
        "--strategy",
        action=_StrategyAction,
        metavar="NAME",
    )
    parser.add_argument(
        "--budget",
        default="2%",
        help="queries (524), share of the table (2%%, the default), training time (3600s) or "
        "estimated training time, for tables that know none (~3600s)",
    )
    parser.add_argument(
        "--repeats",
        choices=("charged", "free"),
        default="charged",
        help="what asking twice costs; free counts distinct architectures (charged)",
    )
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds, from 0 (1)")
    parser.add_argument(
        "--protocol",
        choices=("validation", "leaky-test", "one-seed"),
        default="validation",
        help="what the reward is; leaky-test sees the test set, as the paper's searches did, "
        "one-seed sees one training of each architecture, not a mean (validation)",
    )
    parser.add_argument("--workers", type=int, default=1, help="simulated parallel workers (1)")
    parser.add_argument("--out", type=Path, help="write the traces to this .parquet file")
    parser.add_argument("--plot", type=Path, help="draw the best so far: .png, .svg, .pdf or .html")


class _StrategyAction(argparse.Action):
    """Collects strategies, and names all that there are in the help.

    The names are looked up when the help is asked for: no other command has to load the searches.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or ()), values])

    @property
    def help(self) -> str:
        """What the option does, and the names."""
        from benchquery.search import strategy_names

        return f"one of {', '.join(strategy_names())}; repeatable (evolution)"

    @help.setter
    def help(self, text: str | None) -> None:
        """Take what argparse hands over, which is nothing."""


def _run(args: argparse.Namespace) -> None:
    from benchquery.figures.page import check_picture
    from benchquery.search import Budget, Contest, save
    from benchquery.search.plot import plot_search
    from benchquery.search.strategies import match_strategy
    from benchquery.search.summary import beyond_noise, say_curse
    from benchquery.search.trace import check_out

    table = lightread(args.table, args.source)
    budget = Budget.parse(args.budget, len(table), args.repeats)
    names = list(dict.fromkeys(match_strategy(name) for name in args.strategy or ["evolution"]))
    if args.seeds < 1:
        raise QueryError(f"--seeds must be at least 1, not {args.seeds}")
    if args.out:
        check_out(args.out)
    if args.plot:
        check_picture(args.plot)
    with contextlib.redirect_stdout(sys.stderr):
        traces = _search(table, budget, names, args)
    reports = [trace.report() for trace in traces]
    for report in reports:
        if report.spent < budget.amount / 2:
            print(_warning(report, budget), file=sys.stderr)
    if args.out:
        save(traces, args.out)
    if args.plot:
        plot_search(traces, args.plot)
    beyond = beyond_noise([report.regret for report in reports], table).tolist()
    rows = [
        {name: above if name == "beyond_noise" else getattr(report, name) for name in _KEYS}
        for report, above in zip(reports, beyond, strict=True)
    ]
    print_rows(rows, as_json=args.json)
    if args.json:
        return
    if Contest.of(traces[0]).knows_chance:
        print(_chance(table, int(budget.amount), args.protocol))
    if said := say_curse(table):
        print(said)


def _chance(table: ArchTable, queries: int, protocol: str) -> str:
    """Say what random search finds on average, for comparison."""
    from benchquery.analysis import left_out
    from benchquery.search import random_search_exactly

    missing = left_out(table, "valid_perf", "perf")
    most = len(table) - missing
    if not most:
        return "random search, exactly: not known, as no architecture has both figures"
    exact = random_search_exactly(table, min(queries, most), protocol)
    return (
        f"random search, exactly: perf {exact.perf[0]:.4f} on average, "
        f"{exact.deviation[0]:.4f} standard deviation of one search"
        + (f"; {missing:,} without both figures left out" if missing else "")
    )


def _search(
    table: ArchTable, budget: Budget, names: list[str], args: argparse.Namespace
) -> list[Trace]:
    """Run every strategy with every seed, and show how far that is."""
    from benchquery.search import run

    traces: list[Trace] = []
    total = len(names) * args.seeds
    try:
        for name, seed in itertools.product(names, range(args.seeds)):
            _show_progress(f"{name}, seed {seed}", len(traces), total)
            traces.append(
                run(name, table, budget, seed=seed, protocol=args.protocol, workers=args.workers)
            )
    finally:
        _show_progress("", total, total)
    return traces


def _warning(report: SearchReport, budget: Budget) -> str:
    """Say that a search hardly asked anything, so that its find says little."""
    return (
        f"benchquery: warning: {report.strategy}, seed {report.seed}, spent {report.spent:g} of "
        f"{budget.amount:g} {budget.unit}: it ended after {report.queries:,} queries for "
        f"{report.architectures:,} architectures"
    )


def _show_progress(what: str, done: int, total: int) -> None:
    """Draw a progress bar on standard error, if that is a terminal; wipe it at the end."""
    if sys.stderr.isatty():
        filled = 20 * done // total
        bar = f"[{'#' * filled}{'.' * (20 - filled)}] {done}/{total} {what}"
        print(f"\r\x1b[K{bar if done < total else ''}", end="", file=sys.stderr, flush=True)
