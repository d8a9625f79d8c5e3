"""What columns are: the contract between benchbuild and benchquery.

A table is a folder: ``summary.parquet`` (one row an architecture, or whatever its kind has rows
of), ``curves.h5`` (per-epoch figures, where they are known), other files of its kind, and
``manifest.json`` (what the table is, where its numbers come from, and the checksums of the
others). Which columns a table may have, its kind says (`benchquery.table.kind`).
"""

from __future__ import annotations

import dataclasses
import re
from typing import Literal, get_args

from benchquery.errors import UnknownNameError

SCHEMA_VERSION = 2
"""The layout that is written: a manifest of version 2 carries a checksum of its own."""

Split = Literal["train", "valid", "test"]
Direction = Literal["higher", "lower"]
Origin = Literal["published", "measured", "synthetic"]

ORIGINS: tuple[Origin, ...] = get_args(Origin)
SPLITS: tuple[Split, ...] = get_args(Split)
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)

PER_SEED = re.compile(r"(?P<base>\w+)_seed(?P<seed>\d+)")
"""The name of a column that holds the figures of a single seed, such as ``perf_seed2``."""


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

_CURVE_INDEX = {column.name: index for index, column in enumerate(CURVE_COLUMNS)}


def curve_index(name: str) -> int:
    """Return where a figure stands among `CURVE_COLUMNS`: on the last axis of a learning curve.

    Raises:
        UnknownNameError: If curves have no such figure.
    """
    if name not in _CURVE_INDEX:
        raise UnknownNameError(
            f"unknown figure {name!r} of a curve; allowed: {', '.join(_CURVE_INDEX)}"
        )
    return _CURVE_INDEX[name]


def is_of_one_seed(name: str) -> bool:
    """Tell whether a column holds the figures of a single seed, such as ``perf_seed2``."""
    return PER_SEED.fullmatch(name) is not None
