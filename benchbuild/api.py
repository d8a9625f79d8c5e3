"""Building from Python: what the commands do, as functions.

A run is described by a function of its kind, such as `benchbuild.train_run`; `run` runs a shard of
it in a folder, and `merge` makes a table of one or several folders.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.registry import dataset_spec
from benchbuild.datasets.root import named_root
from benchbuild.engines.base import WorkerSettings
from benchbuild.engines.local import LocalEngine
from benchbuild.errors import PlanError
from benchbuild.pipeline import merge as merging
from benchbuild.pipeline.engine import Engine
from benchbuild.pipeline.files import check_writable
from benchbuild.pipeline.jobs import AnyRun
from benchbuild.pipeline.merge import Merged
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import SCRATCH, RunFolder
from benchbuild.pipeline.runner import ShardReport, run_shard
from benchbuild.pipeline.signals import Stop
from benchquery.kinds.architectures.arch import Arch

if TYPE_CHECKING:
    from torch import nn

    from benchbuild.hyperparameters import HyperParameters

PathLike = str | os.PathLike[str]


def run(
    described: AnyRun,
    out: PathLike,
    *,
    shard: str | Shard = "1/1",
    workers: int | None = None,
    device: str = "auto",
    workers_per_device: int = 1,
    data_root: PathLike | None = None,
    capture: bool = False,
    engine: Engine | None = None,
    retry_failed: bool = False,
    batch: int = 1,
    progress: bool = False,
    stop: Stop | None = None,
) -> ShardReport:
    """Run the jobs of a shard that have no record yet; the same call resumes what was cut off.

    Args:
        described: What is run, as `benchbuild.train_run` and its like describe it.
        out: Folder of the run.
        shard: Which share, as in ``3/32``.
        workers: Worker processes; None for one a core, or `workers_per_device` on every GPU.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:i``.
        workers_per_device: Processes that share a GPU.
        data_root: Folder of the datasets; None for the default.
        capture: Whether trainings capture an epoch as a CUDA graph; the figures are the same.
        engine: Where jobs run, not yet started; it decides on workers and devices then. None for
            processes on this machine.
        retry_failed: Whether to run those again that ended for reasons of the machine.
        batch: How many seeds of an architecture are trained as one computation; see docs/gpu.md.
            From 2 up a run that is begun has them in the same shard.
        progress: Whether to show on standard error how far it is.
        stop: Says when to give up; None for never.

    Returns:
        How the shard ended.

    Raises:
        PlanError: If there is no such shard, or there are too many jobs.
        RunFolderError: If the folder holds another run, or another process runs the shard.
        WorkerError: If workers can't run, for example for want of the dataset.
        WriteError: If results can't be written.
    """
    share = shard if isinstance(shard, Shard) else Shard.parse(shard)
    check_counts(batch=batch)
    path, asked = Path(out), stop or Stop()
    RunFolder.check(path, described)
    check_writable(path)
    kind_of(described.kind).keys(described)
    if engine is None:
        wanted = worker_settings(
            path,
            count=workers,
            device=device,
            per_device=workers_per_device,
            data_root=data_root,
            capture=capture,
        )
        engine = LocalEngine(wanted)
    try:
        with asked.at_once():
            found = engine.start(described)
        joined = described.joined or batch > 1
        begun = dataclasses.replace(described, facts=found.facts, about=found.about, joined=joined)
        folder = RunFolder.begin(path, begun)
        return run_shard(
            folder, share, engine, asked, retry_failed=retry_failed, batch=batch, show=progress
        )
    finally:
        engine.close()


def check_counts(**counts: int | None) -> None:
    """Refuse numbers below 1; None stands for a default.

    Raises:
        PlanError: If there is one.
    """
    for name, number in counts.items():
        if number is not None and number < 1:
            raise PlanError(f"{name}={number!r} is not allowed: must be a whole number from 1 up")


def worker_settings(
    out: Path,
    *,
    count: int | None,
    device: str,
    per_device: int,
    data_root: PathLike | None,
    capture: bool = False,
) -> WorkerSettings:
    """Return how many workers of a run there shall be, and where.

    What was named here holds for workers elsewhere; else each machine has its own default.

    Raises:
        PlanError: If a number is not from 1 up.
    """
    check_counts(workers=count, workers_per_device=per_device)
    root = named_root(None if data_root is None else Path(data_root))
    return WorkerSettings(
        device=device,
        count=count,
        per_device=per_device,
        data_root=os.path.realpath(root) if root else None,
        scratch=str(Path(os.path.realpath(out)) / SCRATCH),
        capture=capture,
    )


def merge(
    folders: PathLike | Iterable[PathLike],
    out: PathLike,
    *,
    allow_gaps: bool = False,
    replace: bool = False,
    progress: bool = False,
    stop: Stop | None = None,
) -> Merged:
    """Merge the records of one or several run folders into a table.

    Args:
        folders: A folder of a run, or several of runs with the same settings and data.
        out: The folder of the table to write.
        allow_gaps: Whether jobs may be missing.
        replace: Whether a table that is already there may go.
        progress: Whether to show on standard error how far it is.
        stop: Says when to give up; nothing is written then.

    Returns:
        What was written; its text says it in a sentence.

    Raises:
        MergeError: If settings are mixed, records contradict each other, or jobs are missing.
        CorruptPartError: If a part is damaged.
        RunFolderError: If a folder is not that of a run.
        QueryError: If something is already at `out`.
        WriteError: If the table can't be written.
    """
    named = [folders] if isinstance(folders, str | os.PathLike) else list(folders)
    paths = [Path(folder) for folder in named]
    return merging.merge(
        paths, Path(out), allow_gaps=allow_gaps, replace=replace, stop=stop, show=progress
    )


def build(
    arch: Arch | int,
    dataset: str | None = None,
    *,
    features: int | None = None,
    classes: int | None = None,
    hp: HyperParameters | None = None,
    seed: int = 0,
) -> nn.Module:
    """Build the trainable network of an architecture, as the tables' trainings begin with it.

    Called with the features of all nodes and the edges, ``network(x, edge_index)``, it returns the
    logits of every node.

    Args:
        arch: An architecture, or its hash.
        dataset: A dataset whose sizes and hyper-parameters are taken where none are given.
        features: Number of features of a node.
        classes: Number of classes, or of tasks.
        hp: Hyper-parameters: widths, layers around the cell, dropout.
        seed: Seed of the initial weights.

    Raises:
        PlanError: If neither a dataset nor both sizes and hyper-parameters are given.
        UnknownDatasetError: If there is no such dataset.
        DatasetError: If the dataset does not state its sizes.
        UnknownHashError: If there is no such architecture.

    Example:
        >>> network = build(61237, "cora")
        >>> sum(parameter.numel() for parameter in network.parameters())
        765191
    """
    from benchbuild.kinds.train.network.cell import build_network

    if dataset is None and (features is None or classes is None or hp is None):
        raise PlanError(
            "name a dataset, as in build(61237, 'cora'), or give features, classes and hp"
        )
    if dataset is not None:
        spec = dataset_spec(dataset).require("nodes", "build")
        hp = hp or spec.hyperparameters
        if features is None or classes is None:
            size = spec.stated_size
            features = size.features if features is None else features
            classes = size.classes if classes is None else classes
    assert features is not None
    assert classes is not None
    assert hp is not None
    known = arch if isinstance(arch, Arch) else Arch.from_hash(arch)
    return build_network(known, features, classes, hp, seed)
