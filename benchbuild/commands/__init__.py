"""The subcommands of ``benchbuild``: one file each, listed here.

Importing one is cheap; what it needs is imported when it runs.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from typing import Protocol, cast

COMMANDS = (
    "kinds.train.command",
    "commands.status",
    "commands.merge",
    "commands.verify",
    "commands.datasets",
    "kinds.train.inspect",
    "kinds.tune.command",
    "kinds.darts.command",
    "kinds.condense.command",
    "kinds.evaluate.command",
    "kinds.condense.plan",
    "commands.submit",
    "commands.slurm_script",
)


class Command(Protocol):
    """What a module of this package offers."""

    NAME: str
    HELP: str
    EXAMPLE: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare its arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; returns the exit code."""


def load() -> Iterator[Command]:
    """Import the subcommands."""
    for name in COMMANDS:
        yield cast(Command, importlib.import_module(f"benchbuild.{name}"))
