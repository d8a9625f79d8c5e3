"""Groups of different sizes that lie one after another in one array."""

from __future__ import annotations

import numpy as np


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Return (groups + 1,) where each group begins, given how many entries each has."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def ranges(firsts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return first, first + 1, ... of each group, as many as it has, one group after another."""
    starts = starts_of(counts)
    offsets: np.ndarray = np.repeat(firsts - starts[:-1], counts)
    offsets += np.arange(starts[-1])
    return offsets


def sums(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the sum of each group's values; 0 for a group without any."""
    total = starts_of(values)
    return np.diff(total[starts])
