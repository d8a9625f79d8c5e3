"""Speed of the builder against the plain PyG loop, in one run and on one thread.

    python benchmarks/train.py --sample 24 --epochs 10

Architectures are drawn uniformly and timed in turn, first the one way and then the other, so that
a busy machine disturbs both alike. Both make the same steps of the same recipe; the plain loop is
PyG's layers on edge_index with dense features and a full evaluation every epoch. The ratio is that
of the total times, so slow architectures count for more. The last column shows that the records
agree: the greatest difference of a loss, relative to the loss where that is above 1, with dropout
off, over a few epochs. Where training is unstable, rounding errors grow with every step.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import torch

from benchbuild.compute.loop import History
from benchbuild.compute.objective import Objective
from benchbuild.datasets import Graph, hyperparameters_for, load
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.network import build_network
from benchbuild.kinds.train.training import train
from benchbuild.kinds.train.training.blocks import PreparedGraph
from benchbuild.kinds.train.training.fast import FastRunner
from benchbuild.kinds.train.training.plain import PlainRunner
from benchbuild.kinds.train.training.recipe import Runner, run_epochs
from benchquery import OPS, SPACES, Arch

CPU = torch.device("cpu")
EQUALITY_EPOCHS = 5
LOSSES = slice(3, 6)


@dataclass(frozen=True)
class Timing:
    """Seconds an epoch of one architecture, both ways, and how far the records are apart."""

    arch: Arch
    plain: float
    fast: float
    difference: float

    @property
    def ratio(self) -> float:
        """How many times faster the builder is."""
        return self.plain / self.fast


def seconds_per_epoch(runner: Runner, objective: Objective, hp: HyperParameters) -> float:
    """Time of an epoch after one that does not count."""
    run_epochs(runner, objective, hp.override(epochs=1), History(1, CPU))
    start = time.perf_counter()
    run_epochs(runner, objective, hp, History(hp.epochs, CPU))
    return (time.perf_counter() - start) / hp.epochs


def greatest_difference(arch: Arch, graph: Graph, hp: HyperParameters) -> float:
    """Greatest difference of a loss between the two ways, dropout off; relative if above 1."""
    exact = hp.override(dropout=0.0, epochs=EQUALITY_EPOCHS)
    fast, plain = (train(arch, graph, exact, seed=0, plain=way) for way in (False, True))
    ours, theirs = fast.curves[:, LOSSES], plain.curves[:, LOSSES]
    return float((np.abs(ours - theirs) / np.maximum(theirs, 1.0)).max())


def measure(arch: Arch, prepared: PreparedGraph, hp: HyperParameters) -> Timing:
    """Time one architecture both ways."""
    graph = prepared.graph
    objective = Objective.of(graph, CPU)
    networks = [
        build_network(arch, graph.num_features, graph.num_classes, hp, seed=0) for _ in range(2)
    ]
    plain = seconds_per_epoch(PlainRunner(networks[0], graph, CPU), objective, hp)
    fast = seconds_per_epoch(FastRunner(networks[1], prepared, seed=0), objective, hp)
    return Timing(arch, plain, fast, greatest_difference(arch, graph, hp))


def total_ratio(timings: list[Timing]) -> float:
    """Ratio of the total times."""
    return sum(t.plain for t in timings) / sum(t.fast for t in timings)


def by_operation(timings: list[Timing]) -> dict[str, list[Timing]]:
    """Return the timings of the architectures that hold an operation, by operation."""
    groups: defaultdict[str, list[Timing]] = defaultdict(list)
    for timing in timings:
        for op in set(timing.arch.canonical().ops):
            groups[op].append(timing)
    return {op: groups[op] for op in OPS if op in groups}


def report(label: str, timings: list[Timing]) -> None:
    """Print one line."""
    plain = float(np.mean([t.plain for t in timings]))
    fast = float(np.mean([t.fast for t in timings]))
    worst = max(t.difference for t in timings)
    print(
        f"{label:<42}{1 / plain:>10.2f}{1 / fast:>10.2f}{total_ratio(timings):>9.2f}{worst:>12.1e}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--sample", type=int, default=24, help="architectures, drawn uniformly")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draw")
    parser.add_argument("--epochs", type=int, default=10, help="epochs timed for each")
    parser.add_argument("--data-root")
    options = parser.parse_args()

    torch.set_num_threads(1)
    prepared = PreparedGraph(load(options.dataset, options.data_root), CPU)
    hp = hyperparameters_for(options.dataset).override(epochs=options.epochs)
    print(f"{'architecture':<42}{'plain/s':>10}{'fast/s':>10}{'ratio':>9}{'difference':>12}")
    timings: list[Timing] = []
    for arch in SPACES["full"].sample(options.sample, seed=options.seed):
        timings.append(measure(arch, prepared, hp))
        form = arch.canonical()
        report(f"{''.join(map(str, form.link))} {' '.join(form.ops)}", timings[-1:])
    print()
    for op, group in by_operation(timings).items():
        report(f"with {op} ({len(group)})", group)
    report(f"all {len(timings)}", timings)


if __name__ == "__main__":
    main()
