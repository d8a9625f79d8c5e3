"""One file from a mirror: resumed where it was cut off, and nothing but what was offered.

What has arrived of a file stands in a part file named after its checksum, so that another try, by
another process or from another mirror, goes on from there. A file is handed out only when its size
and SHA-256 fit; a part that turns out wrong is thrown away.
"""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import os
import shutil
import stat
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

from benchquery.errors import FetchError
from benchquery.table.files import open_regular
from benchquery.table.manifest import StoredFile, describe_file

Progress = Callable[[int], None]
"""Is told how many bytes have come in."""

TRIES = 3
"""How often in a row a mirror may cut a connection without having sent anything new."""

_TIMEOUT = 30.0
_CHUNK = 1 << 18
_PARTIAL, _UNSATISFIABLE = 206, 416
_FAULTS = (OSError, http.client.HTTPException, ValueError)


def transfer(
    addresses: Sequence[str],
    expected: StoredFile,
    parts: Path,
    target: Path,
    progress: Progress = lambda _: None,
) -> None:
    """Bring a file from the first mirror that has it as it was offered.

    Args:
        addresses: Addresses (http, https, file) or paths, the first choice first.
        expected: Its size and checksum.
        parts: The folder of parts.
        target: Where it shall be, on the same disk as the parts.
        progress: Is told of every piece.

    Raises:
        FetchError: If no address gives that file; the message has the reason of each.
    """
    parts.mkdir(parents=True, exist_ok=True)
    part, lock = (parts / f"{expected.sha256}.{what}" for what in ("part", "lock"))
    for path in (part, lock):
        if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
            path.unlink()  # a link would be followed, a pipe waited for
    reasons = []
    with _only_one(lock):
        for address in addresses:
            try:
                _bring(address, expected, part, progress)
            except _FAULTS as error:
                reasons.append(f"{address}: {_told(error)}")
                continue
            part.replace(target)
            return
    raise FetchError(
        f"{target.name} can't be had: {'; '.join(reasons) or 'there is no mirror to ask'}"
    )


def read_small(address: str, at_most: int) -> bytes:
    """Return the content of a small file.

    Raises:
        FetchError: If it can't be read, or has too many bytes.
    """
    try:
        with _opened(address, 0) as (source, _):
            content = source.read(at_most + 1)
    except _FAULTS as error:
        raise FetchError(f"{address} can't be read: {_told(error)}") from error
    if len(content) > at_most:
        raise FetchError(f"{address} has more than the {at_most:,} bytes that are allowed")
    return content


def _bring(address: str, expected: StoredFile, part: Path, progress: Progress) -> None:
    """Bring a file from an address: the rest of what is there, or all of it if that was wrong."""
    begun = part.exists()
    _complete(address, expected, part, progress)
    if begun and describe_file(part) != expected:
        part.unlink()
        _complete(address, expected, part, progress)
    if describe_file(part) != expected:
        part.unlink()
        raise ValueError("it has other bytes than were offered")


def _complete(address: str, expected: StoredFile, part: Path, progress: Progress) -> None:
    """Complete the part from an address, again where the connection is cut."""
    idle, most = 0, _size(part)
    while _size(part) < expected.bytes or not part.exists():
        cut: Exception | None = None
        try:
            _append(address, expected, part, progress)
        except (ConnectionError, TimeoutError, http.client.IncompleteRead) as error:
            cut = error
        idle = 0 if _size(part) > most else idle + 1
        most = max(most, _size(part))
        if idle == TRIES:
            raise cut or ValueError(f"it ends after {most:,} of {expected.bytes:,} bytes")


def _append(address: str, expected: StoredFile, part: Path, progress: Progress) -> None:
    """Add what an address sends of the rest of a file, and no more than is expected."""
    with _opened(address, _size(part)) as (source, start), part.open("ab") as file:
        file.truncate(start)
        progress(start)
        left = expected.bytes - start
        while left and (chunk := source.read(min(_CHUNK, left))):
            file.write(chunk)
            left -= len(chunk)
            progress(expected.bytes - left)
        if source.read(1):
            file.truncate(0)
            raise ValueError(f"it has more than the {expected.bytes:,} bytes that were offered")


@contextlib.contextmanager
def _opened(address: str, start: int) -> Iterator[tuple[IO[bytes], int]]:
    """Open an address from a byte on; says from which one it really is: 0 if it can't be asked."""
    if urlsplit(address).scheme in ("", "file"):
        path = Path(unquote(urlsplit(address).path) if "://" in address else address)
        with open_regular(path) as local:
            local.seek(start)
            yield local, start
        return
    request = urllib.request.Request(address)
    if start:
        request.add_header("Range", f"bytes={start}-")
    try:
        answer = _opener().open(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != _UNSATISFIABLE:
            raise
        answer = _opener().open(address, timeout=_TIMEOUT)
    with answer:
        says = answer.headers.get("Content-Range", "")
        resumed = answer.status == _PARTIAL and says.startswith(f"bytes {start}-")
        yield answer, start if resumed else 0


def _opener() -> urllib.request.OpenerDirector:
    """Return what opens http and https, and goes nowhere else when it is sent on."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


@contextlib.contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    """Let one process at a time work on a part; others wait."""
    with contextlib.ExitStack() as stack:
        while True:
            file = stack.enter_context(lock.open("w"))
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
            # Who held it before may have removed it, and another may have made a new one.
            if lock.exists() and os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                break
        yield
        lock.unlink(missing_ok=True)


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _told(error: Exception) -> str:
    """Return what a fault says, in a few words."""
    if isinstance(error, urllib.error.URLError) and not isinstance(error, urllib.error.HTTPError):
        return str(getattr(error.reason, "strerror", None) or error.reason)
    return str(getattr(error, "strerror", None) or error) or type(error).__name__


def free_bytes(folder: Path) -> int:
    """Return how much room the disk of a folder has."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(os.path.realpath(there)).free
