"""Every column of every table: the contract between benchbuild and benchquery.

A table is a folder: ``summary.parquet`` (one row an architecture, or one a condensed graph and
the way it was judged), ``curves.h5`` (per-epoch figures, where they are known), ``graphs.h5``
(the condensed graphs themselves) and ``manifest.json`` (what the table is, where its numbers
come from, and the checksums of the others).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

from benchquery.errors import UnknownNameError

SCHEMA_VERSION = 1

Split = Literal["train", "valid", "test"]
Direction = Literal["higher", "lower"]
Origin = Literal["published", "measured", "synthetic"]
Kind = Literal["architectures", "condensed", "weights"]

ORIGINS: tuple[Origin, ...] = get_args(Origin)
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What the rows of a table are: architectures, or condensed graphs."""


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

_CONDENSED_COLUMNS = (
    Column("config", "string", "Hash of the configuration (CondenseConfig): the key, with "
           "`evaluation`."),
    Column("evaluation", "string", "Hash of how the graph was judged (EvalConfig), its seed "
           "apart: that of seed 0."),
    Column("config_text", "string", "The configuration as text: CondenseConfig.from_text reads "
           "it."),
    Column("evaluation_text", "string", "How the graph was judged as text, with seed 0: "
           "EvalConfig.from_text reads it."),
    Column("dataset", "string", "The graph that was condensed."),
    Column("method", "string", "The condensation method."),
    Column("ratio", "float64", "Size of the condensed graph relative to what `ratio_of` says."),
    Column("ratio_of", "string", "What the ratio is relative to: all nodes, or the labelled ones."),
    Column("init", "string", "What the synthetic features began as; none if nodes are selected."),
    Column("backbone", "string", "The model that was matched."),
    Column("seed", "int64", "Seed of the condensation."),
    Column("protocol", "string", "corrected, or as-released: with the faults of the published "
           "code kept on purpose."),
    Column("task", "string", "What the model that was trained on the condensed graph did."),
    Column("model", "string", "The model that was trained on the condensed graph."),
    Column("nodes", "int64", "Nodes of the condensed graph; 0 if there is none.", "1"),
    Column("edges", "int64", "Edges of the condensed graph whose weight reaches the threshold, "
           "each counted once.", "1"),
    Column("density", "float64", "Edges as a share of all pairs of nodes.", "fraction"),
    Column("homophily", "float64", "Share of the edge weight that joins nodes of one class.",
           "fraction"),
    Column("threshold", "float64", "Edges of the condensed graph with less weight were left out."),
    Column("valid_perf", "float64", "Validation metric on the original graph of a model trained on "
           "the condensed one, averaged over the evaluation seeds: what is chosen by.",
           "fraction", "valid", "higher"),
    Column("valid_perf_std", "float64", "Sample standard deviation of `valid_perf` over the "
           "evaluation seeds.", "fraction", "valid"),
    Column("perf", "float64", "Test metric on the original graph at the epoch chosen by "
           "validation, averaged over the evaluation seeds: for reports only.",
           "fraction", "test", "higher"),
    Column("perf_std", "float64", "Sample standard deviation of `perf` over the evaluation seeds.",
           "fraction", "test"),
    Column("full_perf", "float64", "Test metric of the same model trained on the original graph, "
           "averaged over the evaluation seeds.", "fraction", "test"),
    Column("full_perf_std", "float64", "Sample standard deviation of `full_perf` over the "
           "evaluation seeds.", "fraction", "test"),
    Column("retained", "float64", "What of the full figure is kept: `perf` / `full_perf`.",
           "fraction", "test", "higher"),
    Column("best_epoch", "float64", "Condensation epoch of the snapshot chosen by validation.",
           "epoch"),
    Column("eval_seeds", "int32", "How many evaluation seeds the figures are means of."),
    Column("condense_time", "float64", "Time of the whole condensation, evaluation excluded.",
           "s", None, "lower"),
    Column("condense_time_best", "float64", "Time of the condensation until the chosen snapshot, "
           "evaluation excluded.", "s", None, "lower"),
    Column("expert_time", "float64", "Time of training the experts of a trajectory method.", "s",
           None, "lower"),
    Column("expert_bytes", "int64", "Size of the experts on disk.", "byte", None, "lower"),
    Column("peak_memory", "float64", "Peak memory of the condensing process.", "byte", None,
           "lower"),
    Column("peak_gpu_memory", "float64", "Peak memory on the GPU; NaN without one.", "byte", None,
           "lower"),
    Column("graph_bytes", "int64", "Size of the condensed graph's arrays.", "byte", None, "lower"),
    Column("status", "string", "How the job ended: ok, diverged, oom or failed."),
    Column("reason", "string", "Why the status is not ok; empty if it is."),
)  # fmt: skip

_WEIGHT_COLUMNS = (
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

_CURVE_INDEX = {column.name: position for position, column in enumerate(CURVE_COLUMNS)}

_BY_NAME: Mapping[Kind, Mapping[str, Column]] = MappingProxyType(
    {
        "architectures": {column.name: column for column in _ARCH_COLUMNS},
        "condensed": {column.name: column for column in _CONDENSED_COLUMNS},
        "weights": {column.name: column for column in _WEIGHT_COLUMNS},
    }
)
_PER_SEED = re.compile(r"(?P<base>\w+)_seed(?P<seed>\d+)")


def columns(kind: Kind) -> tuple[Column, ...]:
    """Return the columns that tables of a kind may have, those of single seeds apart."""
    return tuple(_BY_NAME[kind].values())


def curve_index(name: str) -> int:
    """Return where a figure stands among `CURVE_COLUMNS`, as in ``curve[:, curve_index(name)]``.

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
    return _PER_SEED.fullmatch(name) is not None


def column(name: str, kind: Kind = "architectures") -> Column:
    """Return the description of a table's column.

    A name such as ``perf_seed2`` is the column ``perf`` of the seed 2 alone; in condensed tables
    that is an evaluation seed.

    Raises:
        UnknownNameError: If the schema has no such column.
    """
    known = _BY_NAME[kind]
    if name in known:
        return known[name]
    match = _PER_SEED.fullmatch(name)
    if match and match["base"] in known:
        base = known[match["base"]]
        return dataclasses.replace(
            base, name=name, description=f"{base.description} Seed {match['seed']} alone."
        )
    raise UnknownNameError(
        f"unknown column {name!r}; the schema of {kind} has {', '.join(known)} "
        "and each of them with a suffix such as _seed0"
    )
