"""``benchquery standings``: strategies side by side, by the traces of their searches."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from benchquery.commands.options import add_command, print_rows

_KEYS = (
    "strategy", "dataset", "protocol", "seeds", "perf", "perf_error", "perf_median", "regret",
    "regret_error", "beyond_noise", "rank", "rank_error", "rank_median",
)  # fmt: skip


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "standings",
        _run,
        "set searched strategies side by side, and beside exact random search",
        "standings traces.parquet --pairs",
    )
    parser.add_argument(
        "traces", nargs="+", type=Path, help="files that benchquery search --out wrote"
    )
    parser.add_argument(
        "--pairs", action="store_true", help="print paired differences with intervals and tests"
    )
    parser.add_argument(
        "--plot", type=Path, help="draw mean ranks with the critical difference: .png, .svg ..."
    )


def _run(args: argparse.Namespace) -> None:
    from benchquery.search import compare, differences, load
    from benchquery.search.plot import plot_ranks
    from benchquery.search.summary import say_curse

    traces = [trace for path in args.traces for trace in load(path)]
    if args.plot:
        plot_ranks(traces, args.plot)
    if args.pairs:
        rows = [dataclasses.asdict(row) for row in differences(traces)]
    else:
        standings = compare(traces)
        rows = [{name: getattr(row, name) for name in _KEYS} for row in standings]
    print_rows(rows, as_json=args.json)
    if not args.json and not args.pairs:
        searched = {trace.table_sha256: trace for trace in traces}
        for said in filter(None, (say_curse(trace.searched()) for trace in searched.values())):
            print(said)
