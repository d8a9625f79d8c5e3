"""Folders of the user that both packages keep things in."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """Return the user's cache folder; for a user without a home, one in the working folder."""
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named)
    try:
        return Path.home() / ".cache"
    except RuntimeError:
        return Path.cwd() / ".cache"


def fetched_tables() -> Path:
    """Return the folder of tables that were fetched: ``graphtab/tables`` in the user's cache."""
    return user_cache() / "graphtab" / "tables"
