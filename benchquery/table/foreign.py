"""Tables in files of others: written over into the form that all tables here have.

A kind that knows such a file names a function that writes its table; nothing else about it is
special. ``benchquery.open`` does so aside, ``benchquery import`` to stay.
"""

from __future__ import annotations

from pathlib import Path

from benchquery.errors import TableNotFoundError
from benchquery.table.files import check_regular
from benchquery.table.kind import resolve
from benchquery.table.registry import kinds


def is_file(name: str | Path) -> bool:
    """Tell whether a name is that of a file: it has a folder or a suffix, and is there."""
    path = Path(name)
    return (path.name != str(name) or bool(path.suffix)) and path.is_file()


def write_foreign(file: Path, stage: Path) -> None:
    """Write the table that a file of others holds.

    Args:
        file: The file.
        stage: The folder to write the table into.

    Raises:
        TableNotFoundError: If it holds none that a kind knows.
        CorruptTableError: If it is cut short or damaged.
    """
    try:
        check_regular(file, follow=True)
        known = [kind for kind in kinds() if kind.foreign is not None]
        if any(resolve(str(kind.foreign))(file, stage) for kind in known):
            return
    except OSError as error:
        raise TableNotFoundError(f"{file} can't be read: {error.strerror}") from error
    raise TableNotFoundError(
        f"{file} is no table: files that can be read are those of "
        f"{', '.join(kind.many for kind in known) or 'no kind'}; other tables are folders"
    )
