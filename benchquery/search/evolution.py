"""Regularised evolution (Real et al., 2019): tournaments, mutation, and the oldest dies."""

from __future__ import annotations

import random
from collections import deque

from benchquery.kinds.architectures.arch import Arch
from benchquery.search.oracle import Oracle
from benchquery.search.workers import Candidate, keep_busy


def evolution(
    oracle: Oracle, rng: random.Random, *, population: int = 30, tournament: int = 10
) -> None:
    """Breed from the best of a few random members, and let the oldest member die.

    Args:
        oracle: The oracle.
        rng: The source of randomness.
        population: How many members live at a time; so many random ones come first.
        tournament: How many random members compete to be the parent.
    """
    founders = iter(rng.sample(oracle.hashes, min(population, len(oracle))))
    alive: deque[tuple[float, Arch]] = deque(maxlen=population)

    def propose() -> Candidate:
        founder = next(founders, None)
        if founder is not None:
            return founder
        rivals = rng.sample(alive, min(tournament, len(alive)))
        return mutate_within(oracle, max(rivals, key=lambda member: member[0])[1], rng)

    def observe(arch: Candidate, reward: float) -> None:
        alive.append((reward, arch if isinstance(arch, Arch) else Arch.from_hash(arch)))

    keep_busy(oracle, propose, observe)


def mutate_within(oracle: Oracle, arch: Arch, rng: random.Random) -> Arch:
    """Mutate an architecture until it is one that the table holds."""
    child = oracle.space.mutate(arch, rng)
    while child not in oracle:
        child = oracle.space.mutate(child, rng)
    return child
