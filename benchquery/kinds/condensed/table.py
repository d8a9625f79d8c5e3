"""Tables of condensed graphs: a mapping from configuration to record, and the graphs themselves.

A row is one condensed graph as one evaluation judged it, so a configuration has as many rows as
it has evaluations. Tables never change once opened, so any number of threads may read one.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from benchquery._imports import LazyModule
from benchquery.errors import QueryError, UnknownHashError
from benchquery.kinds.condensed.config import (
    PROTOCOLS,
    CondenseConfig,
    EvalConfig,
    changed_values,
)
from benchquery.kinds.condensed.domains import DOMAINS
from benchquery.kinds.condensed.domains.nodes import NODES
from benchquery.kinds.condensed.domains.spec import DomainSpec
from benchquery.kinds.condensed.forms import GRAPH
from benchquery.kinds.condensed.graphs import GRAPHS, Graphs, edge_weights, node_degrees
from benchquery.kinds.condensed.methods import method_names
from benchquery.table.curves import Seed, known_epochs
from benchquery.table.record import Record
from benchquery.table.rows import Names, RowTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Ints
else:
    np = LazyModule("numpy")

AVERAGED = (
    "valid_perf", "perf", "nmi", "ari", "f1", "full_nmi", "full_ari", "full_f1", "last_perf",
    "full_perf", "retained", "gain_over_random", "gain_over_init", "first_valid", "chosen_valid",
    "last_valid", "items", "nodes", "distinct_nodes", "edges", "density", "homophily",
    "bytes_dense", "bytes_compact", "share_dense", "share_compact", "best_epoch", "condense_time",
    "condense_time_best", "iteration_time", "expert_time", "expert_bytes", "peak_memory",
    "peak_gpu_memory", "graph_bytes",
)  # fmt: skip
"""The figures that `CondensedTable.mean` averages."""
CONTENT = "content"
"""What tells graphs of one's own apart, in their configurations, beside the seed."""


