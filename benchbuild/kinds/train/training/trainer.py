"""Trains one architecture on one graph with one seed: the job behind every row of a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import torch

from benchbuild.compute.capture import check_capture
from benchbuild.compute.devices import (
    accelerates,
    capacity,
    environment,
    reproducible,
    resolve_device,
    stream_seed,
)
from benchbuild.compute.loop import History
from benchbuild.compute.meters import MemoryMeter, Stopwatch, latency
from benchbuild.compute.objective import Objective
from benchbuild.compute.result import summarise
from benchbuild.datasets.graph import Graph
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.network.cell import build_network
from benchbuild.kinds.train.network.size import count_parameters
from benchbuild.kinds.train.training.blocks import PreparedGraph
from benchbuild.kinds.train.training.fast import FastRunner
from benchbuild.kinds.train.training.plain import PlainRunner
from benchbuild.kinds.train.training.recipe import Runner, run_epochs
from benchbuild.kinds.train.training.result import TrainResult
from benchbuild.pipeline.failures import failure
from benchbuild.pipeline.records import DIVERGED, OK
from benchquery.kinds.architectures.arch import Arch

KEPT = 0.25
"""Share of a GPU's memory that matrices of operations may take which a job does not use."""


@lru_cache(maxsize=1)
def prepare(graph: Graph, device: torch.device) -> PreparedGraph:
    """Prepare a graph for a device; the last one is kept for the jobs that follow."""
    return PreparedGraph(graph, device)


def train(
    arch: Arch,
    graph: Graph,
    hp: HyperParameters,
    seed: int,
    device: str | torch.device = "cpu",
    *,
    threads: int = 1,
    plain: bool = False,
    capture: bool = False,
) -> TrainResult:
    """Train and measure one architecture.

    The same arguments give the same numbers, alone or in a pool, apart from the seconds and bytes.
    Whatever goes wrong within the job becomes the result's status; only an interrupt (and a device
    that does not exist) is raised.

    Args:
        arch: The architecture, canonical or not.
        graph: The dataset.
        hp: Hyper-parameters.
        seed: Seed of initial weights and dropout.
        device: "auto", "cpu", "cuda" or "cuda:<index>".
        threads: Threads on the CPU. More of them change the last bits of a result.
        plain: Whether to run PyG's layers as they are. Slow; the reference for the tests.
        capture: Whether an epoch is captured as a CUDA graph; the figures are the same.

    Raises:
        DeviceError: If the device does not exist, or can't capture.
    """
    place = resolve_device(device)
    if capture:
        check_capture(place)
    job = _Job(arch, graph, hp, seed, place, plain, capture)
    memory = MemoryMeter(place)
    status, reason = OK, ""
    try:
        with reproducible(place, stream_seed("dropout", seed), threads):
            job.run()
    except Exception as error:
        status, reason = failure(error)
    summary = summarise(job.history.values.cpu().numpy())
    if status == OK and summary.epochs_done < hp.epochs:
        status = DIVERGED
        reason = f"the loss was not finite in epoch {summary.epochs_done}"
    return TrainResult(
        dataset=graph.name,
        hash=arch.valid_hash(),
        seed=seed,
        status=status,
        reason=reason,
        epochs_done=summary.epochs_done,
        curves=summary.curves,
        valid_perf=summary.valid_perf,
        perf=summary.perf,
        best_epoch=summary.best_epoch,
        latency=job.latency,
        params=count_parameters(arch, graph.num_features, graph.num_classes, hp),
        train_seconds=job.train_seconds,
        peak_memory=memory.peak(),
        environment=environment(place, threads),
    )


@dataclass
class _Job:
    """One run; what it has measured so far can be read even after an error."""

    arch: Arch
    graph: Graph
    hp: HyperParameters
    seed: int
    device: torch.device
    plain: bool
    capture: bool
    latency: float = math.nan
    train_seconds: float = math.nan

    def __post_init__(self) -> None:
        self.history = History(self.hp.epochs, self.device)

    def run(self) -> None:
        """Measure the latency, then train."""
        graph = self.graph
        network = build_network(
            self.arch, graph.num_features, graph.num_classes, self.hp, self.seed
        ).to(self.device)
        prepared = prepare(graph, self.device)
        if accelerates(self.device):
            most = KEPT * capacity(self.device) or math.inf
            prepared.make_room(self.arch.ops, most)
        fast = FastRunner(network, prepared, stream_seed("dropout", self.seed))
        self.latency = latency(fast.all_logits, self.device)
        self._train(PlainRunner(network, graph, self.device) if self.plain else fast)

    def _train(self, runner: Runner) -> None:
        watch = Stopwatch(self.device)
        try:
            objective = Objective.of(self.graph, self.device)
            run_epochs(runner, objective, self.hp, self.history, capture=self.capture)
        finally:
            self.train_seconds = watch.seconds()
