"""Traces: what a search asked and was told, and, once it is over, how good its find is."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import CorruptTableError, QueryError
from benchquery.kinds.architectures.table import ArchTable
from benchquery.search.budget import Budget
from benchquery.table.files import read_regular, written_aside
from benchquery.table.manifest import SUMMARY
from benchquery.table.schema import ORIGINS
from benchquery.table.sealed import parse_object
from benchquery.table.ties import rank_among, regret_among

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from benchquery._typing import Array, Floats, Ints
else:
    np = LazyModule("numpy")
    pa = LazyModule("pyarrow")
    pq = LazyModule("pyarrow.parquet")

_FORMAT = b"graphtab-traces"
_VERSION = 2
_CHECKSUM = b"graphtab-checksum"
_MARK = b"sha256 of this file with zeros here: "
_BLANK = b"0" * 64
_UNREADABLE = (OSError, KeyError, ValueError, TypeError, AttributeError, OverflowError, MemoryError)
_TEXTS = ("strategy", "dataset", "protocol")
_ARRAYS = {
    "hashes": "int32",
    "rewards": "float64",
    "fidelities": "float64",
    "costs": "float64",
    "worker": "int32",
    "started": "float64",
    "ended": "float64",
}


def table_id(table: ArchTable) -> str:
    """Return what tells a table's figures from all others: the checksum of its summary.

    A part of a table, such as ``table.where(...)``, is another table: that checksum and which rows
    it has, in whatever order, are hashed once more.
    """
    whole = table.manifest.files[SUMMARY].sha256
    rows = np.sort(table.positions).astype("<i8")
    if np.array_equal(rows, np.arange(table.manifest.rows)):
        return whole
    return hashlib.sha256(whole.encode() + rows.tobytes()).hexdigest()


@dataclasses.dataclass(frozen=True, eq=False)
class Progress:
    """The incumbent over a search, one entry a query, in the order in which they ended.

    Attributes:
        spent: How much of the budget was used by then.
        time: The simulated time.
        hashes: The best architecture so far.
        rewards: Its reward.
    """

    spent: Floats
    time: Floats
    hashes: Ints
    rewards: Floats


@dataclasses.dataclass(frozen=True)
class SearchReport:
    """How good the find of a search is, by the table's test figures.

    Attributes:
        strategy: The strategy.
        dataset: The name of the table that was searched.
        origin: Whether the table's figures are published, measured or synthetic.
        seed: The strategy's seed.
        protocol: What the reward was.
        workers: How many simulated workers there were.
        queries: How many queries were made.
        architectures: How many different architectures they asked for.
        spent: How much of the budget was used, in its unit.
        time: The simulated time at the end.
        hash: The incumbent: the best reward among the longest trainings, the first of
            equals.
        valid_perf: Its validation metric.
        perf: Its test metric.
        regret: How much worse its test metric is than the best of the table. Here and in the
            ranks, figures that are equal but for rounding tie (`benchquery.table.ties`).
        normalised_regret: The same, as a share of the table's range of test metrics.
        rank: Its rank by test metric, from 1.
        valid_regret: How much worse its validation metric is than the best.
        valid_rank: Its rank by validation metric, from 1.
    """

    strategy: str
    dataset: str
    origin: str
    seed: int
    protocol: str
    workers: int
    queries: int
    architectures: int
    spent: float
    time: float
    hash: int
    valid_perf: float
    perf: float
    regret: float
    normalised_regret: float
    rank: int
    valid_regret: float
    valid_rank: int
    curve: Mapping[str, Array] = dataclasses.field(repr=False, compare=False)
    """Over the budget: ``spent``, ``time``, and the incumbent's ``hash``, ``reward``, ``perf``."""


