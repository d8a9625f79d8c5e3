"""Getting the files of a dataset through the library that publishes it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from benchbuild.errors import DatasetMissingError


def ensure_files(
    name: str, root: Path, files: tuple[str, ...], fetch: Callable[[Path], object]
) -> None:
    """Download a dataset unless all of its files are there.

    It is downloaded aside and each file renamed into place, so that none is there by half,
    whoever else downloads it at the same time.

    Args:
        name: The dataset, for the message.
        root: Data root.
        files: What has to be there, relative to the root.
        fetch: Downloads them into a data root that it is given.

    Raises:
        DatasetMissingError: If they are still missing afterwards.
    """
    if all((root / file).exists() for file in files):
        return
    reason = "it ended without them"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=root) as scratch:
            fetch(Path(scratch))
            for file in files:
                if (Path(scratch) / file).exists():
                    (root / file).parent.mkdir(parents=True, exist_ok=True)
                    (Path(scratch) / file).replace(root / file)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    for file in files:
        if not (root / file).exists():
            raise DatasetMissingError(name, root / file, reason)
