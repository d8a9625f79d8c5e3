"""NNI's reinforcement learning, in the environment that scripts/rl_environment.sh makes."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from benchquery import lightread
from benchquery.search import run

pytestmark = [
    pytest.mark.nni,
    pytest.mark.skipif(
        importlib.util.find_spec("tianshou") is None,
        reason="tianshou is not installed: scripts/rl_environment.sh makes an environment",
    ),
]


def test_it_uses_its_budget_and_follows_its_seed() -> None:
    first, again, other = (run("nni:rl", "proteins", 40, seed=seed) for seed in (0, 0, 1))
    assert first.hashes.tolist() == again.hashes.tolist() != other.hashes.tolist()
    assert len(first) == 40
    np.testing.assert_array_equal(
        first.rewards, lightread("proteins").lookup(first.hashes, "valid_perf")
    )
