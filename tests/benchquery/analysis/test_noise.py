"""Noise: against known truths, and against what was computed elsewhere for cora."""

from __future__ import annotations

import numpy as np
import pytest

from benchquery import lightread
from benchquery.analysis import fidelity, noise
from benchquery.errors import QueryError, TableNotFoundError
from benchquery.kinds.architectures.analysis.noise import best_again, expected_again


def test_shrunk_figures_are_those_of_a_normal_spread() -> None:
    """Where the truth is normal, the expected figure is known: pulled to the mean by a factor."""
    rng = np.random.default_rng(0)
    truth = 0.7 + 0.03 * rng.standard_normal(20_000)
    seen = truth + 0.02 * rng.standard_normal(20_000)
    shrunk, low, high = expected_again(seen, 0.02)
    expected = 0.7 + (seen - 0.7) * 0.03**2 / (0.03**2 + 0.02**2)
    assert np.abs(shrunk - expected).mean() < 0.001
    assert np.square(shrunk - truth).mean() < 0.75 * np.square(seen - truth).mean()
    assert ((low <= truth) & (truth <= high)).mean() == pytest.approx(0.95, abs=0.02)


def test_the_best_comes_back_as_expected() -> None:
    rng = np.random.default_rng(1)
    gaps = []
    for _ in range(60):
        truth = rng.uniform(0.6, 0.8, 800)
        seen = truth + 0.01 * rng.standard_normal(800)
        best = int(seen.argmax())
        gaps.append((seen[best] - truth[best], expected_again(seen, 0.01)[0][best] - truth[best]))
    curse, left = np.mean(gaps, axis=0)
    assert curse > 0.008
    assert abs(left) < 0.3 * curse


def test_cora_is_what_was_computed_elsewhere() -> None:
    cora = lightread("cora")
    found = noise(cora)
    assert 100 * found.top_error == pytest.approx(0.51, abs=0.005)
    assert found.top_overlap == pytest.approx(0.63, abs=0.005)
    assert 100 * found.again == pytest.approx(82.2, abs=0.05)
    assert 100 * found.curse == pytest.approx(0.9, abs=0.05)
    assert found.spearman == fidelity(lightread("cora-built"), cora).spearman_ceiling
    assert best_again(cora) == (found.best, found.again)
    near = cora.where(cora.column("perf") >= found.best - found.margin)
    assert set(found.indistinct) == set(near.hashes)
    assert found.indistinct[0] == next(iter(cora.top(1, by="perf")))
    assert found.regret(found.best) == found.regret(cora[int(found.indistinct[-1])]["perf"]) == 0
    assert found.regret(0.7) == pytest.approx(found.best - found.margin - 0.7)


def test_a_table_without_repeats_is_named() -> None:
    assert best_again(lightread("arxiv")) is None
    with pytest.raises(TableNotFoundError, match="arxiv-built"):
        noise(lightread("arxiv"))
    with pytest.raises(QueryError, match="no figures of single seeds"):
        noise(lightread("cora"), lightread("cora"))
