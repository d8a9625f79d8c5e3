"""The command line of benchquery.

Every command prints a table for people, or JSON with ``--json``. Bad input is one line
on standard error and exit code 2.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from benchquery import __version__
from benchquery.analysis.agreement import agreement
from benchquery.arch import Arch
from benchquery.errors import BenchQueryError, QueryError
from benchquery.export import FORMATS, export
from benchquery.schema import column as schema_column
from benchquery.store import find, lightread, tables, verify
from benchquery.table import ArchTable
from benchquery.text import format_table, format_value, to_json


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def _row(table: ArchTable, number: int, by: str) -> dict[str, Any]:
    """Return what the commands print of an architecture."""
    form = Arch.from_hash(number)
    return {
        "hash": number,
        "link": list(form.link),
        "ops": list(form.ops),
        **table[number],
        "rank": table.rank(number, by),
        "regret": table.regret(number, by),
        "by": by,
    }


def _print_rows(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print rows as JSON, one a line, or as a table for people."""
    if as_json:
        print("[" + ",\n ".join(map(to_json, rows)) + "]")
    else:
        print(format_table(rows))


def _chosen(args: argparse.Namespace) -> Arch:
    """Return the architecture that the options name."""
    if args.hash is not None:
        if args.link or args.ops:
            raise QueryError("give either --hash or --link and --ops, not both")
        return Arch.from_hash(args.hash)
    if not (args.link and args.ops):
        raise QueryError("name an architecture: --hash 10000, or --link 0,1,2,1 --ops a,b,c,d")
    link = [int(part) if part.strip().isdecimal() else part for part in args.link.split(",")]
    return Arch(link, [part.strip() for part in args.ops.split(",")])


def _open(args: argparse.Namespace) -> ArchTable:
    """Open the table that the options name."""
    return lightread(args.table, args.source)


def _datasets(args: argparse.Namespace) -> None:
    rows = [
        {
            "name": info.name,
            "dataset": info.dataset,
            "origin": info.origin,
            "space": info.space,
            "rows": info.rows,
            "metric": info.metric,
            "curves": info.curves,
        }
        for info in tables(args.source)
    ]
    _print_rows(rows, args.json)


def _show(args: argparse.Namespace) -> None:
    table, arch = _open(args), _chosen(args)
    row = _row(table, arch.valid_hash(), args.by)
    if args.json:
        print(to_json(row))
        return
    print(f"{arch.canonical()!r} on {table.name} ({table.manifest.origin})\n\n{arch.draw()}\n")
    for name in table.columns:
        unit = schema_column(name).unit
        suffix = f" {unit}" if unit not in (None, "1", "fraction") else ""
        value = str(row[name]) if name == "hash" else format_value(row[name])
        print(f"{name:16}{value}{suffix}")
    print(f"{'rank':16}{row['rank']:,} of {len(table):,} by {args.by}")
    print(f"{'regret':16}{format_value(row['regret'])} by {args.by}")


def _top(args: argparse.Namespace) -> None:
    table = _open(args)
    best = table.where(*args.where).top(args.k, args.by)
    _print_rows([_row(table, number, args.by) for number in best], args.json)


def _pareto(args: argparse.Namespace) -> None:
    table = _open(args)
    front = table.where(*args.where).pareto(args.maximise, args.minimise)
    by = (args.maximise or args.minimise)[0]
    rows = [_row(table, number, by) for number in front.top(len(front), by)] if front else []
    _print_rows(rows, args.json)


def _compare(args: argparse.Namespace) -> None:
    opened = [lightread(name, args.source) for name in args.tables]
    if args.hash is None and not args.link and not args.ops:
        pairs = itertools.combinations(zip(args.tables, opened, strict=True), 2)
        rows = [
            {"first": a, "second": b, **agreement(first, second, args.by, args.share)}
            for (a, first), (b, second) in pairs
        ]
    else:
        number = _chosen(args).valid_hash()
        rows = [
            {"table": name, **_row(table, number, args.by)}
            for name, table in zip(args.tables, opened, strict=True)
        ]
    _print_rows(rows, args.json)


def _export(args: argparse.Namespace) -> None:
    table = _open(args).where(*args.where)
    export(table, args.out)
    done = {"path": str(args.out), "rows": len(table), "bytes": args.out.stat().st_size}
    print(to_json(done) if args.json else f"{len(table):,} rows written to {args.out}")


