"""Tables fetched from registries into the user's cache, whole or not at all."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from benchquery.errors import BenchQueryError, CorruptTableError, FetchError
from benchquery.naming import match_name, suggestion
from benchquery.places import fetched_tables
from benchquery.remote.transfer import free_bytes, read_small, transfer
from benchquery.table.manifest import MANIFEST, StoredFile, describe_file, read_manifest
from benchquery.table.offers import (
    REGISTRY,
    Offer,
    Registry,
    beside,
    check_mirror,
    parse_registry,
)
from benchquery.table.store import BUNDLED, verify
from benchquery.table.writer import new_table

REGISTRY_VARIABLE = "GRAPHTAB_REGISTRY"
MIRRORS_VARIABLE = "GRAPHTAB_MIRRORS"
"""Mirrors to ask before those of a registry, with spaces between them."""

_LARGEST_REGISTRY = 1 << 24
_PARTS = ".parts"

Told = Callable[[str, int, int], None]
"""Is told of a file: its name, how many bytes are there, how many there will be."""


@dataclasses.dataclass(frozen=True)
class Fetched:
    """What came of fetching a table.

    Attributes:
        name: The table.
        path: Its folder.
        new: Whether it was brought now; it may have been there.
    """

    name: str
    path: Path
    new: bool


def offers(registry: str | os.PathLike[str] | None = None) -> Registry:
    """Read a registry.

    Args:
        registry: An address, a file, or a folder that has one; None for the one that the variable
            GRAPHTAB_REGISTRY names, or else the one that comes with the package.

    Raises:
        FetchError: If it can't be read, or is no registry.
    """
    return _read(_address(registry))


def fetch(
    name: str,
    registry: str | os.PathLike[str] | None = None,
    *,
    mirrors: Sequence[str | os.PathLike[str]] = (),
    to: str | os.PathLike[str] | None = None,
    told: Told = lambda *_: None,
) -> Fetched:
    """Bring a table into the cache, from where it then opens by its name without a network.

    What was cut off goes on where it was. A table that is there and of the version that is offered
    is left as it is; one of another version is replaced when the new one is whole.

    Args:
        name: A table that the registry offers.
        registry: As for `offers`.
        mirrors: Addresses or folders to ask before those of the registry.
        to: The folder to put it in; None for the user's cache, where tables are looked for.
        told: Is told of every piece that comes in.

    Raises:
        FetchError: If the registry does not offer it, no mirror gives it, or the folder has too
            little room or can't be written to.
        CorruptTableError: If what is offered is no sound table.
    """
    address = _address(registry)
    offer = _offer(_read(address), name, address)
    home = fetched_tables() if to is None else Path(to)
    for place in (home, *([BUNDLED] if to is None else [])):
        if _has(place / offer.name, offer):
            return Fetched(offer.name, place / offer.name, new=False)
    bases = _bases(address, mirrors)
    try:
        _check_room(home, offer)
        _bring(offer, home, [f"{base.rstrip('/')}/{offer.name}" for base in bases], told)
    except BenchQueryError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FetchError(f"can't put {offer.name!r} into {home}: {reason}") from error
    return Fetched(offer.name, home / offer.name, new=True)


def _bring(offer: Offer, home: Path, mirrors: Sequence[str], told: Told) -> None:
    """Bring a table into a folder, whole or not at all."""
    with new_table(home / offer.name, replace=True) as stage:

        def bring(file: str, expected: StoredFile) -> None:
            transfer(
                [f"{mirror}/{file}" for mirror in mirrors],
                expected,
                home / _PARTS,
                stage / file,
                lambda done: told(file, done, expected.bytes),
            )

        bring(MANIFEST, offer.manifest)
        files = read_manifest(stage).files
        size = offer.manifest.bytes + sum(file.bytes for file in files.values())
        if size != offer.bytes:
            raise FetchError(f"{offer.name!r} has {size:,} bytes, offered were {offer.bytes:,}")
        for file, expected in files.items():
            bring(file, expected)
        verify(stage)


def _address(registry: str | os.PathLike[str] | None) -> str:
    """Return where a registry lies, as an address or the path of a file."""
    named = registry or os.environ.get(REGISTRY_VARIABLE) or BUNDLED
    text = os.fspath(named)
    if "://" in text:
        return text
    path = Path(text)
    with contextlib.suppress(OSError):  # a name that is too long is not that of a folder
        path = path / REGISTRY if path.is_dir() else path
    return str(path.absolute())


def _read(address: str) -> Registry:
    content = read_small(address, _LARGEST_REGISTRY)
    try:
        return parse_registry(content)
    except ValueError as error:
        raise FetchError(f"{address} is no registry of tables: {error}") from error


def _offer(registry: Registry, name: str, address: str) -> Offer:
    meant = match_name(name, registry.offers)
    if meant is None:
        raise FetchError(
            f"{address} offers no table {name!r}{suggestion(name, registry.offers) or ';'} "
            f"it offers: {', '.join(registry.offers) or 'none'}"
        )
    return registry.offers[meant]


def _bases(address: str, mirrors: Sequence[str | os.PathLike[str]]) -> list[str]:
    """List the places to ask, in order: those that are named, then those of the registry."""
    given = [os.fspath(mirror) for mirror in mirrors]
    named = [*given, *os.environ.get(MIRRORS_VARIABLE, "").split()]
    try:
        asked = [check_mirror(mirror) for mirror in named]
    except ValueError as error:
        raise FetchError(str(error)) from error
    return [*asked, *(beside(address, mirror) for mirror in _read(address).mirrors)]


def _has(folder: Path, offer: Offer) -> bool:
    """Tell whether a folder holds the table in the version that is offered."""
    try:
        return describe_file(folder / MANIFEST) == offer.manifest and bool(verify(folder))
    except (OSError, ValueError, CorruptTableError):
        return False


def _check_room(home: Path, offer: Offer) -> None:
    if (free := free_bytes(home)) < offer.bytes:
        raise FetchError(
            f"{offer.name!r} takes {offer.bytes:,} bytes, and the disk of {home} has {free:,} free"
        )
