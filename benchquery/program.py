"""What both commands, ``benchquery`` and ``benchbuild``, do alike.

Bad input and faults that a message can name are one line on standard error and exit code 2. A
reader of the output that closes its end, as ``head`` does, ends a command quietly. One of standard
error does not: the work goes on, and nobody is told of it. Terminals that know ASCII only get
drawings of ASCII characters.
"""

from __future__ import annotations

import argparse
import codecs
import io
import os
import re
import select
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

BAD_INPUT = 2
"""The exit code of bad input."""

_LONGEST_WORD, _LONGEST_LINE = 300, 2_000
_WORD = re.compile(rf"\S{{{_LONGEST_WORD + 1},}}")
_PLAIN = {
    "─": "-", "│": "|", "┬": "+", "├": "+", "└": "+", "±": "+-", "…": "...",
}  # fmt: skip
"""What stands for a character where only ASCII can be shown."""
_ERRORS = "graphtab-plain"


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, in the style of all other errors."""

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with 2."""
        program, _, command = self.prog.partition(" ")
        asked = f"{program} {command}".rstrip()
        self.exit(BAD_INPUT, f"{program}: error: {one_line(message)} (see {asked} --help)\n")


def one_line(message: str) -> str:
    """Return a message in one line, whatever stands in the names that it quotes.

    Characters that a terminal would obey are written out, and what is very long is shortened in
    the middle.
    """
    words = _WORD.sub(lambda word: _shortened(word[0], _LONGEST_WORD), " ".join(message.split()))
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in words)
    return _shortened(shown, _LONGEST_LINE)


def _shortened(text: str, most: int) -> str:
    """Return a text of a length, its middle left out if it is longer."""
    if len(text) <= most:
        return text
    end = most // 4
    return f"{text[: most - end - 3]}...{text[-end:]}"


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Return what stands for characters that a stream can't show."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    shown = [_PLAIN.get(char) or ascii(char)[1:-1] for char in missing]
    return "".join(shown), error.end


codecs.register_error(_ERRORS, _plain)


class _Unheeded(io.FileIO):
    """A file whose faults are nobody's business: what can't be written is left out."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, if that can be."""
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def _prepare_streams() -> None:
    """Have streams that take any text, even if they are closed; that of errors never fails."""
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            nothing = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nothing, "w", encoding="utf-8"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_Unheeded(sys.stderr.fileno(), "w", closefd=False)),
            encoding=sys.stderr.encoding,
            errors=_ERRORS,
            line_buffering=True,
        )


def _is_unread(stream: TextIO) -> bool:
    """Tell whether a stream is a pipe whose reader has gone away."""
    waiting = select.poll()
    try:
        waiting.register(stream, 0)
    except (OSError, ValueError):
        return False
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in waiting.poll(0))


def _give_up(stream: TextIO) -> None:
    """Leave out what a stream has not written yet, so that the end of Python doesn't try again."""
    try:
        number = stream.fileno()
    except OSError:
        return
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, number)
    os.close(nothing)


def _say(line: str) -> None:
    """Print a line on standard error, if there is anybody to read it."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        _give_up(sys.stderr)


def _told(error: BaseException) -> str:
    """Return what an error says; the operating system's own in the words of all others."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


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
    _prepare_streams()
    try:
        try:
            return run() or 0
        finally:
            sys.stdout.flush()
    except expected as error:
        if isinstance(error, BrokenPipeError) and _is_unread(sys.stdout):
            _give_up(sys.stdout)
            return 0
        message = getattr(error, "shell", None) or _told(error)
        _say(f"{program}: error: {one_line(message)}")
        try:
            sys.stdout.flush()
        except OSError:
            _give_up(sys.stdout)
        return BAD_INPUT
    except UnicodeEncodeError as error:
        if error.reason != "surrogates not allowed":
            raise
        name = one_line(ascii(error.object))
        _say(f"{program}: error: {name} is not UTF-8, and this command needs names that are")
        return BAD_INPUT
    except KeyboardInterrupt as interrupt:
        asked = getattr(interrupt, "signal", signal.SIGINT)
        _say(f"{program}: stopped by {asked.name}")
        return 128 + int(asked)
