from __future__ import annotations

import numpy as np
import pytest

from benchquery import get_space, lightread
from benchquery.analysis import fit_surrogate
from benchquery.errors import QueryError


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["one-hot", "adjacency"])
def test_the_stated_error_is_the_error_on_the_rows_that_were_left_out(encoding: str) -> None:
    whole = lightread("pubmed")
    part = whole.where(np.random.default_rng(0).random(len(whole)) < 0.08)
    surrogate = fit_surrogate(part, "perf", encoding=encoding)
    filled = surrogate.fill(part)
    assert len(filled.hashes) + len(part) == len(whole)
    truth = whole.lookup(filled.hashes, "perf")
    error = float(np.abs(filled.values - truth).mean())
    assert filled.error == surrogate.error == pytest.approx(error, rel=0.15)
    chance = float(np.abs(truth - np.median(part.column("perf"))).mean())
    assert error < 0.85 * chance
    assert surrogate.spearman > 0.5
    inside = (filled.low <= truth) & (truth <= filled.high)
    assert inside.mean() == pytest.approx(0.9, abs=0.04)


@pytest.mark.slow
def test_the_error_of_wirings_that_were_not_measured_is_stated_apart() -> None:
    """Trained on shallow wirings, deep ones are predicted as badly as the grouped error says."""
    whole = lightread("cora")
    part = whole.where("link != 0123").where(np.arange(len(whole.where("link != 0123"))) % 8 == 0)
    surrogate = fit_surrogate(part, "perf")
    deep = whole.where("link == 0123")
    found = surrogate.predict(deep.hashes)
    real = float(np.abs(found.values - deep.column("perf")).mean())
    assert real > 2 * surrogate.error
    assert surrogate.error < surrogate.grouped_error == found.grouped_error
    one = fit_surrogate(deep.where(np.arange(len(deep)) % 20 == 0), "perf")
    assert np.isnan(one.grouped_error)


@pytest.mark.slow
def test_a_surrogate_is_the_same_for_the_same_seed() -> None:
    table = lightread("proteins")
    hashes = get_space("proteins").hashes[:50]
    first, again = (fit_surrogate(table, seed=3).predict(hashes).values for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_too_few_rows_are_named() -> None:
    with pytest.raises(QueryError, match=r"7 of the 7 rows .* 'valid_perf'; at least 20"):
        fit_surrogate(lightread("cora").top(7))
