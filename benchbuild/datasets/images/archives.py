"""Files of an archive, read in place: nothing is unpacked, so that no path can lead elsewhere."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from benchbuild.errors import DatasetError

_DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError)
_BLOCK = 1 << 20


def read_folder(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Return the content of some files of a folder by name."""
    return {name: (folder / name).read_bytes() for name in names}


def read_tar(path: Path, folder: str, names: Iterable[str]) -> dict[str, bytes]:
    """Return the content of some files of a ``.tar.gz`` by name.

    Args:
        path: The archive.
        folder: The folder of the archive that they are in.
        names: Their names.

    Raises:
        DatasetError: If the archive is damaged or lacks one.
    """
    wanted = {f"{folder}/{name}": name for name in names}
    found: dict[str, bytes] = {}
    try:
        with gzip.open(path) as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.name in wanted else None
                if file is not None:
                    found[wanted[member.name]] = file.read()
            while stream.read(_BLOCK):
                """To its very end, where its checksum is."""
    except _DAMAGE as error:
        raise damaged(path, error) from error
    for full, name in wanted.items():
        if name not in found:
            raise DatasetError(f"{path} is damaged: it has no {full}")
    return found


def open_zip(path: Path, folder: str) -> zipfile.Path:
    """Return a folder of a ``.zip``, which is read like any other.

    Raises:
        DatasetError: If the archive is damaged.
    """
    try:
        return zipfile.Path(path, f"{folder}/")
    except _DAMAGE as error:
        raise damaged(path, error) from error


def damaged(path: Path, error: Exception) -> DatasetError:
    """Return the error on a file that can't be read."""
    return DatasetError(f"{path} is damaged or cut short: {type(error).__name__}: {error}")
