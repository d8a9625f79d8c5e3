"""How well the predicted times agree with the measured ones, and which rates fit them best.

    python benchmarks/costs.py

The measured times are the processor seconds of every training in the bundled tables, and of a few
trainings on karate that run here: there is so little to compute that calling the layers is most of
it. The rates are fitted to relative errors, all datasets counting alike, and are what `RATES` in
benchbuild/costs.py holds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields

import numpy as np
from scipy.optimize import nnls

from benchbuild.datasets import dataset_spec, hyperparameters_for, load
from benchbuild.kinds.train.costs import RATES, CostModel, Work
from benchbuild.kinds.train.training import train
from benchquery import SPACES, Arch, ArchTable, lightread, tables

SMALL = "karate"


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


def main() -> None:
    """Compare both the rates in use and those that fit best."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=12, help="architectures on karate (12)")
    parser.add_argument("--epochs", type=int, help="of each (as the dataset has)")
    options = parser.parse_args()
    found = [*bundled(), small(options.sample, options.epochs)]
    print("rates in use")
    report(found, RATES)
    print("best fit")
    report(found, fit(found))


if __name__ == "__main__":
    main()
