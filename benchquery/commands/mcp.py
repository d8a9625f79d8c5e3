"""``benchquery mcp``: a read-only server through which agents ask the tables."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from benchquery.commands.options import add_command
from benchquery.errors import QueryError


def add(commands: Any) -> None:
    """Add the command."""
    add_command(
        commands,
        "mcp",
        _run,
        "serve the tables to agents over standard input and output (Model Context Protocol)",
        "mcp",
        source=False,
        json=False,
    )


def _run(args: argparse.Namespace) -> None:
    from benchquery.adapters.mcp import make_server

    if not all(hasattr(stream, "buffer") for stream in (sys.stdin, sys.stdout)):
        raise QueryError("an agent is spoken to over standard input and output; one is closed")
    try:
        make_server().run()
    except ExceptionGroup as group:
        fault: Exception = group
        while isinstance(fault, ExceptionGroup):
            fault = fault.exceptions[0]
        raise QueryError(f"the conversation with the agent broke off: {fault}") from group
