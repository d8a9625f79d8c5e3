"""The comparison with the published figures: on figures whose agreement is known beforehand."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fidelity.py"
fidelity = runpy.run_path(str(SCRIPT))["fidelity"]


def test_known_errors() -> None:
    published = np.array([0.5, 0.6, 0.7, 0.8])
    ours = published + np.array([0.01, 0.01, 0.05, -0.03])
    found = fidelity(np.stack([ours - 0.02, ours + 0.02], axis=1), published)
    assert found.count == 4
    assert found.bias == pytest.approx(0.01)
    assert found.mae == pytest.approx(0.025)
    assert found.median_error == pytest.approx(0.02)
    assert found.spearman == pytest.approx(1.0)
    assert found.seed_kendall == pytest.approx(1.0)


def test_architectures_without_a_figure_are_left_out_and_counted() -> None:
    per_seed = np.array([[np.nan, np.nan], [0.4, np.nan], [0.6, 0.8], [0.9, 0.9]])
    found = fidelity(per_seed, np.array([0.1, 0.4, 0.7, 0.8]))
    assert (found.count, found.left_out) == (3, 1)
    assert found.bias == pytest.approx(0.1 / 3)


def test_chance_is_what_two_independent_means_differ_by() -> None:
    random = np.random.RandomState(0)
    truth = random.uniform(0.3, 0.9, size=(20_000, 1))
    one, two = (truth + 0.02 * random.standard_normal((20_000, 3)) for _ in range(2))
    found = fidelity(one, two.mean(axis=1))
    assert found.chance_mae == pytest.approx(found.mae, rel=0.03)
    assert abs(found.bias) < 0.001
