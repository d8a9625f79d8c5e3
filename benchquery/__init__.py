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
    from benchquery.kinds.architectures.space import SPACES, Space, get_space
    from benchquery.kinds.architectures.table import ArchTable
    from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig
    from benchquery.kinds.condensed.table import CondensedTable
    from benchquery.table.rows import Record
    from benchquery.table.store import TableInfo, condread, find, lightread, read, tables, verify

__version__ = "0.1.0"

__all__ = [
    "LINKS",
    "OPS",
    "SPACES",
    "Arch",
    "ArchTable",
    "BenchQueryError",
    "CondenseConfig",
    "CondensedTable",
    "EvalConfig",
    "Record",
    "Space",
    "TableInfo",
    "condread",
    "find",
    "get_space",
    "lightread",
    "read",
    "tables",
    "verify",
]

_HOMES = {
    "kinds.architectures.arch": ("LINKS", "OPS", "Arch"),
    "kinds.condensed.table": ("CondensedTable",),
    "kinds.condensed.config": ("CondenseConfig", "EvalConfig"),
    "errors": ("BenchQueryError",),
    "table.rows": ("Record",),
    "kinds.architectures.space": ("SPACES", "Space", "get_space"),
    "table.store": ("TableInfo", "condread", "find", "lightread", "read", "tables", "verify"),
    "kinds.architectures.table": ("ArchTable",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
