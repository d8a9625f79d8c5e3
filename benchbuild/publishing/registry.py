"""The registry of a folder of tables: what `benchquery fetch` reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import MappingProxyType

from benchbuild.errors import PublishError
from benchbuild.pipeline.files import write_whole
from benchquery.naming import whole_number
from benchquery.table.files import read_regular
from benchquery.table.manifest import MANIFEST, StoredFile, describe_file, read_manifest
from benchquery.table.offers import REGISTRY, Offer, Registry, check_mirror, parse_registry
from benchquery.table.store import table_folders

FIRST = "1"


def write_registry(
    folder: Path, names: Iterable[str] | None = None, *, mirrors: Sequence[str] = (".",)
) -> Registry:
    """Write the registry of the tables in a folder beside them.

    A table that a registry there has already keeps its version, if it is unchanged, and gets the
    next one otherwise.

    Args:
        folder: The folder of tables.
        names: The tables; None for all.
        mirrors: Where they can be had; relative ones are meant beside the registry.

    Raises:
        PublishError: If there is no such table, or a mirror is no address.
        CorruptTableError: If a manifest can't be read.
    """
    there = {path.name: path for path in table_folders(folder)}
    wanted = list(there if names is None else names)
    if missing := [name for name in wanted if name not in there]:
        raise PublishError(
            f"{folder} has no table {', '.join(map(repr, missing))}; there are: "
            f"{', '.join(there) or 'none'}"
        )
    try:
        asked = tuple(check_mirror(mirror) for mirror in mirrors)
    except ValueError as error:
        raise PublishError(str(error)) from error
    before = _read(folder / REGISTRY)
    offers = {name: _offer(there[name], before) for name in sorted(wanted)}
    registry = Registry(MappingProxyType(offers), asked)
    write_whole(folder / REGISTRY, registry.to_json().encode())
    return registry


def _read(path: Path) -> Registry:
    """Return the registry that is there; an empty one if there is none.

    Raises:
        PublishError: If it can't be read: its versions would be lost.
    """
    if not path.exists():
        return Registry({})
    try:
        return parse_registry(read_regular(path))
    except (OSError, ValueError) as error:
        raise PublishError(f"{path} is no registry: {error}; remove it to begin anew") from error


def _offer(table: Path, before: Registry) -> Offer:
    manifest, file = read_manifest(table), describe_file(table / MANIFEST)
    return Offer(
        name=table.name,
        version=_version(before.offers.get(table.name), file),
        dataset=manifest.dataset,
        kind=manifest.kind,
        rows=manifest.rows,
        bytes=file.bytes + sum(one.bytes for one in manifest.files.values()),
        manifest=file,
    )


def _version(before: Offer | None, manifest: StoredFile) -> str:
    """Return the version of a table: whole numbers, one up for every change."""
    if before is None:
        return FIRST
    number = whole_number(before.version)
    if before.manifest == manifest or number is None:
        return before.version
    return str(number + 1)