class CondensedTable(RowTable[str]):
    """A table of condensed graphs: hash of a configuration (or `CondenseConfig`) -> `Record`.

    The record is that of the usual evaluation: by the domain's usual model and task as `EvalConfig`
    has them, else by that model at that task, else the first one. `evaluations` gives all of them.

    ``top``, ``best`` and ``pareto`` compare like with like: where a table has rows of several tasks
    or protocols, those of the usual task and of the corrected protocol. For others, leave those out
    first, as in ``table.where(protocol="as-released").top()``.

    ``rank`` and ``regret`` hold a row against those of its own task and protocol.
    """

    @cached_property
    def domain(self) -> DomainSpec:
        """The sort of data that was condensed."""
        if "domain" not in self.columns or not self.num_rows:
            return NODES
        return DOMAINS[self._columns.cells("domain")[0]]

    @property
    def size(self) -> str:
        """The column that says how large results are: ``ratio``, or ``per_class`` of a set."""
        return "per_class" if "per_class" in self.columns else "ratio"

    def usual_evaluation(self, model: str) -> str:
        """Return the hash of how the usual task has a model judge; nothing if it does not."""
        task = self.domain.task
        return (
            EvalConfig(task, model).valid_hash() if model in self.domain.tasks[task].models else ""
        )

    # ---------------------------------------------------------------- a mapping

    def __getitem__(self, key: CondenseConfig | str) -> Record:
        """Return the record of a configuration or its hash.

        Raises:
            UnknownHashError: If the table does not hold it.
        """
        return self._record_at(self._row(key))

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        """The rows of every configuration."""
        rows: dict[str, list[int]] = {}
        for row, config in enumerate(self._columns.cells("config")):
            rows.setdefault(config, []).append(row)
        return rows

    def _rows_of(self, key: CondenseConfig | str) -> list[int]:
        """Return the rows of a configuration or its hash."""
        number = _hash_of(key)
        if number not in self._rows:
            raise UnknownHashError(
                f"{key!r} is none of the {len(self):,} configurations of the table {self.name!r}; "
                "`configs()` lists them"
            )
        return self._rows[number]

    def _row(self, key: CondenseConfig | str, model: str | None = None) -> int:
        """Return the row of a configuration's usual evaluation, or of that by a model."""
        rows = self._rows_of(key)
        evaluations, tasks, models = (
            self._columns.cells(name) for name in ("evaluation", "task", "model")
        )
        if model is not None:
            known = dict.fromkeys(models[row] for row in rows)
            rows = [row for row in rows if models[row] == model]
            if not rows:
                raise QueryError(
                    f"{_hash_of(key)} was not evaluated by {model!r}; allowed: {', '.join(known)}"
                )
        usual, wanted = self.domain.task, model or self.domain.model
        best = self.usual_evaluation(wanted)
        return min(
            rows,
            key=lambda row: (
                evaluations[row] != best,
                tasks[row] != usual,
                models[row] != wanted,
            ),
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, (CondenseConfig, str)) and _hash_of(key) in self._rows

    # ---------------------------------------------------------------- queries

    def pick(self, /, **values: str) -> int:
        """Return the row of a configuration: by its hash, or by its settings.

        Raises:
            QueryError: If no configuration fits, several do, or both ways are used.
            UnknownHashError: If the table does not hold it.
        """
        if "hash" not in values:
            return super().pick(**values)
        if len(values) > 1:
            raise QueryError("give either --hash or what the configuration is, not both")
        return self._row(values["hash"])

    def _values_of(self, name: str) -> Collection[str]:
        """Return the texts that a column may hold: of methods those of the table's domain."""
        known = super()._values_of(name)
        if name != "method" or not self.num_rows:
            return known
        there = self._columns.whole[name].tolist()
        return dict.fromkeys([*method_names(self.domain.name), *there])

    @property
    def _groups(self) -> Ints:
        """Rows are ranked with those of the same task and protocol."""
        names = [self._columns.cells(name) for name in ("task", "protocol")]
        return np.unique(
            [" ".join(pair) for pair in zip(*names, strict=True)], return_inverse=True
        )[1]

    @property
    def _comparable(self) -> Ints:
        """The rows of the usual task and protocol; of the first row's where there are none."""
        rows = super()._comparable
        for name, usual in (("task", self.domain.task), ("protocol", PROTOCOLS[0])):
            there = self.column(name)[rows]
            if len(rows):
                rows = rows[there == (usual if usual in there.tolist() else there[0])]
        return rows

    def configs(self) -> list[CondenseConfig]:
        """Return the configurations, in the order of iteration.

        One whose method is not installed, or that follows another recipe, is what its text says.
        """
        texts = self._columns.cells("config_text")
        return [CondenseConfig.from_text(texts[rows[0]]) for rows in self._rows.values()]

    def detail(self, row: int) -> dict[str, Any]:
        """Return a row, and all evaluations of its configuration."""
        judged = self.evaluations(self._columns.cells("config")[row])
        return {**super().detail(row), "evaluations": [dict(one) for one in judged.records()]}

    def evaluations(self, config: CondenseConfig | str) -> Self:
        """Return the table of all evaluations of a configuration.

        Raises:
            UnknownHashError: If the table does not hold it.
        """
        return self.take(np.array(self._rows_of(config)))

    def mean(self, over: Names = "seed") -> list[Record]:
        """Return figures averaged over the rows that differ in nothing but, usually, the seed.

        Rows of different protocols or evaluations are never averaged.

        Args:
            over: The settings that may differ: ``seed``, ``init``, ``backbone``, ``method`` or
                the size, which is ``ratio`` or ``per_class``. Graphs of one's own that differ in
                their seed may differ in their content.

        Returns:
            For each group what its rows share; ``count``, how many have a figure, and
            ``failed``, how many have none; ``configs``, their hashes; and of each figure the mean
            over those that have one and, under its name with ``_std``, the sample standard
            deviation (NaN for one alone). ``hyperparameters`` are those that are not the method's
            default.

        Raises:
            QueryError: If one can't average over that.
        """
        over = (over,) if isinstance(over, str) else tuple(over)
        settings = ("method", self.size, "init", "backbone", "seed")
        for name in over:
            if name not in settings:
                raise QueryError(f"can't average over {name!r}; allowed: {', '.join(settings)}")
        return means_of(self.records(), over)

    # ---------------------------------------------------------------- curves and graphs

    def curve(
        self, config: CondenseConfig | str, model: str | None = None, seed: Seed = "mean"
    ) -> Array:
        """Return every epoch of training a model on a condensed graph: (epochs, 7).

        The columns are those of `benchquery.table.schema.CURVE_COLUMNS`.

        Args:
            config: A configuration or its hash.
            model: The model that was trained; None for the usual evaluation.
            seed: An evaluation seed, or ``mean`` for the mean over all that there are.

        Raises:
            UnknownHashError: If the table does not hold the configuration.
            QueryError: If there are no curves, no such model or no such seed.
        """
        there, curves = self._curves_at(self._row(config, model))
        chosen = [i for i, known in enumerate(there) if seed in ("mean", known)]
        if not chosen:
            raise QueryError(
                f"{_hash_of(config)} has no curve of the evaluation seed {seed!r}; allowed: "
                f"{', '.join(map(str, ['mean', *there])) if there else 'none'}"
            )
        mean: Array = known_epochs(curves[chosen]).mean(axis=0)
        return mean

    def seed_curves(
        self, config: CondenseConfig | str, evaluation: str | None = None
    ) -> tuple[tuple[int, ...], Array]:
        """Return every epoch of every evaluation seed that has a curve.

        Args:
            config: A configuration or its hash.
            evaluation: The hash of an evaluation; None for the usual one.

        Returns:
            The seeds, and (seeds, epochs, 7) with the columns of
            `benchquery.table.schema.CURVE_COLUMNS`.

        Raises:
            UnknownHashError: If the table does not hold the configuration so evaluated.
            QueryError: If there are no curves.
        """
        if evaluation is None:
            return self._curves_at(self._row(config))
        known = self._columns.cells("evaluation")
        rows = [row for row in self._rows_of(config) if known[row] == evaluation]
        if not rows:
            raise UnknownHashError(f"{_hash_of(config)} has no evaluation {evaluation!r}")
        return self._curves_at(rows[0])

    def _curves_at(self, row: int) -> tuple[tuple[int, ...], Array]:
        """Return the evaluation seeds of a row that have a curve, and their curves."""
        return self.curves.known(int(self.positions[row]))

    @cached_property
    def graphs(self) -> Graphs:
        """The condensed graphs.

        Raises:
            QueryError: If the table has none.
        """
        return Graphs(self.file(GRAPHS, "condensed graphs"))

    def graph(self, config: CondenseConfig | str) -> Mapping[str, Array]:
        """Return the arrays of what is kept of a configuration.

        Of one graph these are ``x``, ``y`` and maybe ``adjacency``; what they are of a set, its
        form says (`benchquery.kinds.condensed.forms`).

        Raises:
            UnknownHashError: If the table does not hold it, or its graph.
            CorruptTableError: If the file is damaged there.
        """
        self._rows_of(config)
        return self.graphs.graph(_hash_of(config))

    def degrees(self, config: CondenseConfig | str) -> Ints:
        """Return how many nodes of a condensed graph have 0, 1, 2, ... neighbours.

        Edges below the threshold of the usual evaluation are left out.

        Raises:
            UnknownHashError: If the table does not hold it, or it has no graph.
            QueryError: If what it has is a set.
            CorruptTableError: If the file is damaged there.
        """
        graph, form = self.graph(config), self.graphs.form(_hash_of(config))
        if form != GRAPH:
            raise QueryError(f"degrees are of one graph, what is kept of {config} is a set: {form}")
        adjacency = graph.get("adjacency")
        if adjacency is None:
            return np.array([len(graph["x"])])
        counts: Ints = np.bincount(node_degrees(edge_weights(adjacency, self[config]["threshold"])))
        return counts

    def trace(self, config: CondenseConfig | str) -> Mapping[str, Array]:
        """Return how a condensation went: epoch, losses and validation figure of each snapshot.

        Raises:
            UnknownHashError: If the table does not hold it, or it has no graph.
            CorruptTableError: If the file is damaged there.
        """
        self._rows_of(config)
        return self.graphs.trace(_hash_of(config))


