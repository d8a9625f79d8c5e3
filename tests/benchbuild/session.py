"""Commands one after another in one process: importing torch takes longer than most of them.

What they print is kept by file descriptor, so that of their workers too. Reads a JSON list of
commands, each a list of words, and writes what became of each.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any

STREAMS = ("stdout", "stderr")


@contextmanager
def kept(name: str) -> Iterator[IO[bytes]]:
    """Lead one of this process's streams into a file for a while."""
    stream = getattr(sys, name)
    number = stream.fileno()
    before = os.dup(number)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), number)
        try:
            yield file
        finally:
            stream.flush()
            os.dup2(before, number)
            os.close(before)


def run(words: list[str]) -> dict[str, Any]:
    """Run a command as its program would."""
    program, *rest = words
    main = importlib.import_module(f"{program}.cli").main
    with ExitStack() as stack:
        files = {name: stack.enter_context(kept(name)) for name in STREAMS}
        try:
            code = main(rest)
        except SystemExit as end:
            code = end.code
        for name, file in files.items():
            getattr(sys, name).flush()
            file.seek(0)
        printed = {name: file.read().decode() for name, file in files.items()}
    return {"args": words, "returncode": code, **printed}


if __name__ == "__main__":
    print(json.dumps([run(words) for words in json.load(sys.stdin)]))
