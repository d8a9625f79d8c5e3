"""Writing files so that they are there whole or not at all, whatever happens in between."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from benchbuild.errors import RunFolderError, WriteError

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


def set_aside(path: Path, suffix: str) -> None:
    """Give a file another name, unless another process did so or it is gone.

    Raises:
        WriteError: If the folder can't be written to.
    """
    try:
        path.rename(path.with_name(path.name + suffix))
    except FileNotFoundError:
        return
    except OSError as error:
        raise cannot_write(path, error) from error


def make_folder(path: Path) -> None:
    """Make a folder and those above it, synced to disk, unless it is there.

    Raises:
        WriteError: If it can't be made.
    """
    try:
        new = [each for each in (path, *path.parents) if not each.exists()]
        path.mkdir(parents=True, exist_ok=True)
        for each in new:
            sync_folder(each.parent)
    except OSError as error:
        raise cannot_write(path, error) from error


def check_writable(path: Path) -> None:
    """Refuse a folder that can't be written to, or made, before any work is done for it.

    Raises:
        WriteError: If it can't be.
    """
    there = next(each for each in (path.absolute(), *path.absolute().parents) if is_there(each))
    if there.is_dir() and not os.access(there, os.W_OK | os.X_OK):
        raise cannot_write(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def is_there(path: Path) -> bool:
    """Tell whether there is something at a path.

    Raises:
        RunFolderError: If that can't be known, as in a folder that may not be looked into.
    """
    try:
        return path.exists()
    except OSError as error:
        raise RunFolderError(f"can't look into {path.parent}: {error.strerror}") from error


def files_in(folder: Path, pattern: str) -> list[Path]:
    """List the files of a folder whose names fit a pattern, by name; none if it is not there.

    Raises:
        RunFolderError: If it can't be listed: to take it for empty would be to lose what is in it.
    """
    try:
        return sorted(path for path in folder.iterdir() if path.match(pattern))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunFolderError(f"can't list {folder}: {error.strerror}") from error


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


@contextlib.contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[IO[str] | None]:
    """Hold a file's lock; gives None if another process has it and waiting is not wanted.

    Where a file system knows no locks, none is held: the worst that can come of it is work that
    is done twice.

    Raises:
        WriteError: If the file can't be opened.
    """
    try:
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise cannot_write(path, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError as error:
            if error.errno == errno.EWOULDBLOCK:
                yield None
                return
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                raise cannot_write(path, error) from error
        yield file
