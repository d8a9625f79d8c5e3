"""Registries: files that say which tables can be fetched, and from where.

A registry names tables, and of each the version, the size, and the checksum of its manifest, which
in turn has those of all its other files. So whatever a mirror serves, what arrives is the table
that was offered or nothing. The registry itself carries a checksum as manifests do.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urljoin, urlsplit

from benchquery.table.files import read_regular
from benchquery.table.manifest import StoredFile, parse_file
from benchquery.table.sealed import parse_object, seal, unseal

REGISTRY = "registry.json"
"""What the file is called."""

_FORMAT = "graphtab-registry"
_VERSION = 1
_MARKS = {"format": _FORMAT, "registry_version": _VERSION}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
_SCHEMES = ("http", "https", "file")
_MOST_BYTES = 1 << 50


@dataclasses.dataclass(frozen=True)
class Offer:
    """A table that can be fetched.

    Attributes:
        name: What it is opened by.
        version: Changes when its content does.
        dataset: What its figures were measured on.
        kind: What its rows are.
        rows: How many rows it has.
        bytes: The size of all its files.
        manifest: Size and checksum of its manifest.
    """

    name: str
    version: str
    dataset: str
    kind: str
    rows: int
    bytes: int
    manifest: StoredFile


@dataclasses.dataclass(frozen=True)
class Registry:
    """Tables that can be fetched.

    Attributes:
        offers: By name.
        mirrors: Where they lie: addresses or folders that hold a folder of each table. Those that
            are relative are meant beside the registry; so is ``.``, its own folder.
    """

    offers: Mapping[str, Offer]
    mirrors: tuple[str, ...] = (".",)

    def to_json(self) -> str:
        """Return the text of the file."""
        tables = [dataclasses.asdict(self.offers[name]) for name in sorted(self.offers)]
        return seal({**_MARKS, "mirrors": list(self.mirrors), "tables": tables})


def parse_registry(content: str | bytes) -> Registry:
    """Read the content of a registry.

    Raises:
        ValueError: If something does not fit; the message says what.
    """
    body = unseal(parse_object(content))
    for name, value in _MARKS.items():
        if body.pop(name, None) != value:
            raise ValueError(f"its {name} is not {value!r}")
    if body.keys() != {"mirrors", "tables"} or not all(isinstance(v, list) for v in body.values()):
        raise ValueError("it has other fields than the lists mirrors and tables")
    for mirror in body["mirrors"]:
        check_mirror(mirror)
    offers = [_parse_offer(offer) for offer in body["tables"]]
    by_name = {offer.name: offer for offer in offers}
    if len(by_name) != len(offers):
        raise ValueError("it names a table twice")
    return Registry(MappingProxyType(by_name), tuple(body["mirrors"]))


def bundled_offers(folder: Path) -> Mapping[str, Offer]:
    """Return what the registry in a folder offers; nothing if there is none that can be read."""
    try:
        return parse_registry(read_regular(folder / REGISTRY)).offers
    except (OSError, ValueError):
        return {}


def check_mirror(mirror: Any) -> str:
    """Return an address or a folder, if it is one.

    Raises:
        ValueError: If it is no text, or of a scheme that nothing is fetched by.
    """
    if not isinstance(mirror, str) or not mirror or not mirror.isprintable():
        raise ValueError(f"the mirror {str(mirror)[:60]!r} is no address")
    if "://" in mirror and urlsplit(mirror).scheme not in _SCHEMES:
        raise ValueError(f"the mirror {mirror[:60]!r} is of none of: {', '.join(_SCHEMES)}")
    return mirror


def beside(place: str, mirror: str) -> str:
    """Return the address of a mirror that may be given relative to the place of its registry."""
    if "://" in mirror or mirror.startswith("/"):
        return mirror
    return urljoin(place, f"{mirror}/")


def _parse_offer(body: Any) -> Offer:
    names = {field.name for field in dataclasses.fields(Offer)}
    if not isinstance(body, dict) or body.keys() != names:
        raise ValueError(f"a table lacks or has other fields than {', '.join(sorted(names))}")
    if not isinstance(body["name"], str) or not _NAME.fullmatch(body["name"]):
        raise ValueError(f"{str(body['name'])[:60]!r} is no name of a table")
    for name in ("version", "dataset", "kind"):
        if not isinstance(body[name], str) or not body[name] or not body[name].isprintable():
            raise ValueError(f"the {name} of {body['name']!r} is no printable text")
    for name in ("rows", "bytes"):
        if type(body[name]) is not int or not 0 <= body[name] <= _MOST_BYTES:
            raise ValueError(f"the {name} of {body['name']!r} are no whole number that can be")
    return Offer(**{**body, "manifest": parse_file("its manifest", body["manifest"])})
