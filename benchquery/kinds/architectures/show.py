"""An architecture as text for people: drawn, with its figures and where it stands."""

from __future__ import annotations

from benchquery.kinds.architectures.arch import Arch
from benchquery.kinds.architectures.table import ArchTable


def show_architecture(table: ArchTable, row: int) -> str:
    """Return the heading of an architecture: what it is, and its drawing."""
    arch = Arch.from_hash(int(table.hashes[row]))
    return f"{arch!r} on {table.name} ({table.manifest.origin})\n\n{arch.draw()}"
