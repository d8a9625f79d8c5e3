"""The command line of benchquery.

Every command prints a table for people, or JSON with ``--json``. Bad input is one line
on standard error and exit code 2.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchquery import __version__
from benchquery.commands import load_commands
from benchquery.errors import BenchQueryError
from benchquery.program import Parser, run_program

PROGRAM = "benchquery"


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line, which commands find as ``args.parser``."""
    parser = Parser(prog=PROGRAM, description="Ask tables of graph-learning experiments.")
    parser.set_defaults(parser=parser)
    parser.add_argument("--version", action="version", version=f"graphtab {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    for command in load_commands():
        command.add(commands)
    return parser


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read a command line; what is wrong with it ends the process with 2.

    A command whose options depend on the table finds those it does not know in ``rest``.
    """
    parser = build_parser()
    args, rest = parser.parse_known_args(argv)
    if "rest" in args:
        args.rest = rest
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return args


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""

    def run() -> int | None:
        args = parse(argv)
        code: int | None = args.run(args)
        return code

    return run_program(PROGRAM, run, BenchQueryError)
