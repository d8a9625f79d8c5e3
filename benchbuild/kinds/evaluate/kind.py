"""Evaluating: a job is one condensed graph of a table, judged by more models or seeds.

Merged, the records give the table that the graphs came from with the new figures added.

A run names that table by its content. Where it lies is each machine's own business: workers look
where their command says, and merging looks where the table was when the run was begun, then in
the folder ``source`` of each run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from benchbuild.errors import DatasetError, MergeError, PlanError
from benchbuild.kinds.condense.costs import evaluation_seconds
from benchbuild.kinds.condense.evaluations import (
    EvaluatedSettings,
    Evaluations,
    check_environment,
)
from benchbuild.kinds.condense.forms import payload_type
from benchbuild.kinds.condense.kind import EvaluatingWorker
from benchbuild.kinds.condense.records import CondenseKey, ConfigTexts
from benchbuild.kinds.evaluate.records import EvaluateRecord
from benchbuild.kinds.train.costs import BASE_MEMORY
from benchbuild.kinds.workers import GraphAbout, SetFacts
from benchbuild.pipeline.jobs import Cost, Found, JobKind, Place, Run
from benchbuild.pipeline.records import JobKey
from benchbuild.pipeline.settings import RunPart, location
from benchquery import condread
from benchquery.allowed import Pattern
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
        source_sha256: The checksum of the manifest of the table that the graphs come from: what
            that table is, since the manifest has the checksums of all its files.
        folder: Where that table is here.
        source: Where it was when the run was begun, as far as older versions said so.
    """

    source_sha256: Annotated[str, Pattern("[0-9a-f]{64}", "64 hexadecimal digits")]
    folder: str = location()
    source: str = location(written=True)


@dataclass(frozen=True)
class EvaluateJobs(RunPart):
    """Which graphs are evaluated.

    Attributes:
        configs: The canonical texts of their configurations.
    """

    configs: ConfigTexts


class EvaluateAbout(GraphAbout, total=False):
    """What readers of a table want to know, and where the table was when the run was begun."""

    table_folder: str


SOURCE = "source"
"""Folder within that of a run where its table may lie."""
_FOLDER = "table_folder"

EvaluateRun = Run[EvaluateSettings, EvaluateJobs]


class EvaluateKind(JobKind[EvaluateSettings, EvaluateJobs, EvaluateRecord]):
    """Evaluate the graphs of a table; merges into the table with rows added."""

    name = "evaluate"
    settings = EvaluateSettings
    jobs = EvaluateJobs
    record = EvaluateRecord
    facts = SetFacts
    about = EvaluateAbout
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
        check_environment(record)
        yield from run.settings.evaluations.problems(record)

    def score(self, record: EvaluateRecord) -> float:
        """Return the best validation metric of any model."""
        return max((float(value) for value in record.eval_valid), default=float("nan"))

    def write_table(self, collection: Collection, stage: Path) -> None:
        """Write the table that the graphs came from with rows added."""
        from benchbuild.kinds.condense.table import write_extended_table

        write_extended_table(collection, _source_of(collection), stage)

    def contents(self, manifest: Manifest, folder: Path) -> str:
        """Say how many graphs a table has, and in how many rows."""
        from benchbuild.kinds.condense.table import contents

        return contents(manifest, folder)


JOB = EvaluateKind()


class EvaluateContext(EvaluatingWorker):
    """A worker that evaluates graphs of a table."""

    def __init__(self, settings: EvaluateSettings, place: Place) -> None:
        folder = Path(settings.folder or settings.source)
        if not _holds(folder, settings.source_sha256):
            raise PlanError(
                f"{folder} does not hold the table that this run evaluates, whose manifest has the "
                f"SHA-256 {settings.source_sha256[:12]}...: have that table there wherever these "
                "jobs run"
            )
        super().__init__(settings, place)
        self._table = condread(folder)
        known = self._table.manifest.provenance["dataset"]["checksum"]
        if self._graph.checksum != known:
            raise DatasetError(
                f"{settings.dataset}: the data here is not what the table in "
                f"{folder} was made from: its checksum is "
                f"{self._graph.checksum[:12]}..., the table says {known[:12]}..."
            )
        self._folder = folder

    @cached_property
    def found(self) -> Found:
        """What the data is, and where the table lies for those who merge here."""
        found = super().found
        return replace(found, about={**found.about, _FOLDER: str(self._folder)})

    def run(self, key: JobKey) -> EvaluateRecord:
        """Evaluate one graph."""
        number = CondenseConfig.from_text(key[0]).valid_hash()
        form = self._table.graphs.form(number)
        kept = payload_type(form).from_arrays(self._table.graph(number))
        found = self.evaluations.run(self.evaluator, kept)
        return EvaluateRecord(config=key[0], environment=self.environment(), **vars(found))


def _holds(folder: Path, sha256: str) -> bool:
    """Tell whether a folder holds the table whose manifest has a checksum."""
    try:
        return describe_file(folder / MANIFEST).sha256 == sha256
    except (OSError, ValueError):
        return False


def _source_of(collection: Collection) -> CondensedTable:
    """Open the table that the graphs of some runs come from.

    Raises:
        MergeError: If it is in none of the places where it may be.
        CorruptTableError: If a file is damaged or missing.
    """
    sha256 = collection.run.settings.source_sha256
    beside = [folder / SOURCE for folder in collection.folders]
    known = [run.about.get(_FOLDER) or run.settings.source for run in collection.runs]
    places = list(dict.fromkeys([*beside, *(Path(place) for place in known if place)]))
    for place in places:
        if _holds(place, sha256):
            return condread(place)
    raise MergeError(
        f"the table whose graphs were evaluated is not in {' or '.join(map(str, places))}: its "
        f"manifest has the SHA-256 {sha256[:12]}... Copy it to {beside[0]}, then merge again"
    )


def evaluate_run(source: Path, evaluations: Evaluations, where: Sequence[str] = ()) -> EvaluateRun:
    """Describe a run of evaluations.

    Args:
        source: The folder of a table of condensed graphs.
        evaluations: How each of its graphs is judged.
        where: Conditions that a row of a graph must fulfil; none for all graphs.

    Raises:
        PlanError: If it has no graphs, or none that fulfils the conditions.
        QueryError: If a condition can't be understood.
        TableKindError: If it is a table of architectures.
        CorruptTableError: If it is no table, or a damaged one.
    """
    manifest = read_manifest(source)
    table = condread(source)
    there = table.graphs.configs
    texts = [one.text for one in table.where(*where).configs() if one.valid_hash() in there]
    if not texts:
        which = f" where {' and '.join(where)}" if where else ""
        raise PlanError(f"the table in {source} has no condensed graphs{which}")
    settings = EvaluateSettings(
        dataset=manifest.name,
        recipe=manifest.provenance["recipe"],
        evaluations=evaluations,
        source_sha256=describe_file(source / MANIFEST).sha256,
        folder=str(source.resolve()),
    )
    return Run(JOB.name, settings, EvaluateJobs(tuple(texts)))
