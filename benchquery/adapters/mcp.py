"""Tables for agents: a read-only server of the Model Context Protocol.

An agent that is asked which network is best can ask the tables instead of guessing. The server has
one tool for each question; none of them writes anything, opens anything that is no table, or runs
what it is sent. Conditions are those of `where`, which are no code. Test figures are in the rows,
but rankings go by validation, as everywhere.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from benchquery import __version__
from benchquery._imports import LazyModule
from benchquery.errors import BenchQueryError, QueryError
from benchquery.table.rows import RowTable
from benchquery.table.store import find, open_folder, tables
from benchquery.text import to_plain

if TYPE_CHECKING:
    import mcp.server.mcpserver as mcp_server
    import mcp.server.mcpserver.exceptions as mcp_errors
    import mcp_types
else:
    mcp_server = LazyModule("mcp.server.mcpserver", extra="mcp")
    mcp_errors = LazyModule("mcp.server.mcpserver.exceptions", extra="mcp")
    mcp_types = LazyModule("mcp_types", extra="mcp")

MOST_ROWS = 100
"""How many rows one answer may have."""

_INSTRUCTIONS = (
    "Tables of graph-learning experiments. Begin with list_tables, then describe_table. Rows are "
    "ranked by validation figures; 'perf' is measured on test data and is for reports."
)
_P = ParamSpec("_P")
_R = TypeVar("_R")
Row = dict[str, Any]


def make_server() -> mcp_server.MCPServer[Any]:
    """Return the server, with a tool for each question.

    Raises:
        MissingPackageError: If the package ``mcp`` is not installed.
    """
    server = mcp_server.MCPServer("graphtab", version=__version__, instructions=_INSTRUCTIONS)
    hints = mcp_types.ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    for tool in (list_tables, describe_table, look_up, top, where, compare, regret):
        server.add_tool(_told(tool), annotations=hints)
    return server


def _told(tool: Callable[_P, _R]) -> Callable[_P, _R]:
    """Hand errors of this project to the agent, in their own words."""

    @functools.wraps(tool)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return tool(*args, **kwargs)
        except BenchQueryError as error:
            raise mcp_errors.ToolError(str(error)) from error

    return run


def list_tables() -> list[Row]:
    """List the tables: name, dataset, what a row is, number of rows, origin of the figures."""
    names = ("name", "dataset", "kind", "rows", "origin", "metric")
    return [{name: getattr(info, name) for name in names} for info in tables(left_out=[])]


def describe_table(table: str) -> Row:
    """Describe a table: its columns with unit, split and direction, its key, and known faults."""
    opened = _open(table)
    return {
        "name": opened.name,
        "rows": opened.num_rows,
        "row_is": opened.kind.one,
        "key": list(opened.kind.key),
        "ranked_by": opened.ranking_column(),
        "notes": list(opened.manifest.notes),
        "columns": [
            {
                "name": column.name,
                "unit": column.unit,
                "split": column.split,
                "better": column.direction,
                "what": column.description,
            }
            for column in map(opened.described, opened.columns)
        ],
    }


def look_up(table: str, values: dict[str, str]) -> Row:
    """Look one row up by values of its columns.

    Examples of values: {"hash": "61237"}, {"link": "0,1,2,1", "ops": "gcn,gin,fc,cheb"}, or of a
    table of condensed graphs {"method": "gcond", "ratio": "0.026", "seed": "1"}.
    """
    opened = _open(table)
    return _ranked(opened, opened.pick(**values), None)


def top(
    table: str, k: int = 10, by: str | None = None, conditions: list[str] | None = None
) -> list[Row]:
    """Return the best rows among those that fulfil all conditions, the best first.

    Args:
        table: The table.
        k: How many, at most 100.
        by: The column to rank by; the validation figure if none is named.
        conditions: Such as "latency < 0.002", "gat == 0" or "method == gcond".
    """
    chosen = _open(table).where(*conditions or ()).top(_few(k), by)
    return [_brief(chosen, record) for record in chosen.records()]


def where(table: str, conditions: list[str], limit: int = 20) -> Row:
    """Count the rows that fulfil all conditions, and return the first of them."""
    chosen = _open(table).where(*conditions)
    first = chosen.take(list(range(min(_few(limit), chosen.num_rows))))
    rows = [_brief(first, record) for record in first.records()]
    return {"rows_in_all": chosen.num_rows, "rows": rows}


def compare(table: str, rows: list[dict[str, str]], by: str | None = None) -> list[Row]:
    """Put some rows side by side, each named as for look_up, with rank and regret."""
    opened = _open(table)
    return [
        _brief(opened, _ranked(opened, opened.pick(**values), by), "rank", "regret")
        for values in rows[: _few(len(rows))]
    ]


def regret(table: str, values: dict[str, str], by: str | None = None) -> Row:
    """Say how far a row, named as for look_up, is behind the best of its table, and its rank."""
    opened = _open(table)
    found = _ranked(opened, opened.pick(**values), by)
    return {name: found[name] for name in ("rank", "regret", "by")} | {"of": opened.num_rows}


def _open(table: str) -> RowTable[Any]:
    """Open a table by its name: an agent has no business with other folders and files.

    Raises:
        QueryError: If it is a path.
    """
    if "/" in table or "\\" in table:
        raise QueryError(f"{table!r} is no name of a table; list_tables has them")
    return open_folder(find(table))


def _few(count: int) -> int:
    """Return a number of rows that an answer may have.

    Raises:
        QueryError: If it may not.
    """
    if not 1 <= count <= MOST_ROWS:
        raise QueryError(f"{count} rows were asked for; allowed are 1 to {MOST_ROWS}")
    return count


def _ranked(table: RowTable[Any], row: int, by: str | None) -> Row:
    """Return all that is known of a row, and where it stands."""
    by = table.ranking_column(by)
    ranks, regrets = table.standing(by)
    record = {**table.detail(row), "rank": int(ranks[row]), "regret": float(regrets[row])}
    return _plain({**record, "by": by})


def _brief(table: RowTable[Any], record: Mapping[str, Any], *more: str) -> Row:
    """Return what fits on a line of a row."""
    names = dict.fromkeys((*table.kind.key, *table.kind.brief, *more))
    return _plain({name: record[name] for name in names if name in record})


def _plain(record: Mapping[str, Any]) -> Row:
    plain: Row = to_plain(dict(record))
    return plain
