"""Where the datasets are; apart from them, as they need torch and this does not."""

from __future__ import annotations

import os
from pathlib import Path

from benchquery.places import user_cache

ROOT_VARIABLE = "GRAPHTAB_DATA"


def named_root(root: Path | str | None = None) -> Path | None:
    """Return the folder that an argument or the variable GRAPHTAB_DATA names; None if none."""
    named = root if root is not None else os.environ.get(ROOT_VARIABLE)
    if not named:
        return None
    try:
        return Path(named).expanduser()
    except RuntimeError:
        return Path(named)


def data_root(root: Path | str | None = None) -> Path:
    """Return the folder datasets are read from and downloaded to.

    Args:
        root: The folder itself; if None, the environment variable GRAPHTAB_DATA; if that is
            unset too, ``graphtab/data`` in the user's cache folder.
    """
    return named_root(root) or user_cache() / "graphtab" / "data"
