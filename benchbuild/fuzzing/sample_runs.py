"""Small finished runs of every kind of job, on the karate club."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.kind import condense_run
from benchbuild.kinds.darts.kind import darts_run, search_hyperparameters
from benchbuild.kinds.evaluate.kind import evaluate_run
from benchbuild.kinds.tune.kind import RANGES, tune_run
from benchbuild.pipeline.jobs import AnyRun, Place
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.records import finished_now
from benchbuild.pipeline.registry import BUILT_IN, kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.testing import synthetic_record, synthetic_run
from benchquery.kinds.condensed.config import CondenseConfig

SHARD = Shard(1, 1)
_DATASET = "karate"
_EPOCHS = 2
_BATCH = 4


def write_runs(folder: Path) -> list[Path]:
    """Write a finished run of every kind that comes with the package.

    Args:
        folder: Where to; the table that is evaluated goes there too.

    Returns:
        Their folders, each called after its kind.
    """
    few = {"epochs": _EPOCHS, "hidden": 4}
    narrow = {name: (few[name],) if name in few else values for name, values in RANGES.items()}
    configs = [CondenseConfig(_DATASET, "random", ratio) for ratio in (0.2, 0.3)]
    evaluations = Evaluations.of(["gcn", "mlp"], [0], few)
    write_synthetic(folder / "train")
    for run in (
        tune_run(_DATASET, trials=1, ranges=narrow),
        darts_run(_DATASET, links=["0012"], hp=search_hyperparameters(_DATASET).override(**few)),
        condense_run(_DATASET, configs, evaluations),
    ):
        _write(folder / run.kind, run)
    table = merge([folder / "condense"], folder / "table").path
    evaluated = evaluate_run(table, Evaluations.of(["sgc"], [0], few))
    _write(folder / evaluated.kind, evaluated)
    return [folder / name for name in BUILT_IN]


def write_synthetic(folder: Path) -> None:
    """Write the folder of a run of trainings that is done, with made-up figures, in three parts."""
    run = synthetic_run(sample=6, seeds=[0, 1], epochs=5)
    begun = RunFolder.begin(folder, run)
    records = [synthetic_record(run, key) for key in begun.job_keys()]
    with begun.lock(SHARD):
        for start in range(0, len(records), _BATCH):
            begun.parts.add(SHARD, records[start : start + _BATCH])
    begun.log_path(SHARD).write_text(f"{len(records)} jobs are done\n")


def _write(folder: Path, run: AnyRun) -> None:
    """Run all jobs of a run in this process, into one part."""
    context = kind_of(run.kind).open(run.settings, Place("cpu"))
    found = context.found
    begun = RunFolder.begin(folder, dataclasses.replace(run, facts=found.facts, about=found.about))
    with begun.lock(SHARD):
        begun.parts.add(SHARD, [finished_now(context.run(key)) for key in begun.job_keys()])
