"""Evaluating: a job is one condensed graph of a table, judged by more models or seeds.

Merged, the records give the table that the graphs came from with the new figures added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbuild.errors import DatasetError, PlanError
from benchbuild.kinds.condense.costs import evaluation_seconds
from benchbuild.kinds.condense.evaluations import EVALUATION_FIELDS, Evaluations
from benchbuild.kinds.condense.kind import CondenseKey, EvaluatingWorker
from benchbuild.kinds.train.costs import BASE_MEMORY
from benchbuild.pipeline.jobs import Cost, Field, Json, Key, Place, Record, Run
from benchquery import condread
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.table.manifest import MANIFEST, describe_file, read_manifest

if TYPE_CHECKING:
    from benchbuild.pipeline.collect import Collection
    from benchquery.kinds.condensed.table import CondensedTable


@dataclass(frozen=True)
class EvaluateKind:
    """Evaluate the graphs of a table; merges into the table with rows added."""

    name: str = "evaluate"
    fields: tuple[Field, ...] = (
        Field("config", "string", "key"),
        *EVALUATION_FIELDS,
        Field("environment", "string", "measurement"),
    )
    preload: tuple[str, ...] = ("benchbuild.datasets", "benchbuild.kinds.evaluate.domain")

    def keys(self, run: Run) -> list[Key]:
        """List the configurations in the order in which the table has them."""
        return [CondenseKey(text) for text in run.jobs["configs"]]

    def expected(self, runs: Sequence[Run]) -> set[Key]:
        """List the configurations of all runs."""
        return {key for run in runs for key in self.keys(run)}

    def costs(self, run: Run, keys: Sequence[Key]) -> list[Cost]:
        """Predict what jobs take."""
        evaluations = Evaluations.read(run.settings)
        return [
            Cost(evaluation_seconds(CondenseConfig.from_text(key[0]), evaluations), BASE_MEMORY)
            for key in keys
        ]

    def open(self, settings: Json, place: Place) -> EvaluateContext:
        """Load the dataset and open the table."""
        return EvaluateContext(settings, place)

    def problems(self, run: Run, record: Record) -> Iterator[str]:
        """Check a record's figures against its curves."""
        yield from Evaluations.read(run.settings).problems(record)

    def score(self, record: Record) -> float:
        """Return the best validation metric of any model."""
        return max((float(value) for value in record["eval_valid"]), default=float("nan"))

    def write_table(self, collection: Collection, stage: Path) -> None:
        """Write the table that the graphs came from with rows added."""
        from benchbuild.kinds.condense.table import write_extended_table

        write_extended_table(collection, open_source(collection.run.settings), stage)


class EvaluateContext(EvaluatingWorker):
    """A worker that evaluates graphs of a table."""

    def __init__(self, settings: Json, place: Place) -> None:
        super().__init__(settings, place)
        self._table = open_source(settings)
        known = self._table.manifest.provenance["dataset"]["checksum"]
        if self._graph.checksum != known:
            raise DatasetError(
                f"{settings['dataset']}: the data here is not what the table in "
                f"{settings['source']} was made from: its checksum is "
                f"{self._graph.checksum[:12]}..., the table says {known[:12]}..."
            )

    def run(self, key: Key) -> Record:
        """Evaluate one graph."""
        arrays = self._table.graph(CondenseConfig.from_text(key[0]).valid_hash())
        graph = self._domain.payload.from_arrays(arrays)
        found: dict[str, Any] = self.evaluations.run(self.evaluator, graph)
        return {
            "config": key[0],
            "environment": self.environment(),
            **found,
        }


def open_source(settings: Json) -> CondensedTable:
    """Open the table that graphs come from.

    Raises:
        PlanError: If it is another one than when the run was begun.
        CorruptTableError: If a file is damaged or missing.
    """
    folder = Path(settings["source"])
    if describe_file(folder / MANIFEST).sha256 != settings["source_sha256"]:
        raise PlanError(f"the table in {folder} is not the one that this run was begun with")
    return condread(folder)


def evaluate_run(source: Path, evaluations: Evaluations) -> Run:
    """Describe a run of evaluations.

    Args:
        source: The folder of a table of condensed graphs.
        evaluations: How each of its graphs is judged.

    Raises:
        PlanError: If it has no graphs.
        TableKindError: If it is a table of architectures.
        CorruptTableError: If it is no table, or a damaged one.
    """
    manifest = read_manifest(source)
    table = condread(source)
    texts = [
        config.text for config in table.configs() if config.valid_hash() in table.graphs.configs
    ]
    if not texts:
        raise PlanError(f"the table in {source} has no condensed graphs")
    settings = {
        "dataset": manifest.name,
        "recipe": manifest.provenance["recipe"],
        "source": str(source.resolve()),
        "source_sha256": describe_file(source / MANIFEST).sha256,
        **evaluations.settings,
    }
    return Run("evaluate", settings, {"configs": texts})
