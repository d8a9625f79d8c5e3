"""Random search."""

from __future__ import annotations

import random

from benchquery.search.oracle import Oracle
from benchquery.search.workers import keep_busy


def random_search(oracle: Oracle, rng: random.Random) -> None:
    """Ask for architectures at random, each at most once, all with the same chance."""
    drawn = iter(rng.sample(oracle.hashes, len(oracle)))
    keep_busy(oracle, lambda: next(drawn), lambda arch, reward: None)
