"""Tables as one uploads them: the table itself, Parquet for other programs, cards, checksums."""

from __future__ import annotations

from benchbuild.publishing.folder import Published, publish
from benchbuild.publishing.registry import write_registry

__all__ = ["Published", "publish", "write_registry"]
