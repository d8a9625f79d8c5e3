"""The files of the page itself, as they are shipped with the package."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType

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


def read_assets() -> dict[str, bytes]:
    """Return the page's files by their path on the site."""
    return dict(_walk(resources.files(__package__) / "static", ""))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += _walk(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, entry.read_bytes()))
    return found
