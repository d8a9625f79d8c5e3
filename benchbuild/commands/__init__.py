"""The subcommands of ``benchbuild``: one file each, listed here.

Importing one is cheap; what it needs is imported when it runs.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from typing import Protocol, cast

COMMANDS = (
    "train",
    "status",
    "merge",
    "verify",
    "datasets",
    "inspect",
    "tune",
    "darts",
    "condense",
    "evaluate",
    "plan",
    "submit",
    "slurm_script",
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
        yield cast(Command, importlib.import_module(f"benchbuild.commands.{name}"))