def _verify(args: argparse.Namespace) -> None:
    folders = [find(name, args.source) if not Path(name).is_dir() else Path(name)
               for name in args.tables] or [info.path for info in tables(args.source)]  # fmt: skip
    rows = []
    for folder in folders:
        manifest = verify(folder)
        rows.append({"table": folder.name, "rows": manifest.rows, "files": len(manifest.files),
                     "status": "ok"})  # fmt: skip
    _print_rows(rows, args.json)


def _plot(args: argparse.Namespace) -> None:
    from benchquery.plot import FIGURES

    table = _open(args)
    FIGURES[args.figure](table, args.out)
    print(to_json({"path": str(args.out)}) if args.json else f"drawn: {args.out}")


def _explore(args: argparse.Namespace) -> None:
    from benchquery.explorer import Site, serve, write_site

    def announce(url: str) -> None:
        said = f"the explorer is at {url} (end it with Ctrl+C)"
        print(to_json({"url": url, "tables": len(site.names)}) if args.json else said, flush=True)

    site = Site(args.source)
    if args.export is None:
        serve(site, host=args.host, port=args.port, open_browser=args.browser, announce=announce)
        return
    files = write_site(site, args.export)
    done = {"path": str(args.export), "tables": len(site.names), "files": files}
    print(to_json(done) if args.json else f"written to {args.export}: {', '.join(site.names)}")


def _search(args: argparse.Namespace) -> None:
    from benchquery.plot import check_picture
    from benchquery.search import Budget, Trace, get_strategy, run, save
    from benchquery.search.plot import plot_search
    from benchquery.search.trace import check_out

    table = _open(args)
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
        trace = run(
            name, table, budget, seed=seed, protocol=args.protocol, workers=args.workers
        )  # fmt: skip
        traces.append(trace)
    _show_progress("", len(traces), len(traces))
    reports = [vars(trace.report()) for trace in traces]
    if args.out:
        save(traces, args.out)
    if args.plot:
        plot_search(traces, args.plot)
    _print_rows([{name: row[name] for name in _SEARCH_KEYS} for row in reports], args.json)


_SEARCH_KEYS = (
    "strategy", "dataset", "seed", "queries", "hash", "valid_perf", "perf", "regret", "protocol",
)  # fmt: skip


def _show_progress(what: str, done: int, total: int) -> None:
    """Draw a progress bar on standard error, if that is a terminal; wipe it at the end."""
    if sys.stderr.isatty():
        filled = 20 * done // total
        bar = f"[{'#' * filled}{'.' * (20 - filled)}] {done}/{total} {what}"
        print(f"\r\x1b[K{bar if done < total else ''}", end="", file=sys.stderr, flush=True)


def _add(
    commands: Any, name: str, run: Callable[[argparse.Namespace], None], what: str, example: str
) -> argparse.ArgumentParser:
    """Add a command with the options that all commands share."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog=f"example: benchquery {example}",
    )
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--source", type=Path, metavar="DIR", help="folder of tables, or a table")
    return parser


def _add_arch(parser: argparse.ArgumentParser) -> None:
    """Add the options that name an architecture."""
    parser.add_argument("--hash", type=int, help="hash of the architecture")
    parser.add_argument("--link", help="input of each node, for example 0,1,2,1")
    parser.add_argument("--ops", help="operation of each node, for example gcn,gin,fc,cheb")


def _add_where(parser: argparse.ArgumentParser) -> None:
    """Add the option of conditions."""
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help="keep rows that fulfil it, for example 'latency < 0.004' or 'gat == 0'; repeatable",
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    """Add the options of a search."""
    parser.add_argument(
        "--strategy", action="append", metavar="NAME",
        help="for example random, evolution, nni:tpe, optuna:tpe; repeatable (evolution)",
    )  # fmt: skip
    parser.add_argument(
        "--budget", default="2%",
        help="queries (524), share of the table (2%%, the default) or training time (3600s)",
    )  # fmt: skip
    parser.add_argument(
        "--repeats", choices=("charged", "free"), default="charged",
        help="what asking twice costs; free counts distinct architectures (charged)",
    )  # fmt: skip
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds, from 0 (1)")
    parser.add_argument(
        "--protocol", choices=("validation", "leaky-test"), default="validation",
        help="what the reward is; leaky-test sees the test set, as the paper's searches did",
    )  # fmt: skip
    parser.add_argument("--workers", type=int, default=1, help="simulated parallel workers (1)")
    parser.add_argument("--out", type=Path, help="write the traces to this .parquet file")
    parser.add_argument("--plot", type=Path, help="draw the best so far: .png, .svg or .pdf")


def _port(text: str) -> int:
    """Read a port number."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not {text!r}")
    return int(text)


