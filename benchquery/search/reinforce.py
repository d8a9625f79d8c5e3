"""REINFORCE (Williams, 1992) with one categorical distribution for each choice."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.search.choices import choices, form
from benchquery.search.oracle import Oracle

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")


def reinforce(
    oracle: Oracle, rng: random.Random, *, learning_rate: float = 0.1, memory: float = 0.9
) -> None:
    """Draw each link and operation on its own, and make good draws likelier.

    After each draw with reward ``r`` the logits move along the gradient of its
    log-probability, ``one-hot - p``, times ``learning_rate * (r - b) / s``. The baseline
    ``b`` and the scale ``s`` are running averages of the rewards and of their distance
    from it.

    Args:
        oracle: The oracle.
        rng: The source of randomness.
        learning_rate: The step size.
        memory: How much of a running average stays at each step.
    """
    generator = np.random.default_rng(rng.getrandbits(64))
    values = choices(oracle.space)
    sizes = np.array([len(value) for value in values.values()])
    logits = np.where(np.arange(sizes.max()) < sizes[:, None], 0.0, -np.inf)
    rows = np.arange(len(sizes))
    baseline, scale = None, 0.0
    while True:
        noise = generator.gumbel(size=logits.shape)
        drawn = (logits + noise).argmax(axis=1)
        indices = zip(values.items(), drawn.tolist(), strict=True)
        reward = oracle.evaluate_form(*form({name: value[i] for (name, value), i in indices}))
        if baseline is None:
            baseline = reward
        surprise = reward - baseline
        baseline += (1 - memory) * surprise
        scale = memory * scale + (1 - memory) * abs(surprise)
        if scale > 0:
            step = learning_rate * surprise / scale
            weights = np.exp(logits - logits.max(axis=1, keepdims=True))
            logits -= step * weights / weights.sum(axis=1, keepdims=True)
            logits[rows, drawn] += step
