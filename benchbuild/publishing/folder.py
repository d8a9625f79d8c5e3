"""A folder to upload: whole or not there."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from benchbuild.errors import PublishError
from benchbuild.pipeline.files import make_folder
from benchbuild.publishing.card import card
from benchbuild.publishing.citation import CITATION, citation
from benchbuild.publishing.croissant import CROISSANT, croissant
from benchbuild.publishing.facts import lay_out
from benchbuild.publishing.registry import write_registry
from benchquery.table.manifest import MANIFEST, StoredFile, describe_file
from benchquery.table.stage import new_stage, recover
from benchquery.table.store import verify

SUMS, CARD = "SHA256SUMS", "README.md"


@dataclasses.dataclass(frozen=True)
class Published:
    """What was written.

    Attributes:
        folder: The folder to upload.
        tables: The names of its tables.
        files: How many files there are.
    """

    folder: Path
    tables: tuple[str, ...]
    files: int


def publish(
    tables: Sequence[Path],
    out: Path,
    *,
    title: str,
    author: str,
    licence: str | None = None,
    mirrors: Sequence[str] = (".",),
    address: str = ".",
) -> Published:
    """Write all that one uploads of some tables.

    Args:
        tables: Their folders; each is verified first.
        out: The folder to write, which must not be there.
        title: What they are called together.
        author: Who publishes them.
        licence: An SPDX name; None for the one that all of them have.
        mirrors: Where the tables will lie; ``.`` is beside the registry.
        address: Where the folder will lie, for the metadata.

    Raises:
        PublishError: If the folder is there or can't be made, there is no table, two have one name,
            or licences differ.
        CorruptTableError: If a table is damaged.
    """
    if not tables:
        raise PublishError("there is no table to publish; name one or more")
    names = [Path(os.path.realpath(table)).name for table in tables]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise PublishError(f"two tables are called {', '.join(twice)}")
    licence = licence or _licence(tables)
    if out.exists():
        raise PublishError(f"{out} exists already; name another folder or remove it first")
    make_folder(out.parent)
    recover(out)
    with new_stage(out) as stage:
        for name, table in zip(names, tables, strict=True):
            (stage / name).mkdir()
            for file in (MANIFEST, *verify(table).files):
                shutil.copyfile(table / file, stage / name / file)
            verify(stage / name)
        laid_out = [lay_out(name, stage / name, stage) for name in names]
        write_registry(stage, mirrors=mirrors)
        (stage / CARD).write_text(card(title, laid_out, licence), encoding="utf-8")
        (stage / CITATION).write_text(citation(title, laid_out, author, licence), encoding="utf-8")
        described = croissant(title, laid_out, _files(stage), licence=licence, address=address)
        (stage / CROISSANT).write_text(described, encoding="utf-8")
        files = _files(stage)
        sums = "".join(f"{file.sha256}  {path}\n" for path, file in files.items())
        (stage / SUMS).write_text(sums, encoding="utf-8")
        stage.chmod(0o755)
        stage.rename(out)
    return Published(out, tuple(names), len(files) + 1)


def _licence(tables: Sequence[Path]) -> str:
    """Return the licence that all tables have."""
    found = sorted({verify(table).licence for table in tables})
    if len(found) != 1:
        raise PublishError(f"the tables have several licences ({', '.join(found)}); name one")
    return found[0]


def _files(folder: Path) -> dict[str, StoredFile]:
    """Return all files below a folder by their relative path."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): describe_file(path) for path in paths}
