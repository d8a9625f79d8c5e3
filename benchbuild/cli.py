"""The command ``benchbuild``: one file in `benchbuild.commands` for each subcommand."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from benchbuild import commands
from benchbuild.errors import BenchBuildError
from benchbuild.pipeline.signals import Stopped
from benchquery.errors import BenchQueryError

BAD_INPUT = 2


class _Parser(argparse.ArgumentParser):
    """A parser that reports what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with 2."""
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all subcommands."""
    parser = _Parser(
        prog="benchbuild",
        description="Train the architectures of a search space, condense graphs, and build the "
        "tables that benchquery opens.",
    )
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

    A command that hands options on to another finds those it does not know in ``handed_on``.
    """
    parser = make_parser()
    args, rest = parser.parse_known_args(argv)
    if "handed_on" in args:
        args.handed_on = rest
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return args


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand.

    Returns:
        0 if all went well, 2 for bad input or a fault that the message names, 128 plus the
        signal's number after SIGTERM or Ctrl-C.
    """
    args = parse(argv)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
    except (BenchBuildError, BenchQueryError) as error:
        print(f"benchbuild {args.command}: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as interrupt:
        asked = interrupt.signal if isinstance(interrupt, Stopped) else signal.SIGINT
        print(f"benchbuild {args.command}: stopped by {asked.name}", file=sys.stderr)
        return 128 + asked
    return code
