"""Stage folders: where a table is written before it stands in its place.

A stage is a hidden folder beside the table, and its lock is held by the process that fills it. A
killed process's lock goes with it, so the next one that writes the same table knows what was left
behind from what another is still filling. Where a file system has no locks for folders, nothing
is taken for left behind.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

STAGE = ".stage"
"""Suffix of a folder that a table is written in."""
BEFORE = ".before"
"""Suffix of a table that another one is taking the place of."""


@contextlib.contextmanager
def new_stage(folder: Path) -> Iterator[Path]:
    """Give an empty hidden folder beside a table's, held by this process; gone afterwards.

    Args:
        folder: Where the table shall be. The folder above it must exist.
    """
    with contextlib.ExitStack() as stack:
        while True:
            stage = _make(folder)
            stack.enter_context(held(stage, wait=True))
            # Another process may have taken it for left behind before it was held.
            if stage.exists():
                break
        try:
            yield stage
        finally:
            shutil.rmtree(stage, ignore_errors=True)


@contextlib.contextmanager
def held(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Hold the lock of a folder, if it is there and the lock can be had; says whether it is held.

    Args:
        folder: The folder.
        wait: Whether to wait for another process that holds it.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        yield False
        return
    try:
        yield _lock(descriptor, wait=wait)
    finally:
        os.close(descriptor)


def recover(folder: Path) -> None:
    """Put in order what killed processes left of writing a table.

    Half-written tables go. A table that was moved out of the way comes back if none has taken
    its place. What a living process holds is left alone.

    Args:
        folder: Where the table is or shall be.
    """
    pattern = re.compile(rf"\.{re.escape(folder.name)}-[a-z0-9_]{{8}}({STAGE}|{BEFORE})")
    for path in sorted(folder.parent.glob(".*")):
        if not pattern.fullmatch(path.name) or path.is_symlink():
            continue
        with held(path) as abandoned:
            if abandoned and path.suffix == BEFORE and not folder.exists():
                path.rename(folder)
            elif abandoned:
                shutil.rmtree(path, ignore_errors=True)


def _make(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=STAGE, dir=folder.parent))


def _lock(descriptor: int, *, wait: bool) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
