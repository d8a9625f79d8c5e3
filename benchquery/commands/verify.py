"""``benchquery verify``: tables checked from end to end."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchquery.commands.options import add_command, print_rows
from benchquery.table.store import find, tables, unread_files, verify


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "verify", _run, "check tables from end to end", "verify cora")
    parser.add_argument("tables", nargs="*", metavar="table", help="names or folders (all)")


def _run(args: argparse.Namespace) -> None:
    named = [Path(name) if Path(name).is_dir() else find(name, args.source) for name in args.tables]
    rows = []
    for folder in named or [info.path for info in tables(args.source)]:
        manifest = verify(folder)
        unread = unread_files(manifest)
        status = f"ok, {' and '.join(unread)} by checksum alone (no h5py)" if unread else "ok"
        files = len(manifest.files)
        rows.append({"table": folder.name, "rows": manifest.rows, "files": files, "status": status})
    print_rows(rows, as_json=args.json)
