"""``benchquery verify``: tables checked from end to end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchquery.commands.options import add_command, print_rows
from benchquery.errors import BenchQueryError
from benchquery.program import BAD_INPUT, one_line
from benchquery.table.store import find, table_folders, unread_files, verify


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "verify", _run, "check tables from end to end", "verify cora")
    parser.add_argument("tables", nargs="*", metavar="table", help="names or folders (all)")


def _run(args: argparse.Namespace) -> int:
    """Check one table after the other; one that is damaged is named, and the others go on."""
    rows: list[dict[str, Any]] = []
    asked: Sequence[str | Path] = args.tables or table_folders(args.source)
    for table in asked:
        try:
            rows.append(_verified(table, args.source))
        except (BenchQueryError, OSError) as error:
            said = str(getattr(error, "shell", None) or error)
            named = said if str(table) in said else f"{table}: {said}"
            print(f"benchquery: error: {one_line(named)}", file=sys.stderr)
    if rows or not asked:
        print_rows(rows, as_json=args.json)
    return 0 if len(rows) == len(asked) else BAD_INPUT


def _verified(table: str | Path, source: Path | None) -> dict[str, Any]:
    """Check a table, given by its name or folder, and return what is said of it."""
    folder = Path(table) if Path(table).is_dir() else find(table, source)
    manifest = verify(folder)
    unread = unread_files(manifest)
    status = f"ok, {' and '.join(unread)} by checksum alone (no h5py)" if unread else "ok"
    files = len(manifest.files)
    return {"table": folder.name, "rows": manifest.rows, "files": files, "status": status}
