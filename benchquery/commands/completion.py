"""``benchquery completion``: a script that makes a shell complete commands, options and tables."""

from __future__ import annotations

import argparse
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.commands.options import add_command, print_done
from benchquery.table.store import tables

if TYPE_CHECKING:
    import shtab
else:
    shtab = LazyModule("shtab", extra="complete")

SHELLS = ("bash", "zsh", "fish")
_TABLES = MappingProxyType(
    {
        "bash": """
_graphtab_tables() { compgen -W "$(benchquery completion --tables 2>/dev/null)" -- "$1"; }
""",
        "zsh": """
_graphtab_tables() { compadd -- ${(f)"$(benchquery completion --tables 2>/dev/null)"}; }
""",
    }
)
"""How a shell completes the name of a table: it asks for those that there are."""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "completion",
        _run,
        "print a script that completes commands in a shell",
        'completion bash; to use it: eval "$(benchquery completion bash)"',
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("shell", nargs="?", choices=SHELLS, help="which shell")
    what.add_argument(
        "--tables", action="store_true", help="print the names of all tables, as the scripts ask"
    )


def _run(args: argparse.Namespace) -> None:
    if args.tables:
        names = [info.name for info in tables(args.source)]
        print_done({"tables": names}, "\n".join(names), as_json=args.json)
        return
    script = shtab.complete(args.parser, shell=args.shell, preamble=_TABLES.get(args.shell, ""))
    print_done({"shell": args.shell, "script": script}, script, as_json=args.json)
