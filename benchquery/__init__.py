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
    from benchquery.arch import LINKS, OPS, Arch
    from benchquery.condensed import CondensedTable
    from benchquery.config import CondenseConfig, EvalConfig
    from benchquery.errors import BenchQueryError
    from benchquery.rows import Record
    from benchquery.space import SPACES, Space, get_space
    from benchquery.store import TableInfo, condread, find, lightread, read, tables, verify
    from benchquery.table import ArchTable

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
    "arch": ("LINKS", "OPS", "Arch"),
    "condensed": ("CondensedTable",),
    "config": ("CondenseConfig", "EvalConfig"),
    "errors": ("BenchQueryError",),
    "rows": ("Record",),
    "space": ("SPACES", "Space", "get_space"),
    "store": ("TableInfo", "condread", "find", "lightread", "read", "tables", "verify"),
    "table": ("ArchTable",),
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
