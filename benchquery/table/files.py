"""Files: read if they are regular and nothing that only looks so, written whole or not at all.

A symbolic link could show a file from outside the table, a pipe would wait for ever, a device has
no end. So the files of a table are refused if they are any of these. The folder of a table may
well be reached through a link. Hard links are not told from files: package managers and backups
make them, and whoever can make one could copy the file as well.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

from benchquery.errors import QueryError

_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)


def open_regular(path: Path, *, follow: bool = False) -> FileIO:
    """Open a regular file for reading, without a buffer: its readers take large pieces.

    Args:
        path: The file.
        follow: Whether it may be a symbolic link to one.

    Raises:
        OSError: If it can't be opened, or is no regular file.
    """
    check_regular(path, follow=follow)
    file = FileIO(os.open(path, _READING if follow else _READING | _NO_LINKS))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise _not_regular(path)
    return file


def read_regular(path: Path, *, follow: bool = False, at_most: int | None = None) -> bytes:
    """Return the content of a regular file.

    Args:
        path: The file.
        follow: Whether it may be a symbolic link to one.
        at_most: How many bytes it may have; None for any number.

    Raises:
        OSError: If it can't be read, or is no regular file.
        ValueError: If it has too many bytes.
    """
    with open_regular(path, follow=follow) as file:
        if at_most is not None and (size := os.fstat(file.fileno()).st_size) > at_most:
            raise ValueError(f"it has {size:,} bytes, allowed are {at_most:,}")
        return file.read()


def check_regular(path: Path, *, follow: bool = False) -> int:
    """Return the size of a regular file.

    Args:
        path: The file.
        follow: Whether it may be a symbolic link to one.

    Raises:
        OSError: If it is not there, or is no regular file.
    """
    found = path.stat(follow_symlinks=follow)
    if not stat.S_ISREG(found.st_mode):
        raise _not_regular(path)
    return found.st_size


@contextlib.contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """Give a file beside another to write, and put it in its place when the block ends well.

    Raises:
        QueryError: If there is no such folder, or it can't be written to.
    """
    aside = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        if not path.parent.is_dir():
            raise QueryError(f"can't write {path}: there is no folder {path.parent}")
        try:
            yield aside
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        raise QueryError(f"can't write {path}: {error.strerror or error}") from error


def _not_regular(path: Path) -> OSError:
    return OSError(None, "it is no regular file: links, pipes and devices are refused", str(path))
