"""Tables of graph-learning experiments that nobody should have to run twice.

Example:
    >>> from benchquery import Arch, lightread
    >>> bench = lightread("cora")
    >>> arch = Arch([0, 1, 2, 1], ["gcn", "gin", "fc", "cheb"])
    >>> bench[arch.valid_hash()]["perf"]
    0.8046666666666668
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchquery.errors import BenchQueryError
    from benchquery.kinds.architectures.arch import LINKS, OPS, Arch
    from benchquery.kinds.architectures.reading import lightread, read
    from benchquery.kinds.architectures.space import SPACES, Space, get_space
    from benchquery.kinds.architectures.table import ArchTable
    from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig
    from benchquery.kinds.condensed.reading import condread
    from benchquery.kinds.condensed.table import CondensedTable
    from benchquery.kinds.weights.reading import read_weights
    from benchquery.kinds.weights.table import WeightTable
    from benchquery.remote.fetch import fetch
    from benchquery.table.kind import Picture, TableKind
    from benchquery.table.record import Record
    from benchquery.table.rows import RowTable
    from benchquery.table.schema import Column
    from benchquery.table.store import TableInfo, find, tables, verify
    from benchquery.table.store import open_table as open

__version__ = "0.1.0"

_HOMES = {
    "errors": ("BenchQueryError",),
    "kinds.architectures.arch": ("LINKS", "OPS", "Arch"),
    "kinds.architectures.reading": ("lightread", "read"),
    "kinds.architectures.space": ("SPACES", "Space", "get_space"),
    "kinds.architectures.table": ("ArchTable",),
    "kinds.condensed.config": ("CondenseConfig", "EvalConfig"),
    "kinds.condensed.reading": ("condread",),
    "kinds.condensed.table": ("CondensedTable",),
    "kinds.weights.reading": ("read_weights",),
    "kinds.weights.table": ("WeightTable",),
    "remote.fetch": ("fetch",),
    "table.kind": ("Picture", "TableKind"),
    "table.record": ("Record",),
    "table.rows": ("RowTable",),
    "table.schema": ("Column",),
    "table.store": ("TableInfo", "find", "open", "tables", "verify"),
}
_NAMES = {"open": "open_table"}
"""Public names that their modules have under another."""
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


__all__ = [
    "LINKS",
    "OPS",
    "SPACES",
    "Arch",
    "ArchTable",
    "BenchQueryError",
    "Column",
    "CondenseConfig",
    "CondensedTable",
    "EvalConfig",
    "Picture",
    "Record",
    "RowTable",
    "Space",
    "TableInfo",
    "TableKind",
    "WeightTable",
    "condread",
    "fetch",
    "find",
    "get_space",
    "lightread",
    "open",
    "read",
    "read_weights",
    "tables",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOME_OF[name]}")
    value = getattr(home, _NAMES.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
