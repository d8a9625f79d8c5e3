"""How well the predicted times agree with the measured ones, and which rates fit them best.

    python benchmarks/costs.py

The measured times are the processor seconds of every training in the bundled tables, and of a few
trainings on karate that run here: there is so little to compute that calling the layers is most of
it. The rates are fitted to relative errors, all datasets counting alike, and are what `RATES` in
benchbuild/costs.py holds.

    python benchmarks/costs.py --condense cora:0.026 citeseer:0.018

The same of condensing instead: processor seconds of a step of each method that learns, and of an
epoch of judging the result by a GCN, one after the other on one thread, in the environment of the
workers (`benchbuild.engines.base`). Experts are not counted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import torch
from scipy.optimize import nnls

from benchbuild.datasets import dataset_spec, hyperparameters_for, load
from benchbuild.engines.base import WORKER_ENVIRONMENT
from benchbuild.kinds.condense.costs import STEPS, method_seconds, training_seconds
from benchbuild.kinds.condense.method import Workspace
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.scaling import scaled
from benchbuild.kinds.condense.registry import condenser
from benchbuild.kinds.evaluate.node_classification import NodeClassification
from benchbuild.kinds.train.costs import RATES, CostModel, Work
from benchbuild.kinds.train.training import train
from benchquery import SPACES, Arch, ArchTable, lightread, tables
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig

SMALL = "karate"
CPU = torch.device("cpu")
LOOPS, JUDGED = 60, 100
"""Steps of a method that are timed, and epochs of judging."""


@dataclass(frozen=True)
class Measured:
    """The trainings of one dataset.

    Attributes:
        name: The dataset.
        work: (trainings, terms): what an epoch of each adds up to.
        seconds: What an epoch of each took.
    """

    name: str
    work: np.ndarray
    seconds: np.ndarray


def bundled() -> Iterator[Measured]:
    """Read the trainings of the bundled tables."""
    for table in tables(kind="architectures"):
        if table.name.endswith("-built"):
            yield _of_table(lightread(table.name))


def _of_table(table: ArchTable) -> Measured:
    whole, dataset = table.where("status == ok"), table.manifest.name
    seconds = whole.column("train_time") / hyperparameters_for(dataset).epochs
    return Measured(dataset, _work(dataset, whole.archs()), seconds)


def small(sample: int, epochs: int | None) -> Measured:
    """Train a few architectures on karate."""
    graph, hp = load(SMALL), hyperparameters_for(SMALL)
    if epochs is not None:
        hp = hp.override(epochs=epochs)
    archs = SPACES["full"].sample(sample, seed=0)
    seconds = [train(arch, graph, hp, seed=0).train_seconds / hp.epochs for arch in archs]
    return Measured(SMALL, _work(SMALL, archs), np.array(seconds))


def _work(dataset: str, archs: list[Arch]) -> np.ndarray:
    model = CostModel(dataset_spec(dataset).size, hyperparameters_for(dataset))
    return np.array([astuple(model.work(arch)) for arch in archs])


def fit(found: list[Measured]) -> Work:
    """Find the rates, none below zero, of least squared relative error."""
    weights = np.concatenate([np.full(len(m.seconds), len(m.seconds) ** -0.5) for m in found])
    relative = np.concatenate([m.work / m.seconds[:, None] for m in found])
    rates, _ = nnls(relative * weights[:, None], weights)
    return Work(*map(float, rates))


def report(found: list[Measured], rates: Work) -> None:
    """Print how far predictions are off, and how alike they rank."""
    print(" ".join(f"{f.name}={getattr(rates, f.name):.2g}" for f in fields(rates)))
    print(
        f"{'dataset':10} {'trainings':>9} {'ratio':>6} {'median':>7} {'worst':>6} {'spearman':>9}"
    )
    for one in found:
        predicted = one.work @ np.array(astuple(rates))
        ratio = predicted / one.seconds
        errors = np.abs(ratio - 1)
        ranks = [values.argsort().argsort() for values in (predicted, one.seconds)]
        print(
            f"{one.name:10} {len(ratio):9} {np.median(ratio):6.2f} {np.median(errors):7.0%} "
            f"{errors.max():6.0%} {np.corrcoef(*ranks)[0, 1]:9.2f}"
        )


def condensing(dataset: str, ratio: float, data_root: str | None) -> None:
    """Print what a step of each method takes, and what an epoch of judging, as predicted too."""
    graph, size = scaled(load(dataset, data_root)), dataset_spec(dataset).size
    problem, task = Problem.of(graph, CPU), NodeClassification(graph, CPU)
    for method in STEPS:
        config = CondenseConfig(dataset, method, ratio)
        loops = max(int(config.hyperparameters.get("outer", 1)), 1)
        epochs = max(LOOPS // loops, 2)
        sizes = {"experts": 2} if config.spec.family == "trajectory" else {}
        config = CondenseConfig(dataset, method, ratio, epochs=epochs, evaluate_every=1, **sizes)
        with TemporaryDirectory() as scratch:
            times, payloads = [], []
            for snapshot in condenser(config)(problem, config, Workspace(Path(scratch), {})):
                times.append(process_time())
                payloads.append(snapshot.payload)
        nodes = len(payloads[-1].x)
        measured = (times[-1] - times[0]) / (epochs * loops)
        predicted = method_seconds(config, size, nodes) / (epochs * loops)
        _compare(f"{dataset} {method}", measured, predicted)
    judge = EvalConfig(epochs=JUDGED)
    task.judge(payloads[-1], judge)
    begun = process_time()
    task.judge(payloads[-1], judge)
    measured = (process_time() - begun) / JUDGED
    _compare(f"{dataset} judging", measured, training_seconds(judge, size, nodes) / JUDGED)


def _compare(what: str, measured: float, predicted: float) -> None:
    row = f"{what:22}{measured * 1e3:13.2f}{predicted * 1e3:14.2f}{predicted / measured:8.2f}"
    print(row, flush=True)


def main() -> None:
    """Compare both the rates in use and those that fit best."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=12, help="architectures on karate (12)")
    parser.add_argument("--epochs", type=int, help="of each (as the dataset has)")
    parser.add_argument("--condense", nargs="+", metavar="D:R", help="datasets with ratios")
    parser.add_argument("--data-root")
    options = parser.parse_args()
    if options.condense:
        if not os.environ.items() >= WORKER_ENVIRONMENT.items():
            os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | WORKER_ENVIRONMENT)
        torch.set_num_threads(1)
        print(f"{'milliseconds':22}{'measured':>13}{'predicted':>14}{'ratio':>8}")
        for one in options.condense:
            dataset, ratio = one.split(":")
            condensing(dataset, float(ratio), options.data_root)
        return
    found = [*bundled(), small(options.sample, options.epochs)]
    print("rates in use")
    report(found, RATES)
    print("best fit")
    report(found, fit(found))


if __name__ == "__main__":
    main()
