"""The commands of ``benchquery``: one file each, with its options and what it prints.

Those here serve every kind of table; kinds bring commands of their own.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, Protocol, cast

from benchquery.table.registry import kinds

COMMANDS = (
    "ls", "datasets", "show", "top", "pareto", "search", "standings", "plot", "report", "explore",
    "export", "import_", "fetch", "verify", "mcp", "completion",
)  # fmt: skip
"""In the order of the help text; each has ``add(commands)``."""


class Command(Protocol):
    """What a module of a command offers."""

    def add(self, commands: Any) -> None:
        """Add the command to the parser."""


def load_commands() -> Iterator[Command]:
    """Import the commands: those of every table, then those of the kinds."""
    own = [f"{__name__}.{name}" for name in COMMANDS]
    of_kinds = [module for kind in kinds() for module in kind.commands]
    for module in (*own, *of_kinds):
        yield cast(Command, importlib.import_module(module))
