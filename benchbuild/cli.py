"""The command ``benchbuild``: a module for each subcommand; see `benchbuild.commands`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchbuild import commands
from benchbuild.errors import BenchBuildError
from benchquery import __version__
from benchquery.errors import BenchQueryError
from benchquery.program import Parser, run_program

PROGRAM = "benchbuild"


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all subcommands."""
    parser = Parser(
        prog=PROGRAM,
        description="Train the architectures of a search space, condense graphs, and build the "
        "tables that benchquery opens.",
    )
    parser.add_argument("--version", action="version", version=f"graphtab {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in commands.load():
        subparser = subparsers.add_parser(
            module.NAME,
            help=module.HELP,
            description=module.HELP[0].upper() + module.HELP[1:] + ".",
            epilog=f"Example:\n  {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run)
    return parser


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read a command line; what is wrong with it ends the process with 2.

    A command that hands options on to another finds those it does not know in ``handed_on``, and
    the program that reads and runs them in ``program``.

    Raises:
        KindError: If a kind of job of another package can't be used.
    """
    parser = make_parser()
    args, rest = parser.parse_known_args(argv)
    args.program = commands.Program(parse, main)
    if "handed_on" in args:
        args.handed_on = rest
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return args


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand.

    Returns:
        0 if all went well, 1 if every job that was run failed, 2 for bad input or a fault that the
        message names, 128 plus the signal's number after SIGTERM or Ctrl-C.
    """

    def run() -> int:
        args = parse(argv)
        code: int = args.run(args)
        return code

    return run_program(PROGRAM, run, BenchBuildError, BenchQueryError)