@dataclasses.dataclass(frozen=True, eq=False)
class Trace:
    """One finished search.

    Attributes:
        strategy: The name of the strategy.
        dataset: The name of the table that was searched.
        origin: Whether the table's figures are published, measured or synthetic.
        seed: The strategy's seed.
        protocol: What the reward was: ``leaky-test`` marks a search that saw the test set.
        budget: How much might be asked.
        workers: How many simulated workers there were.
        table_sha256: Which table it was, or which part of one; see `table_id`.
        hashes: The architecture of each query, in the order in which they were made.
        rewards: The reward of each.
        fidelities: The share of a whole training that each reward comes after.
        costs: What each was charged, in the budget's unit.
        worker: The worker of each.
        started: The simulated time at which each started.
        ended: The simulated time at which each ended.
        table: The table, if it is open.
    """

    strategy: str
    dataset: str
    origin: str
    seed: int
    protocol: str
    budget: Budget
    workers: int
    table_sha256: str
    hashes: Ints
    rewards: Floats
    fidelities: Floats
    costs: Floats
    worker: Ints
    started: Floats
    ended: Floats
    table: ArchTable | None = dataclasses.field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.hashes)

    def progress(self) -> Progress:
        """Return the incumbent after each query.

        Raises:
            QueryError: If no query was made.
        """
        if not len(self):
            raise QueryError(f"the search of {self.strategy!r} on {self.dataset!r} asked nothing")
        queries = np.argsort(self.ended, kind="stable")
        first_wins = -np.arange(len(queries))
        rewards = np.nan_to_num(self.rewards[queries], nan=-np.inf)
        order = np.lexsort((first_wins, rewards, self.fidelities[queries]))
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        best = queries[order[np.maximum.accumulate(rank)]]
        return Progress(
            spent=np.cumsum(self.costs[queries]),
            time=self.ended[queries],
            hashes=self.hashes[best],
            rewards=self.rewards[best],
        )

    def report(self, table: ArchTable | None = None) -> SearchReport:
        """Judge the find by the table's test figures.

        Args:
            table: The table that was searched; None for the one at hand, or else the one
                of this name.

        Raises:
            QueryError: If no query was made, or the table is not the one searched.
        """
        table = self.searched(table)
        progress = self.progress()
        found = int(progress.hashes[-1])
        tests, valids = (table.column(name) for name in ("perf", "valid_perf"))
        perf, valid_perf = (table[found][name] for name in ("perf", "valid_perf"))
        regret = regret_among(-tests, -perf)
        spread = float(np.fmax.reduce(tests) - np.fmin.reduce(tests))
        return SearchReport(
            strategy=self.strategy,
            dataset=self.dataset,
            origin=self.origin,
            seed=self.seed,
            protocol=self.protocol,
            workers=self.workers,
            queries=len(self),
            architectures=len(np.unique(self.hashes)),
            spent=float(progress.spent[-1]),
            time=float(progress.time[-1]),
            hash=found,
            valid_perf=valid_perf,
            perf=perf,
            regret=regret,
            normalised_regret=regret / spread if spread else regret,
            rank=rank_among(-tests, -perf),
            valid_regret=regret_among(-valids, -valid_perf),
            valid_rank=rank_among(-valids, -valid_perf),
            curve={
                "spent": progress.spent,
                "time": progress.time,
                "hash": progress.hashes,
                "reward": progress.rewards,
                "perf": table.lookup(progress.hashes, "perf"),
            },
        )

    def searched(self, table: ArchTable | None = None) -> ArchTable:
        """Return the table that was searched.

        Args:
            table: It; None for the one at hand, or else the one of this name.

        Raises:
            QueryError: If that is another table.
        """
        from benchquery.kinds.architectures.reading import lightread

        table = table or self.table or lightread(self.dataset)
        if table_id(table) != self.table_sha256:
            raise QueryError(
                f"the table {table.name!r} is not the one that was searched "
                f"({self.dataset!r}, {self.table_sha256[:12]}...): open that one and give it"
            )
        return table


