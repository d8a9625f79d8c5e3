"""Small finished runs of every kind of job and every sort of data; none needs a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchbuild.kinds.choose.kind import choose_run
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.kind import condense_run
from benchbuild.kinds.darts.kind import darts_run, search_hyperparameters
from benchbuild.kinds.evaluate.kind import evaluate_run
from benchbuild.kinds.tune.kind import RANGES, tune_run
from benchbuild.pipeline.jobs import AnyRun, Place
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.records import finished_now
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.testing import synthetic_record, synthetic_run
from benchquery.kinds.condensed.config import CondenseConfig

SHARD = Shard(1, 1)
_DATASET = "karate"
_FEW: Mapping[str, int] = MappingProxyType({"epochs": 2, "hidden": 4})
_BATCH = 4
_CONDENSED = "condense"


@dataclass(frozen=True)
class _Sample:
    """What is condensed and judged of one sort of data: something of every form.

    Attributes:
        dataset: A dataset that needs no file.
        configs: The method and the other settings of each condensation.
        task: What models are asked to do that judge the results.
        models: The model that does so at first, and the one that is added later.
        hyperparameters: Those of its training.
    """

    dataset: str
    configs: tuple[Mapping[str, Any], ...]
    task: str
    models: tuple[str, str]
    hyperparameters: Mapping[str, int]

    def evaluations(self, model: str) -> Evaluations:
        """Return what a model does."""
        return Evaluations.of([model], [0], self.hyperparameters, self.task)


_SAMPLES: Mapping[str, _Sample] = MappingProxyType(
    {
        "nodes": _Sample(
            _DATASET,
            (
                {"method": "random", "ratio": 0.2},
                {"method": "gcond", "ratio": 0.3, "outer": 1, "inner": 1, **_FEW},
            ),
            "node-classification",
            ("gcn", "sgc"),
            _FEW,
        ),
        "graphs": _Sample(
            "motifs:graphs=60",
            (
                {"method": "random", "per_class": 1},
                {"method": "doscond", "per_class": 1, "nodes": 4, "init": "noise", **_FEW,
                 "edges": "soft"},
                {"method": "mirage", "per_class": 2},
            ),
            "graph-classification",
            ("gcn", "gin"),
            _FEW,
        ),
        "images": _Sample(
            "digits:train=100,valid=20,test=20",
            (
                {"method": "random", "per_class": 1},
                {"method": "dm", "per_class": 1, "epochs": 1, "width": 2},
            ),
            "image-classification",
            ("mlp", "convnet"),
            MappingProxyType({"epochs": 2, "width": 4, "full_epochs": 1}),
        ),
    }
)  # fmt: skip
"""By the name of the domain."""


def write_runs(folder: Path) -> list[Path]:
    """Write a finished run of every kind that comes with the package, unless they are there.

    Runs that condense or evaluate are there for every sort of data.

    Args:
        folder: Where to; the tables that are evaluated go there too.

    Returns:
        Their folders.
    """
    runs = folder / "runs"
    if not runs.exists():
        narrow = {
            name: (_FEW.get(name),) if name in _FEW else values for name, values in RANGES.items()
        }
        hp = search_hyperparameters(_DATASET).override(**_FEW)
        write_synthetic(runs / "train")
        _write(runs / "tune", tune_run(_DATASET, trials=1, ranges=narrow))
        few = {name: (value,) for name, value in _FEW.items()}
        _write(runs / "choose", choose_run(_DATASET, "dm", trials=2, sizes=[0.3], ranges=few))
        _write(runs / "darts", darts_run(_DATASET, links=["0012"], hp=hp))
        for domain, table in write_tables(folder).items():
            sample = _SAMPLES[domain]
            run = evaluate_run(table, sample.evaluations(sample.models[1]))
            _write(runs / f"evaluate-{domain}", run)
    return sorted([*runs.iterdir(), *folder.glob(f"{_CONDENSED}-*")])


def write_tables(folder: Path) -> dict[str, Path]:
    """Condense something of every sort of data, unless that was done.

    Args:
        folder: Where the runs go, and the tables of them.

    Returns:
        The tables by the name of their domain.
    """
    tables = {}
    for domain, sample in _SAMPLES.items():
        tables[domain] = folder / "tables" / domain
        if not tables[domain].exists():
            configs = [CondenseConfig(sample.dataset, **config) for config in sample.configs]
            run = condense_run(sample.dataset, configs, sample.evaluations(sample.models[0]))
            _write(folder / f"{_CONDENSED}-{domain}", run)
            merge([folder / f"{_CONDENSED}-{domain}"], tables[domain])
    return tables


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
