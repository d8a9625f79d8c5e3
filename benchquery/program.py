"""What both commands, ``benchquery`` and ``benchbuild``, do alike.

Bad input and faults that a message can name are one line on standard error and exit code 2. A
reader that closes its end, as ``head`` does, ends a command quietly.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

BAD_INPUT = 2
"""The exit code of bad input."""


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, in the style of all other errors."""

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with 2."""
        program, _, command = self.prog.partition(" ")
        asked = f"{program} {command}".rstrip()
        self.exit(BAD_INPUT, f"{program}: error: {one_line(message)} (see {asked} --help)\n")


def one_line(message: str) -> str:
    """Return a message in one line, whatever stands in the names that it quotes."""
    return " ".join(message.split())


def run_program(program: str, run: Callable[[], int | None], *errors: type[Exception]) -> int:
    """Run a command and return its exit code.

    Args:
        program: What messages begin with.
        run: The command; None counts as 0.
        errors: What a command may raise on purpose.

    Returns:
        What the command returned, 2 after one of the errors, 128 plus the number of the signal
        after an interruption.
    """
    expected: tuple[type[BaseException], ...] = (OSError, *errors)
    try:
        code = run() or 0
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except expected as error:
        message = getattr(error, "shell", None) or str(error)
        print(f"{program}: error: {one_line(message)}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt as interrupt:
        asked = getattr(interrupt, "signal", signal.SIGINT)
        print(f"{program}: stopped by {asked.name}", file=sys.stderr)
        return 128 + int(asked)
    return code
