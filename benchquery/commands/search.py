"""``benchquery search``: strategies let loose on a table, and what they find."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any

from benchquery.commands.options import add_command, add_table, print_rows
from benchquery.errors import QueryError
from benchquery.kinds.architectures.reading import lightread

_KEYS = (
    "strategy", "dataset", "seed", "queries", "hash", "valid_perf", "perf", "regret", "protocol",
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
        action="append",
        metavar="NAME",
        help="for example random, evolution, nni:tpe, optuna:tpe; repeatable (evolution)",
    )
    parser.add_argument(
        "--budget",
        default="2%",
        help="queries (524), share of the table (2%%, the default) or training time (3600s)",
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
        choices=("validation", "leaky-test"),
        default="validation",
        help="what the reward is; leaky-test sees the test set, as the paper's searches did",
    )
    parser.add_argument("--workers", type=int, default=1, help="simulated parallel workers (1)")
    parser.add_argument("--out", type=Path, help="write the traces to this .parquet file")
    parser.add_argument("--plot", type=Path, help="draw the best so far: .png, .svg, .pdf or .html")


def _run(args: argparse.Namespace) -> None:
    from benchquery.figures.page import check_picture
    from benchquery.search import Budget, Trace, get_strategy, run, save
    from benchquery.search.plot import plot_search
    from benchquery.search.trace import check_out

    table = lightread(args.table, args.source)
    budget = Budget.parse(args.budget, len(table), args.repeats)
    names = args.strategy or ["evolution"]
    for name in names:
        get_strategy(name)
    if args.seeds < 1:
        raise QueryError(f"--seeds must be at least 1, not {args.seeds}")
    if args.out:
        check_out(args.out)
    if args.plot:
        check_picture(args.plot)
    traces: list[Trace] = []
    for name, seed in itertools.product(names, range(args.seeds)):
        _show_progress(f"{name}, seed {seed}", len(traces), len(names) * args.seeds)
        traces.append(
            run(name, table, budget, seed=seed, protocol=args.protocol, workers=args.workers)
        )
    _show_progress("", len(traces), len(traces))
    reports = [vars(trace.report()) for trace in traces]
    if args.out:
        save(traces, args.out)
    if args.plot:
        plot_search(traces, args.plot)
    print_rows([{name: row[name] for name in _KEYS} for row in reports], as_json=args.json)


def _show_progress(what: str, done: int, total: int) -> None:
    """Draw a progress bar on standard error, if that is a terminal; wipe it at the end."""
    if sys.stderr.isatty():
        filled = 20 * done // total
        bar = f"[{'#' * filled}{'.' * (20 - filled)}] {done}/{total} {what}"
        print(f"\r\x1b[K{bar if done < total else ''}", end="", file=sys.stderr, flush=True)
