"""Local search: climb to a better neighbour until there is none, then start elsewhere."""

from __future__ import annotations

import random

from benchquery.kinds.architectures.arch import Arch
from benchquery.search.oracle import Oracle


def local_search(oracle: Oracle, rng: random.Random) -> None:
    """Climb from random starts, taking the first neighbour that is better.

    Neighbours (`Space.neighbours`) are visited in random order. What was asked once is
    remembered, and not asked again.
    """
    seen: dict[int, float] = {}

    def reward(number: int) -> float:
        if number not in seen:
            seen[number] = oracle.evaluate(number)
        return seen[number]

    for start in rng.sample(oracle.hashes, len(oracle)):
        if start in seen:
            continue
        current: int | None = start
        while current is not None:
            height = reward(current)
            around = [
                arch.valid_hash() for arch in oracle.space.neighbours(Arch.from_hash(current))
            ]
            rng.shuffle(around)
            current = next((n for n in around if n in oracle and reward(n) > height), None)
