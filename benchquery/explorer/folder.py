"""The explorer as a folder of files that any web server can host."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from benchquery.errors import QueryError
from benchquery.explorer.site import Site


def write_site(site: Site, folder: Path) -> int:
    """Write all files of a site, with the figures of its tables, to a new folder.

    The folder is written aside and renamed, so it is there whole or not at all.

    Returns:
        The number of files.

    Raises:
        QueryError: If something is already there, or the folder can't be made.
    """
    if folder.exists():
        raise QueryError(f"{folder} exists already; name another folder or remove it first")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise QueryError(f"can't write {folder}: {error.strerror}") from error
    try:
        paths = list(site.paths())
        for path in paths:
            file = stage / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(site.read(path).body)
        stage.chmod(0o755)
        stage.rename(folder)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return len(paths)
