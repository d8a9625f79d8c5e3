"""Synthetic runs, for tests and benchmarks of everything that comes after training.

Their tables say so: the origin of their figures is ``synthetic``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from benchbuild.datasets.registry import dataset_spec
from benchbuild.kinds.train.kind import TrainRun, train_run
from benchbuild.kinds.train.network.size import count_parameters
from benchbuild.kinds.train.records import TrainRecord
from benchbuild.pipeline.jobs import canonical, digest
from benchbuild.pipeline.records import OK, JobKey
from benchquery.kinds.architectures.arch import Arch
from benchquery.table.schema import CURVE_COLUMNS, curve_index

_PERFS = [curve_index(f"{split}_perf") for split in ("train", "valid", "test")]
_LOSSES = [curve_index(f"{split}_loss") for split in ("train", "valid", "test")]


def synthetic_run(
    dataset: str = "karate",
    *,
    archs: Iterable[int] | None = None,
    sample: int | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    epochs: int = 8,
) -> TrainRun:
    """Describe a run whose records are made up; arguments as for `train_run`."""
    spec = dataset_spec(dataset)
    hp = spec.hyperparameters.override(epochs=epochs)
    run = train_run(dataset, archs=archs, sample=sample, seeds=seeds, hp=hp)
    names = ("nodes", "edges", "features", "classes", "trained", "labelled")
    return dataclasses.replace(
        run,
        settings=dataclasses.replace(run.settings, origin="synthetic"),
        facts={
            "checksum": digest(["synthetic", dataset]),
            "metric": "accuracy",
            **{name: getattr(spec.size, name) for name in names},
        },
        about={"split": "none", "source": "made up", "licence": "none"},
    )


def synthetic_record(run: TrainRun, key: JobKey, status: str = OK) -> TrainRecord:
    """Make up the record of a job, always the same one.

    Args:
        run: A run of `synthetic_run`.
        key: The job.
        status: How it ended; a diverged one stops half-way.
    """
    number, seed = key
    hp = run.settings.hp
    random = np.random.default_rng([number, seed])
    done = hp.epochs if status == OK else hp.epochs // 2
    curve = np.full((hp.epochs, len(CURVE_COLUMNS)), np.nan, dtype=np.float32)
    curve[:done, _PERFS] = random.integers(0, 1001, (done, 3)) / 1000
    curve[:done, _LOSSES] = (
        2 * np.exp(-np.arange(done) / 50)[:, None] + random.random((done, 3)) / 10
    )
    lowest = np.minimum.accumulate(curve[:done, curve_index("valid_loss")])
    best = np.maximum.accumulate(np.where(np.diff(lowest, prepend=np.inf) < 0, np.arange(done), 0))
    test_perf = curve[:, curve_index("test_perf")]
    curve[:done, curve_index("best_perf")] = test_perf[best]
    size = dataset_spec(run.settings.dataset).size
    return TrainRecord(
        hash=number,
        seed=seed,
        status=status,
        reason="" if status == OK else f"made up: {status}",
        epochs_done=done,
        valid_perf=round(float(curve[:done, curve_index("valid_perf")].max()), 3),
        perf=float(test_perf[best[-1]]),
        best_epoch=int(best[-1]),
        params=count_parameters(Arch.from_hash(number), size.features, size.classes, hp),
        curve=curve.reshape(-1),
        latency=float(random.random()) / 100,
        train_time=float(random.random()) * 10,
        peak_memory=int(random.integers(400_000_000, 500_000_000)),
        environment=canonical({"device": "none", "device_name": "made up"}),
        finished=float(1.7e9 + number + seed),
        host="nowhere",
    )
