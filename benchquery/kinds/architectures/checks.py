"""What must hold of the rows of a table of architectures beside the checksums of its files."""

from __future__ import annotations

from pathlib import Path

from benchquery.errors import CorruptTableError
from benchquery.kinds.architectures.space import get_space
from benchquery.kinds.architectures.table import ArchTable
from benchquery.table.manifest import SUMMARY


def check_architectures(table: ArchTable, folder: Path) -> None:
    """Check every row of a table of architectures.

    Raises:
        CorruptTableError: If something does not fit; the message names it.
    """
    known = get_space(table.manifest.space)
    outside = [number for number in table if number not in known]
    if outside:
        raise CorruptTableError(
            f"{folder / SUMMARY} has {len(outside)} hashes that are not in the space "
            f"{table.manifest.space!r}, for example {outside[0]}"
        )
    if len(set(table)) != len(table):
        raise CorruptTableError(f"{folder / SUMMARY} has architectures twice")
