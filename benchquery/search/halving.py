"""Successive halving (Jamieson and Talwalkar, 2016): train many a little, the best of them on."""

from __future__ import annotations

import random

from benchquery.search.oracle import Oracle
from benchquery.search.workers import SimulatedWorkers


def successive_halving(
    oracle: Oracle, rng: random.Random, *, factor: int = 3, rungs: int = 4
) -> None:
    """Start many trainings, and after each stop let only the best go on.

    A bracket starts ``factor ** (rungs - 1)`` random architectures, each for that fraction
    of the epochs. At each stop the best ``1 / factor`` of them go on, for ``factor`` times
    the epochs, until one trains to the end. Brackets follow each other until the budget is
    used up. The trainings between two stops run on all workers.

    Args:
        oracle: The oracle of a table with curves.
        rng: The source of randomness.
        factor: The share that goes on is one in so many.
        rungs: How many stops there are, the end included; fewer where there are too few
            epochs or architectures.

    Raises:
        QueryError: If the table has no curves.
    """
    epochs = oracle.epochs
    while rungs > 1 and factor ** (rungs - 1) > min(epochs, len(oracle)):
        rungs -= 1
    workers = SimulatedWorkers(oracle)
    while True:
        archs = rng.sample(oracle.hashes, factor ** (rungs - 1))
        for rung in reversed(range(rungs)):
            rewards = workers.evaluate_all(archs, max(epochs // factor**rung, 1))
            ranked = sorted(zip(rewards, archs, strict=True), key=lambda pair: -pair[0])
            archs = [arch for _, arch in ranked[: max(len(archs) // factor, 1)]]
