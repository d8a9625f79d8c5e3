"""Every error that benchquery raises on purpose, under one root.

Each message names the thing that was wrong, what is allowed and, where there is
one, the next step. The command line prints the message alone and exits with 2.
"""

from __future__ import annotations


class BenchQueryError(Exception):
    """Root of all errors raised by benchquery.

    Args:
        message: What is wrong, what is allowed and what to do next.
        shell: The same in terms of the command line, where that is another advice.
    """

    def __init__(self, message: str = "", shell: str | None = None) -> None:
        super().__init__(message)
        self.shell = shell

    def __str__(self) -> str:
        """Return the message as written (KeyError would quote it)."""
        return str(self.args[0]) if self.args else ""


class ArchitectureError(BenchQueryError, ValueError):
    """A link list or an operation list describes no architecture."""


class AllSkipError(ArchitectureError):
    """Four skips compute nothing: the one raw form that is in no space."""


class UnknownHashError(BenchQueryError, KeyError):
    """Something is the hash of no architecture or configuration, or of none in this table."""


class UnknownNameError(BenchQueryError, KeyError):
    """A space, column, sampling scheme or encoding has no such name."""


class TableNotFoundError(BenchQueryError, KeyError):
    """No source holds a table of this name."""


class TableKindError(TableNotFoundError):
    """A table is there, but its rows are of another kind than asked for."""


class KindError(BenchQueryError):
    """A kind of table that no installed package has, or that is not what it must be."""


class CorruptTableError(BenchQueryError):
    """A file differs from what its manifest says, is truncated or unreadable."""


class SchemaVersionError(BenchQueryError):
    """A table was written in a layout that this version does not know."""


class FetchError(BenchQueryError):
    """A table can't be fetched: it is not offered, or no mirror gives it as it was offered."""


class UnsafePickleError(BenchQueryError):
    """A pickle asks for something other than plain data, so it is not opened."""


class ConfigError(BenchQueryError, ValueError):
    """A condensation or evaluation is not configured in a way that exists."""


class QueryError(BenchQueryError, ValueError):
    """A query asks for something that a table can't answer."""


class BudgetExhaustedError(BenchQueryError):
    """A search has used up its budget, and is over."""


class StrategyError(BenchQueryError):
    """A search strategy did what no search allows, such as asking for an unknown architecture."""


class MissingPackageError(BenchQueryError, ImportError):
    """An optional package is needed for this and is not installed."""
