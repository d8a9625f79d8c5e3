"""``benchbuild registry``: write the file that says which tables a folder offers."""

from __future__ import annotations

import argparse
from pathlib import Path

NAME = "registry"
HELP = "write the registry of a folder of tables, for benchquery fetch"
EXAMPLE = "benchbuild registry tables --mirror https://example.org/tables"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of tables")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="names; default: all of them")
    parser.add_argument(
        "--mirror", action="append", metavar="M",
        help="where the tables can be had; default: beside the registry; may be repeated",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Write it, and say what it offers."""
    from benchbuild.publishing import write_registry
    from benchquery.table.offers import REGISTRY

    registry = write_registry(args.folder, args.tables or None, mirrors=args.mirror or (".",))
    print(f"{args.folder / REGISTRY}: {len(registry.offers)} tables")
    return 0