def _hash_of(key: CondenseConfig | str) -> str:
    return key.valid_hash() if isinstance(key, CondenseConfig) else key


def means_of(records: Iterable[Record], over: Collection[str]) -> list[Record]:
    """Average records of one or several tables; see `CondensedTable.mean`."""
    left_out = {*over, CONTENT} if "seed" in over else {*over}
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        fields = json.loads(record["config_text"])
        kept = json.dumps({name: fields[name] for name in fields if name not in left_out})
        groups.setdefault((kept, record["evaluation"]), []).append(record)
    return [_average(alike, json.loads(kept)) for (kept, _), alike in groups.items()]


def _average(records: list[Record], kept: dict[str, Any]) -> Record:
    """Average some records; `kept` are the fields of the configuration that they share."""
    first = records[0]
    figures = [record for record in records if not np.isnan(record["perf"])]
    given = changed_values(first["config_text"])
    changed = {name: value for name, value in given.items() if name in kept}
    averaged = {name: kept[name] for name in kept if name not in (*changed, "recipe")}
    averaged["hyperparameters"] = changed
    averaged |= {name: first[name] for name in ("evaluation", "evaluation_text", "task", "model")}
    averaged |= {"count": len(figures), "failed": len(records) - len(figures)}
    averaged["configs"] = [record["config"] for record in figures or records]
    for name in AVERAGED:
        if name in first:
            values = np.array([record[name] for record in figures], dtype=float)
            values = values[~np.isnan(values)]
            averaged[name] = float(values.mean()) if values.size else np.nan
            averaged[f"{name}_std"] = float(values.std(ddof=1)) if values.size > 1 else np.nan
    return Record(averaged)
