"""Synthetic runs, for tests and benchmarks of everything that comes after training.

Their tables say so: the origin of their figures is ``synthetic``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from benchbuild.hyperparameters import HyperParameters, hyperparameters_for
from benchbuild.kinds.train.costs import size_of
from benchbuild.kinds.train.kind import train_run
from benchbuild.kinds.train.network.size import count_parameters
from benchbuild.pipeline.jobs import Key, Record, Run, canonical, digest
from benchquery.kinds.architectures.arch import Arch
from benchquery.table.schema import CURVE_COLUMNS


def synthetic_run(
    dataset: str = "karate",
    *,
    archs: Iterable[int] | None = None,
    sample: int | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    epochs: int = 8,
) -> Run:
    """Describe a run whose records are made up; arguments as for `train_run`."""
    hp = hyperparameters_for(dataset).override(epochs=epochs)
    run = train_run(dataset, archs=archs, sample=sample, seeds=seeds, hp=hp)
    size = size_of(dataset)
    return dataclasses.replace(
        run,
        settings={**run.settings, "origin": "synthetic"},
        facts={
            "checksum": digest(["synthetic", dataset]),
            "metric": "accuracy",
            **{name: value for name, value in vars(size).items() if name != "nonzeros"},
        },
        about={"split": "none", "source": "made up", "licence": "none"},
    )


def synthetic_record(run: Run, key: Key, status: str = "ok") -> Record:
    """Make up the record of a job, always the same one.

    Args:
        run: A run of `synthetic_run`.
        key: The job.
        status: How it ended; a diverged one stops half-way.
    """
    number, seed = key
    hp = HyperParameters(**run.settings["hp"])
    random = np.random.default_rng([number, seed])
    done = hp.epochs if status == "ok" else hp.epochs // 2
    curve = np.full((hp.epochs, len(CURVE_COLUMNS)), np.nan, dtype=np.float32)
    curve[:done, :3] = random.integers(0, 1001, (done, 3)) / 1000
    curve[:done, 3:6] = 2 * np.exp(-np.arange(done) / 50)[:, None] + random.random((done, 3)) / 10
    lowest = np.minimum.accumulate(curve[:done, 4])
    best = np.maximum.accumulate(np.where(np.diff(lowest, prepend=np.inf) < 0, np.arange(done), 0))
    curve[:done, 6] = curve[best, 2]
    size = size_of(run.settings["dataset"])
    return {
        "hash": number,
        "seed": seed,
        "status": status,
        "reason": "" if status == "ok" else f"made up: {status}",
        "epochs_done": done,
        "valid_perf": round(float(curve[:done, 1].max()), 3),
        "perf": float(curve[best[-1], 2]),
        "best_epoch": int(best[-1]),
        "params": count_parameters(Arch.from_hash(number), size.features, size.classes, hp),
        "curve": curve.reshape(-1),
        "latency": float(random.random()) / 100,
        "train_time": float(random.random()) * 10,
        "peak_memory": int(random.integers(400_000_000, 500_000_000)),
        "environment": canonical({"device": "none", "device_name": "made up"}),
        "finished": float(1.7e9 + number + seed),
        "host": "nowhere",
    }
