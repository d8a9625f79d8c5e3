"""The subcommands of ``benchbuild``: those that serve every kind, and those that kinds bring.

Importing one is cheap; what it needs is imported when it runs.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from benchbuild.errors import KindError
from benchbuild.pipeline.jobs import AnyKind, AnyRun
from benchbuild.pipeline.registry import kinds

GENERAL = ("status", "merge", "verify", "datasets", "publish", "registry")
"""Modules of this package whose commands stand after the first one of a kind."""
CLUSTER = ("submit", "slurm_script")
"""Modules of this package whose commands stand last."""


class Command(Protocol):
    """What the module of a subcommand offers."""

    NAME: str
    HELP: str
    EXAMPLE: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare its arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; returns the exit code."""


class Runner(Command, Protocol):
    """A subcommand that runs shards: it has the options of `add_shard` and `add_engine`."""

    def described(self, args: argparse.Namespace) -> AnyRun:
        """Return the run that the options describe."""


@dataclass(frozen=True)
class Program:
    """The whole command, for subcommands that run others; they find it in ``args.program``.

    Attributes:
        parse: Reads a command line.
        main: Runs a command line and returns its exit code.
    """

    parse: Callable[[Sequence[str]], argparse.Namespace]
    main: Callable[[Sequence[str]], int]


def load() -> Iterator[Command]:
    """Import the subcommands in the order in which the help lists them."""
    first, *others = _of_kinds()
    yield first
    yield from (_import(f"{__name__}.{name}") for name in GENERAL)
    yield from others
    yield from (_import(f"{__name__}.{name}") for name in CLUSTER)


def runners() -> dict[str, Runner]:
    """Import the subcommands that can run shards, by name; the first one is the usual one."""
    return {
        command.NAME: cast(Runner, command)
        for command in _of_kinds()
        if hasattr(command, "described")
    }


def _of_kinds() -> Iterator[Command]:
    for kind in kinds():
        yield from (_of_kind(kind, module) for module in kind.commands)


def _of_kind(kind: AnyKind, module: str) -> Command:
    """Import a subcommand of a kind.

    Raises:
        KindError: If it can't be imported.
    """
    try:
        return _import(module)
    except ImportError as error:
        raise KindError(
            f"kind of job {kind.name!r}: can't import its command {module}: {error}"
        ) from error


def _import(module: str) -> Command:
    return cast(Command, importlib.import_module(module))
