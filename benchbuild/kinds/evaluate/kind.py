"""Evaluating: a job is one condensed graph of a table, judged by more models or seeds.

Merged, the records give the table that the graphs came from with the new figures added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.errors import DatasetError, PlanError
from benchbuild.kinds.condense.costs import evaluation_seconds
from benchbuild.kinds.condense.evaluations import EvaluatedSettings, Evaluations
from benchbuild.kinds.condense.kind import EvaluatingWorker
from benchbuild.kinds.condense.records import CondenseKey
from benchbuild.kinds.evaluate.records import EvaluateRecord
from benchbuild.kinds.train.costs import BASE_MEMORY
from benchbuild.pipeline.jobs import Cost, JobKind, Place, Run
from benchbuild.pipeline.records import JobKey
from benchbuild.pipeline.settings import RunPart
from benchquery import condread
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.table.manifest import MANIFEST, describe_file, read_manifest

if TYPE_CHECKING:
    from benchbuild.pipeline.collect import Collection
    from benchquery.kinds.condensed.table import CondensedTable
    from benchquery.table.manifest import Manifest


@dataclass(frozen=True)
class EvaluateSettings(EvaluatedSettings):
    """What all evaluations of a run share.

    Attributes:
        source: The folder of the table that the graphs come from.
        source_sha256: The checksum of its manifest when the run was begun.
    """

    source: str
    source_sha256: str


@dataclass(frozen=True)
class EvaluateJobs(RunPart):
    """Which graphs are evaluated.

    Attributes:
        configs: The canonical texts of their configurations.
    """

    configs: tuple[str, ...]


EvaluateRun = Run[EvaluateSettings, EvaluateJobs]


class EvaluateKind(JobKind[EvaluateSettings, EvaluateJobs, EvaluateRecord]):
    """Evaluate the graphs of a table; merges into the table with rows added."""

    name = "evaluate"
    settings = EvaluateSettings
    jobs = EvaluateJobs
    record = EvaluateRecord
    preload = ("benchbuild.datasets.graph", "benchbuild.kinds.evaluate.domain")
    table = "condensed"
    commands = ("benchbuild.kinds.evaluate.command",)

    def keys(self, run: EvaluateRun) -> list[JobKey]:
        """List the configurations in the order in which the table has them."""
        return [CondenseKey(text) for text in run.jobs.configs]

    def costs(self, run: EvaluateRun, keys: Sequence[JobKey]) -> list[Cost]:
        """Predict what jobs take."""
        evaluations = run.settings.evaluations
        return [
            Cost(evaluation_seconds(CondenseConfig.from_text(key[0]), evaluations), BASE_MEMORY)
            for key in keys
        ]

    def open(self, settings: EvaluateSettings, place: Place) -> EvaluateContext:
        """Load the dataset and open the table."""
        return EvaluateContext(settings, place)

    def problems(self, run: EvaluateRun, record: EvaluateRecord) -> Iterator[str]:
        """Check a record's figures against its curves."""
        return run.settings.evaluations.problems(record)

    def score(self, record: EvaluateRecord) -> float:
        """Return the best validation metric of any model."""
        return max((float(value) for value in record.eval_valid), default=float("nan"))

    def write_table(self, collection: Collection, stage: Path) -> None:
        """Write the table that the graphs came from with rows added."""
        from benchbuild.kinds.condense.table import write_extended_table

        write_extended_table(collection, open_source(collection.run.settings), stage)

    def contents(self, manifest: Manifest, folder: Path) -> str:
        """Say how many graphs a table has, and in how many rows."""
        from benchbuild.kinds.condense.table import contents

        return contents(manifest, folder)


JOB = EvaluateKind()


class EvaluateContext(EvaluatingWorker):
    """A worker that evaluates graphs of a table."""

    def __init__(self, settings: EvaluateSettings, place: Place) -> None:
        super().__init__(settings, place)
        self._table = open_source(settings)
        known = self._table.manifest.provenance["dataset"]["checksum"]
        if self._graph.checksum != known:
            raise DatasetError(
                f"{settings.dataset}: the data here is not what the table in "
                f"{settings.source} was made from: its checksum is "
                f"{self._graph.checksum[:12]}..., the table says {known[:12]}..."
            )

    def run(self, key: JobKey) -> EvaluateRecord:
        """Evaluate one graph."""
        arrays = self._table.graph(CondenseConfig.from_text(key[0]).valid_hash())
        graph = self._domain.payload.from_arrays(arrays)
        found = self.evaluations.run(self.evaluator, graph)
        return EvaluateRecord(config=key[0], environment=self.environment(), **vars(found))


def open_source(settings: EvaluateSettings) -> CondensedTable:
    """Open the table that graphs come from.

    Raises:
        PlanError: If it is another one than when the run was begun.
        CorruptTableError: If a file is damaged or missing.
    """
    folder = Path(settings.source)
    if describe_file(folder / MANIFEST).sha256 != settings.source_sha256:
        raise PlanError(f"the table in {folder} is not the one that this run was begun with")
    return condread(folder)


def evaluate_run(source: Path, evaluations: Evaluations) -> EvaluateRun:
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
    settings = EvaluateSettings(
        dataset=manifest.name,
        recipe=manifest.provenance["recipe"],
        evaluations=evaluations,
        source=str(source.resolve()),
        source_sha256=describe_file(source / MANIFEST).sha256,
    )
    return Run(JOB.name, settings, EvaluateJobs(tuple(texts)))
