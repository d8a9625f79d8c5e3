"""``benchbuild publish``: write what one uploads of some tables."""

from __future__ import annotations

import argparse
from pathlib import Path

NAME = "publish"
HELP = "write a folder to upload: tables, Parquet for the network, a card, metadata, checksums"
EXAMPLE = "benchbuild publish tables/karate --out upload --title Karate --author Ours"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("tables", type=Path, nargs="+", metavar="TABLE", help="folders of tables")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    parser.add_argument("--title", required=True, help="what the tables are called together")
    parser.add_argument("--author", required=True, help="who publishes them")
    parser.add_argument("--licence", help="an SPDX name; default: the one that all of them have")
    parser.add_argument("--address", default=".", help="where the folder will lie")
    parser.add_argument(
        "--mirror", action="append", metavar="M",
        help="where the tables will lie; default: beside the registry; may be repeated",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Write the folder, and say what is in it."""
    from benchbuild.publishing import publish

    done = publish(
        args.tables,
        args.out,
        title=args.title,
        author=args.author,
        licence=args.licence,
        mirrors=args.mirror or (".",),
        address=args.address,
    )
    print(f"{done.folder}: {', '.join(done.tables)}, {done.files} files to upload")
    return 0
