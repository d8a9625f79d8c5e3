"""The columns of tables of architectures."""

from __future__ import annotations

from benchquery.table.schema import Column

COLUMNS = (
    Column("hash", "int32", "Hash of the architecture: the key."),
    Column("valid_perf", "float64", "Best validation metric over the epochs, averaged over the "
           "seeds: what a search is rewarded with.", "fraction", "valid", "higher"),
    Column("perf", "float64", "Test metric at the epoch of least validation loss, averaged over "
           "the seeds: for reports only.", "fraction", "test", "higher"),
    Column("latency", "float64", "Time of one forward pass.", "s", None, "lower"),
    Column("para", "float64", "Number of trainable parameters.", "million", None, "lower"),
    Column("para_consistent", "bool", "Whether `para` is the count that the architecture has."),
    Column("params", "int64", "Number of trainable parameters.", "1", None, "lower"),
    Column("train_time", "float64", "Time of one whole training.", "s", None, "lower"),
    Column("peak_memory", "float64", "Peak memory of one training.", "byte", None, "lower"),
    Column("best_epoch", "float64", "Epoch of least validation loss, counted from 0.", "epoch"),
    Column("seeds_ok", "int32", "How many seeds ran to the end."),
    Column("status", "string", "The worst status of the seeds: ok, diverged, oom, failed or "
           "missing."),
    Column("reason", "string", "Why the status is not ok; empty if it is."),
)  # fmt: skip
