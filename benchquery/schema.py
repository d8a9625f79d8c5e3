"""Every column of every table: the contract between benchbuild and benchquery.

A table is a folder of three files: ``summary.parquet`` (one row an architecture),
``curves.h5`` (per-epoch figures, where they are known) and ``manifest.json`` (what the
table is, where its numbers come from, and the checksums of the other two).
"""

from __future__ import annotations

import dataclasses
import re
from typing import Literal

from benchquery.errors import UnknownNameError

SCHEMA_VERSION = 1

Split = Literal["train", "valid", "test"]
Direction = Literal["higher", "lower"]
Origin = Literal["published", "measured", "synthetic"]

ORIGINS: tuple[Origin, ...] = ("published", "measured", "synthetic")


@dataclasses.dataclass(frozen=True)
class Column:
    """One column: what it holds and how to read it.

    Attributes:
        name: The column's name in the file.
        dtype: A numpy type name, or ``string``.
        description: What it holds, in a sentence.
        unit: The unit of its values; None for plain numbers and names.
        split: The part of the data that it was measured on, if any.
        direction: Which way is better, if either is.
    """

    name: str
    dtype: str
    description: str
    unit: str | None = None
    split: Split | None = None
    direction: Direction | None = None


_ARCH_COLUMNS = (
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

CURVE_COLUMNS = (
    Column("train_perf", "float32", "Metric on the training nodes.", "fraction", "train", "higher"),
    Column("valid_perf", "float32", "Metric on the validation nodes.", "fraction", "valid",
           "higher"),
    Column("test_perf", "float32", "Metric on the test nodes.", "fraction", "test", "higher"),
    Column("train_loss", "float32", "Loss on the training nodes.", "nat", "train", "lower"),
    Column("valid_loss", "float32", "Loss on the validation nodes.", "nat", "valid", "lower"),
    Column("test_loss", "float32", "Loss on the test nodes.", "nat", "test", "lower"),
    Column("best_perf", "float32", "Test metric at the epoch of least validation loss so far.",
           "fraction", "test", "higher"),
)  # fmt: skip

_BY_NAME = {column.name: column for column in _ARCH_COLUMNS}
_PER_SEED = re.compile(r"(?P<base>\w+)_seed(?P<seed>\d+)")


def column(name: str) -> Column:
    """Return the description of an architecture table's column.

    A name such as ``perf_seed2`` is the column ``perf`` of the seed 2 alone.

    Raises:
        UnknownNameError: If the schema has no such column.
    """
    if name in _BY_NAME:
        return _BY_NAME[name]
    match = _PER_SEED.fullmatch(name)
    if match and match["base"] in _BY_NAME:
        base = _BY_NAME[match["base"]]
        return dataclasses.replace(
            base, name=name, description=f"{base.description} Seed {match['seed']} alone."
        )
    raise UnknownNameError(
        f"unknown column {name!r}; the schema has {', '.join(_BY_NAME)} "
        "and each of them with a suffix such as _seed0"
    )
