"""What must hold of the rows of a table of condensed graphs beside the checksums of its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import ConfigError, CorruptTableError
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig, text_hash
from benchquery.kinds.condensed.graphs import GRAPHS
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.manifest import CURVES, SUMMARY
from benchquery.table.record import Record
from benchquery.table.store import unread_files

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

_FRACTIONS = ("valid_perf", "perf", "full_perf")


def check_condensed(table: CondensedTable, folder: Path) -> None:
    """Check every row, curve and graph of a table of condensed graphs.

    Curves and graphs that can't be read here (`unread_files`) are left out.

    Raises:
        CorruptTableError: If something does not fit; the message names it.
    """
    records = table.records()
    if len({(record["config"], record["evaluation"]) for record in records}) != len(records):
        raise CorruptTableError(f"{folder / SUMMARY} has a configuration and evaluation twice")
    readable = table.manifest.files.keys() - set(unread_files(table.manifest))
    for row, record in enumerate(records):
        if problem := _key_problem(record) or _figure_problem(record):
            raise CorruptTableError(f"{folder / SUMMARY}, row {row}: {problem}")
        if CURVES in readable:
            table.curves.block(row)
    if GRAPHS in readable:
        for config in table:
            _check_graph(table, config, folder)
        for config in sorted(table.graphs.traced - set(table)):
            table.graphs.trace(config)
            if config in table.graphs.configs:
                table.graphs.graph(config)


def _key_problem(record: Record) -> str:
    """Say why a row's hashes are not those of its configurations; nothing if they are."""
    for name, kind in (("config", CondenseConfig), ("evaluation", EvalConfig)):
        text = record[f"{name}_text"]
        if text_hash(text) != record[name]:
            return f"{name} is {record[name]!r}, the hash of its text is {text_hash(text)!r}"
        try:
            fields = json.loads(text)
            meant = kind.from_text(text)
        except (ValueError, TypeError, KeyError, ConfigError) as error:
            return f"{name}_text can't be read: {error}"
        if meant.text != text:
            return f"{name}_text is not in canonical form: {text}"
        if name == "evaluation" and fields.pop("seed") != 0:
            return f"evaluation_text is not that of seed 0: {text}"
        # A method may have a hyper-parameter that is called as a column of what came of it.
        named = fields.keys() - (meant.hyperparameters if name == "config" else {}).keys()
        for field in named & record.keys():
            if record[field] != fields[field]:
                return f"{field} is {record[field]!r}, its {name}_text says {fields[field]!r}"
    return ""


def _figure_problem(record: Record) -> str:
    """Say why a row's figures can't be; nothing if they can."""
    for name, value in record.items():
        base = name.partition("_seed")[0]
        if base in _FRACTIONS and not (np.isnan(value) or 0 <= value <= 1):
            return f"{name} is {value}, not a fraction"
    ends = {key: value for key, value in record.items() if key.startswith("status_seed")}
    for name, status in ends.items():
        if status == "ok" and np.isnan(record[name.replace("status", "perf")]):
            return f"{name} is ok, but it has no figure"
    untold = set(ends.values()) <= {"missing"}
    if record["status"] == "ok" and np.isnan(record["perf"]) and untold:
        return "its status is ok, but it has no figure"
    for name in _FRACTIONS:
        seeds = [value for key, value in record.items() if key.startswith(f"{name}_seed")]
        known = [value for value in seeds if not np.isnan(value)]
        if known and not np.isclose(np.mean(known), record[name], rtol=1e-9, atol=0):
            return f"{name} is {record[name]}, the mean of its seeds is {np.mean(known)}"
    kept = record["perf"] / record["full_perf"] if record["full_perf"] else np.nan
    if not np.isclose(kept, record["retained"], rtol=1e-9, atol=0, equal_nan=True):
        return f"retained is {record['retained']}, perf / full_perf is {kept}"
    return ""


def _check_graph(table: CondensedTable, config: str, folder: Path) -> None:
    """Check that what is kept of a configuration can be read, and is as large as its row says.

    A graph may have been left out, if how it came to be is there.
    """
    row = table[config]
    what = "nodes" if "nodes" in row else "items"
    size = row[what]
    if config not in table.graphs.configs:
        if config in table.graphs.traced:
            table.trace(config)
        elif size:
            raise CorruptTableError(f"{folder / GRAPHS} lacks the graph of {config}")
        return
    stored = len(table.graph(config)["x"])
    table.trace(config)
    if stored != size:
        raise CorruptTableError(
            f"{folder / GRAPHS}: the graph of {config} has {stored} {what}, {SUMMARY} says {size}"
        )