def _add_explore(parser: argparse.ArgumentParser) -> None:
    """Add the options of the explorer."""
    parser.add_argument(
        "--host", default="127.0.0.1", help="listen here (127.0.0.1: this machine only)"
    )
    parser.add_argument("--port", type=_port, default=8765, help="port; 0 for any free one (8765)")
    parser.add_argument(
        "--no-browser", dest="browser", action="store_false", help="don't open a browser"
    )
    parser.add_argument(
        "--export", type=Path, metavar="FOLDER",
        help="write the page and its data to a new folder for any web server, and end",
    )  # fmt: skip


def _names(text: str) -> list[str]:
    """Split a list of column names."""
    return [name.strip() for name in text.split(",") if name.strip()]


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = _Parser(prog="benchquery", description="Ask tables of graph-learning experiments.")
    parser.add_argument("--version", action="version", version=f"graphtab {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    _add(commands, "datasets", _datasets, "list the tables", "datasets")

    show = _add(commands, "show", _show, "show one architecture", "show cora --hash 10000")
    show.add_argument("table", help="name of a table")
    _add_arch(show)

    top = _add(commands, "top", _top, "list the best architectures", "top cora -k 5 --by perf")
    top.add_argument("table", help="name of a table")
    top.add_argument("-k", type=int, default=10, help="how many (default: 10)")
    _add_where(top)

    pareto = _add(
        commands, "pareto", _pareto, "list the architectures that none beats in everything",
        "pareto cora --maximise valid_perf --minimise latency,para",
    )  # fmt: skip
    pareto.add_argument("table", help="name of a table")
    pareto.add_argument("--maximise", type=_names, default=["valid_perf"], metavar="COLUMNS")
    pareto.add_argument("--minimise", type=_names, default=["latency"], metavar="COLUMNS")
    _add_where(pareto)

    compare = _add(
        commands, "compare", _compare,
        "compare tables: how they rank architectures, or one architecture on each",
        "compare cora citeseer --by perf",
    )  # fmt: skip
    compare.add_argument("tables", nargs="+", metavar="table", help="names of tables")
    compare.add_argument("--share", type=float, default=0.05, help="what counts as top (0.05)")
    _add_arch(compare)

    for command in (show, top, compare):
        command.add_argument("--by", default="valid_perf", help="column to rank by (valid_perf)")

    out = _add(commands, "export", _export, "write a table, or part of it, to a file",
               "export cora -o cora.csv --where 'depth == 2'")  # fmt: skip
    out.add_argument("table", help="name of a table")
    out.add_argument("-o", "--out", type=Path, required=True, help=f"file: {', '.join(FORMATS)}")
    _add_where(out)

    check = _add(commands, "verify", _verify, "check tables from end to end", "verify cora")
    check.add_argument("tables", nargs="*", metavar="table", help="names or folders (all)")

    explore = _add(commands, "explore", _explore, "look at tables in a browser",
                   "explore --port 8765")  # fmt: skip
    _add_explore(explore)

    search = _add(
        commands, "search", _search, "let strategies search a table, and report what they find",
        "search cora --strategy evolution --budget 2% --seeds 5",
    )  # fmt: skip
    search.add_argument("table", help="name of a table")
    _add_search(search)

    plot = _add(commands, "plot", _plot, "draw a picture", "plot cora pareto -o pareto.png")
    plot.add_argument("table", help="name of a table")
    plot.add_argument("figure", choices=("pareto",), help="what to draw")
    plot.add_argument("-o", "--out", type=Path, required=True, help="picture: .png, .svg or .pdf")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    args = build_parser().parse_args(argv)
    try:
        args.run(args)
        sys.stdout.flush()
    except (BenchQueryError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"benchquery: error: {error}", file=sys.stderr)
        return 2
    return 0