def save(traces: Iterable[Trace], path: Path | str) -> None:
    """Write traces to one Parquet file: one row a query, numbered by trace.

    The file carries its own SHA-256, taken with zeros in the place of the checksum.

    Args:
        traces: The traces.
        path: The file to write.

    Raises:
        QueryError: If the ending is not ``.parquet``, there is no such folder, or it can't be
            written to.
    """
    path = check_out(path)
    traces = list(traces)
    about = json.dumps({"version": _VERSION, "traces": [_about(trace) for trace in traces]})
    table = _queries(traces).replace_schema_metadata(
        {_FORMAT: about.encode(), _CHECKSUM: _MARK + _BLANK}
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    content = sink.getvalue().to_pybytes()
    place = content.rindex(_MARK) + len(_MARK)
    found = hashlib.sha256(content).hexdigest().encode()
    with written_aside(path) as aside:
        aside.write_bytes(content[:place] + found + content[place + len(found) :])


def _queries(traces: Sequence[Trace]) -> pa.Table:
    """Return one row a query: what it is of, for readers of the file, and what was said."""
    lengths = np.array([len(trace) for trace in traces], np.intp)
    columns: dict[str, Any] = {"trace": np.repeat(np.arange(len(traces), dtype=np.int32), lengths)}
    for name in _TEXTS:
        texts = [getattr(trace, name) for trace in traces for _ in range(len(trace))]
        columns[name] = pa.array(texts, pa.string())
    columns["seed"] = np.repeat(np.array([trace.seed for trace in traces], np.int64), lengths)
    for name, dtype in _ARRAYS.items():
        parts = [getattr(trace, name) for trace in traces]
        columns[name] = np.concatenate(parts) if parts else np.empty(0, dtype)
    return pa.table(columns)


def check_out(path: Path | str) -> Path:
    """Return the path of a file of traces that can be written.

    Raises:
        QueryError: If there is no such folder, or the ending is not ``.parquet``.
    """
    path = Path(path)
    if path.suffix != ".parquet":
        raise QueryError(f"can't write traces to {path.name!r}; the ending must be .parquet")
    if not path.parent.is_dir():
        raise QueryError(f"can't write {path}: there is no folder {path.parent}")
    return path


def _about(trace: Trace) -> dict[str, Any]:
    """Return all of a trace but its queries and its table."""
    about = {name: getattr(trace, name) for name in _said()}
    return about | {"budget": dataclasses.asdict(trace.budget)}


def _said() -> dict[str, Any]:
    """Return the types of what is said of a trace beside its queries and budget, by name."""
    types = {field.name: field.type for field in dataclasses.fields(Trace)}
    plain = types.keys() - {*_ARRAYS, "table", "budget"}
    return {name: int if types[name] == "int" else str for name in sorted(plain)}


def load(path: Path | str, table: ArchTable | None = None) -> list[Trace]:
    """Read traces back.

    Args:
        path: A file that `save` wrote.
        table: The table that was searched, for reports; None to open it by name.

    Raises:
        CorruptTableError: If it is no such file, or is damaged. Files of earlier versions, which
            had no checksum, are refused too.
    """
    try:
        content = read_regular(Path(path), follow=True)
        _check(content)
        stored = pq.ParquetFile(pa.BufferReader(content), pre_buffer=False).read(use_threads=False)
        about = parse_object((stored.schema.metadata or {})[_FORMAT])
        if about["version"] != _VERSION:
            raise ValueError(f"its version is {about['version']!r}, known is {_VERSION}")
        if stored.schema != _queries([]).schema or any(c.null_count for c in stored.columns):
            raise ValueError(f"its columns are {', '.join(map(str, stored.schema))}")
        number = stored.column("trace").to_numpy()
        arrays = {name: stored.column(name).to_numpy() for name in _ARRAYS}
        starts = np.searchsorted(number, np.arange(len(about["traces"]) + 1))
        traces = [
            _trace(one, {name: values[start:end] for name, values in arrays.items()})
            for one, start, end in zip(about["traces"], starts, starts[1:], strict=False)
        ]
        said = ["trace", *_TEXTS, "seed"]
        if stored.select(said) != _queries(traces).select(said):
            raise ValueError("its rows are not those of its traces")
        return [dataclasses.replace(trace, table=table) for trace in traces]
    except _UNREADABLE as error:
        why = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        raise CorruptTableError(f"{path} is no file of traces: {why}") from error
    except pa.ArrowException as error:
        raise CorruptTableError(f"{path} is no file of traces: {error}") from error


def _check(content: bytes) -> None:
    """Compare a file with its checksum, before anything in it is used."""
    place = content.rfind(_MARK) + len(_MARK)
    if place < len(_MARK):
        raise ValueError(
            "it has no checksum: if an earlier version wrote it, run the search again to save it "
            "with one"
        )
    stated = content[place : place + len(_BLANK)]
    blank = content[:place] + _BLANK + content[place + len(_BLANK) :]
    if hashlib.sha256(blank).hexdigest().encode() != stated:
        raise ValueError("it is damaged: its checksum is another")


def _trace(about: Mapping[str, Any], arrays: Mapping[str, Array]) -> Trace:
    """Make a trace of what a file says of it; ValueError or the like if it can't be."""
    types = _said()
    if about.keys() != types.keys() | {"budget"}:
        raise ValueError(f"what is said of a trace is {', '.join(about)}")
    for name, kind in types.items():
        if type(about[name]) is not kind:
            raise TypeError(f"{name} is {about[name]!r}")
    if about["workers"] < 1 or about["origin"] not in ORIGINS:
        raise ValueError(f"it has {about['workers']} workers, its origin is {about['origin']!r}")
    return Trace(**{**about, **arrays, "budget": Budget(**about["budget"])})
