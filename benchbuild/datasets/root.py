"""Where the datasets are; apart from them, as they need torch and this does not."""

from __future__ import annotations

import os
from pathlib import Path

ROOT_VARIABLE = "GRAPHTAB_DATA"


def named_root(root: Path | str | None = None) -> Path | None:
    """Return the folder that an argument or the variable GRAPHTAB_DATA names; None if none."""
    named = root if root is not None else os.environ.get(ROOT_VARIABLE)
    return Path(named).expanduser() if named else None


def data_root(root: Path | str | None = None) -> Path:
    """Return the folder datasets are read from and downloaded to.

    Args:
        root: The folder itself; if None, the environment variable GRAPHTAB_DATA; if that is
            unset too, ``graphtab/data`` in the user's cache folder.
    """
    if named := named_root(root):
        return named
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "graphtab" / "data"
