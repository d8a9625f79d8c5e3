"""The files of the page itself, and those that kinds add to it, as packages ship them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from types import MappingProxyType

from benchquery.table.kind import Reference

MEDIA_TYPES = MappingProxyType(
    {
        ".html": "text/html; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".svg": "image/svg+xml",
        ".txt": "text/plain; charset=utf-8",
        ".json": "application/json",
        ".gz": "application/gzip",
    }
)
"""By the ending of a file's name: what it is sent as."""

_LINKS = MappingProxyType(
    {
        ".css": '<link rel="stylesheet" href="{}">\n',
        ".js": '<link rel="modulepreload" href="{}">\n',
    }
)
_END_OF_HEAD = "</head>"


def read_folder(folder: Reference, prefix: str = "") -> dict[str, bytes]:
    """Return the files of a folder that a package ships, by their path on the site.

    Args:
        folder: The package and the folder in it, ``package:folder``.
        prefix: What the paths start with.

    Raises:
        OSError: If there is no such folder.
        ImportError: If there is no such package.
    """
    package, _, name = folder.partition(":")
    files = _walk(resources.files(package) / name, prefix)
    return {path: body for path, body in files if PurePosixPath(path).suffix in MEDIA_TYPES}


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += _walk(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, entry.read_bytes()))
    return found


def with_links(page: bytes, paths: Iterable[str]) -> bytes:
    """Return the page with links to the scripts and style sheets that kinds add.

    Scripts are only loaded ahead: it is the page that runs them.
    """
    links = [_LINKS.get(PurePosixPath(path).suffix, "").format(path) for path in paths]
    return page.decode().replace(_END_OF_HEAD, "".join(links) + _END_OF_HEAD, 1).encode()
