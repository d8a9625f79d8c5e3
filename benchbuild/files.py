"""Writing files so that they are there whole or not at all, whatever happens in between."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

from benchbuild.errors import WriteError

ASIDE = ".aside"
"""Suffix of a file that is being written; readers never look at one."""


def write_whole(path: Path, content: bytes, owner: str = "") -> None:
    """Write a file aside, sync it, rename it into place and sync its folder.

    Args:
        path: The file to write. Its folder must exist.
        content: Its bytes.
        owner: Who writes, as a part of a file name: `remove_leftovers` finds by it what a
            killed writer left.

    Raises:
        WriteError: If the disk is full, the folder is read-only, or the like. What was
            there before is untouched.
    """
    with written_aside(path, owner) as aside:
        aside.write_bytes(content)


@contextlib.contextmanager
def written_aside(path: Path, owner: str) -> Iterator[Path]:
    """Give a file beside another one to fill, and put it in its place when the block ends well.

    Args:
        path: Where the file shall be.
        owner: See `write_whole`.

    Raises:
        WriteError: As `write_whole`.
    """
    aside = path.with_name(f"{owner}-{uuid.uuid4().hex}{ASIDE}")
    try:
        try:
            yield aside
            with aside.open("rb") as file:
                os.fsync(file.fileno())
            aside.rename(path)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> WriteError:
    """Say that a file could not be written, and that nothing was lost by it."""
    return WriteError(
        f"can't write {path}: {error.strerror or error}. What was there before is intact: make "
        "room or name another folder, then run the same command again"
    )


def make_folder(path: Path) -> None:
    """Make a folder and those above it, synced to disk, unless it is there.

    Raises:
        WriteError: If it can't be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error


def sync_folder(path: Path) -> None:
    """Flush the entries of a folder to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(folder: Path, owner: str) -> None:
    """Remove what a killed writer of this name left half-written."""
    for aside in folder.glob(f"{owner}-*{ASIDE}"):
        aside.unlink(missing_ok=True)
