"""Trains one architecture on one graph with one seed: the job behind every row of a table.

Several seeds of an architecture can be trained at once, as a stack: every step is then one for all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
from benchbuild.compute.result import Summary, summarise
from benchbuild.datasets.graph import Graph
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.network.cell import build_network
from benchbuild.kinds.train.network.size import count_parameters
from benchbuild.kinds.train.network.stack import stack
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
    job = _Job(arch, graph, hp, (seed,), resolve_device(device), threads, plain, capture)
    return job.results()[0]


def train_together(
    arch: Arch,
    graph: Graph,
    hp: HyperParameters,
    seeds: Sequence[int],
    device: str | torch.device = "cpu",
    *,
    threads: int = 1,
    capture: bool = False,
) -> list[TrainResult]:
    """Train one architecture with several seeds as one computation.

    Each has the figures that it has alone, on a CPU bit by bit if the hidden width is a multiple of
    16; see docs/gpu.md of a GPU. Seconds are the share of one in those of all, and the memory is
    that of all. An error is the end of all of them.

    Args:
        arch: The architecture, canonical or not.
        graph: The dataset.
        hp: Hyper-parameters.
        seeds: The seeds.
        device: See `train`.
        threads: See `train`.
        capture: See `train`.

    Raises:
        DeviceError: If the device does not exist, or can't capture.
    """
    return _Job(
        arch, graph, hp, tuple(seeds), resolve_device(device), threads, capture=capture
    ).results()


@dataclass
class _Job:
    """One run, of one seed or several; what it has measured so far outlives an error."""

    arch: Arch
    graph: Graph
    hp: HyperParameters
    seeds: tuple[int, ...]
    device: torch.device
    threads: int
    plain: bool = False
    capture: bool = False
    latency: float = math.nan
    train_seconds: float = math.nan

    def __post_init__(self) -> None:
        if self.capture:
            check_capture(self.device)
        self.history = History(self.hp.epochs, self.device, len(self.seeds))

    def results(self) -> list[TrainResult]:
        """Run it; whatever goes wrong becomes a status."""
        memory = MemoryMeter(self.device)
        status, reason = OK, ""
        try:
            with reproducible(self.device, self._streams[0], self.threads):
                self._run()
        except Exception as error:
            status, reason = failure(error)
        curves = self.history.values.cpu().numpy().reshape(self.hp.epochs, len(self.seeds), -1)
        return [
            self._result(seed, summarise(curves[:, place]), status, reason, memory.peak())
            for place, seed in enumerate(self.seeds)
        ]

    def _result(
        self, seed: int, summary: Summary, status: str, reason: str, peak_memory: int
    ) -> TrainResult:
        graph, hp = self.graph, self.hp
        if status == OK and summary.epochs_done < hp.epochs:
            status = DIVERGED
            reason = f"the loss was not finite in epoch {summary.epochs_done}"
        return TrainResult(
            dataset=graph.name,
            hash=self.arch.valid_hash(),
            seed=seed,
            status=status,
            reason=reason,
            epochs_done=summary.epochs_done,
            curves=summary.curves,
            valid_perf=summary.valid_perf,
            perf=summary.perf,
            best_epoch=summary.best_epoch,
            latency=self.latency,
            params=count_parameters(self.arch, graph.num_features, graph.num_classes, hp),
            train_seconds=self.train_seconds / len(self.seeds),
            peak_memory=peak_memory,
            environment=environment(self.device, self.threads),
        )

    @property
    def _streams(self) -> list[int]:
        return [stream_seed("dropout", seed) for seed in self.seeds]

    def _run(self) -> None:
        """Measure the latency of one network, then train."""
        graph = self.graph
        networks = [
            build_network(self.arch, graph.num_features, graph.num_classes, self.hp, seed)
            for seed in self.seeds
        ]
        together = stack(networks) if len(networks) > 1 else None
        network = networks[0].to(self.device)
        prepared = prepare(graph, self.device)
        if accelerates(self.device):
            most = KEPT * capacity(self.device) or math.inf
            prepared.make_room(self.arch.ops, most)
        fast = FastRunner(network, prepared, self._streams[0])
        self.latency = latency(fast.all_logits, self.device)
        if together is not None:
            fast = FastRunner(together.to(self.device), prepared, *self._streams)
        self._train(PlainRunner(network, graph, self.device) if self.plain else fast)

    def _train(self, runner: Runner) -> None:
        watch = Stopwatch(self.device)
        try:
            objective = Objective.of(self.graph, self.device)
            run_epochs(runner, objective, self.hp, self.history, capture=self.capture)
        finally:
            self.train_seconds = watch.seconds()
