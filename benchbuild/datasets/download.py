"""Getting the files of a dataset through the library that publishes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchbuild.errors import DatasetMissingError


def ensure_files(
    name: str, root: Path, files: tuple[str, ...], fetch: Callable[[], object]
) -> None:
    """Downloads a dataset unless all of its files are there.

    Args:
        name: The dataset, for the message.
        root: Data root.
        files: What has to be there, relative to the root.
        fetch: Downloads them.

    Raises:
        DatasetMissingError: If they are still missing afterwards.
    """
    missing = [root / file for file in files if not (root / file).exists()]
    if not missing:
        return
    reason = "it ended without them"
    try:
        fetch()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    for path in missing:
        if not path.exists():
            raise DatasetMissingError(name, path, reason)
