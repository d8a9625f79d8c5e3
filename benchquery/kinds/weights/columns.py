"""The columns of tables of operation weights."""

from __future__ import annotations

from benchquery.table.schema import Column

COLUMNS = (
    Column("link", "string", "Link list, as in 0012."),
    Column("seed", "int32", "Seed of the search."),
    Column("position", "int32", "Computing node, counted from 1."),
    Column("operation", "string", "Operation."),
    Column("weight", "float64", "Its share of the node's mixture at the end.", "fraction"),
    Column("derived", "int32", "Hash of the architecture with the operations of largest weight; "
           "-1 if all are skips or the search did not end well."),
    Column("valid_perf", "float64", "Validation metric of the mixture at the end.", "fraction",
           "valid", "higher"),
    Column("train_time", "float64", "Time of the whole search.", "s", None, "lower"),
    Column("status", "string", "How the search ended: ok, diverged, oom or failed."),
    Column("reason", "string", "Why the status is not ok; empty if it is."),
)  # fmt: skip
