"""Figures that tie, against exact fractions and plain sorting."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchquery.table.ties import TOLERANCE, level, rank_among, regret_among

percents = st.lists(st.lists(st.integers(1, 999), min_size=5, max_size=5), min_size=1, max_size=12)


@given(percents=percents)
def test_means_rank_as_their_exact_values_do(percents: list[list[int]]) -> None:
    """Each mean is summed in an order of its own, so that equal ones differ in the last bit."""
    exact = [-Fraction(sum(row), 5000) for row in percents]
    exact += exact
    costs = np.array(
        [-sum(v / 1000 for v in row) / 5 for row in percents]
        + [-sum(v / 1000 for v in reversed(row)) / 5 for row in percents]
    )
    for place, value in enumerate(exact):
        assert rank_among(costs, float(costs[place])) == 1 + sum(e < value for e in exact)
        regret = regret_among(costs, float(costs[place]))
        assert math.isclose(regret, value - min(exact), abs_tol=1e-12)
        assert (regret == 0) is (value == min(exact))
    best_first = np.lexsort((np.arange(len(costs)), level(costs)))
    assert best_first.tolist() == sorted(range(len(exact)), key=exact.__getitem__)


@given(st.lists(st.floats(-1, 1).map(lambda figure: round(figure, 3)), max_size=20))
def test_figures_that_are_plainly_apart_stay(figures: list[float]) -> None:
    np.testing.assert_array_equal(level(np.array(figures)), figures)


def test_missing_and_infinite_figures() -> None:
    figures = np.array([math.nan, 1.0, math.inf, -math.inf, math.nan, 1 + 1e-15, math.inf])
    np.testing.assert_array_equal(
        level(figures), [math.nan, 1.0, math.inf, -math.inf, math.nan, 1.0, math.inf]
    )
    assert [rank_among(figures, cost) for cost in (-math.inf, 1.0, 1 + 1e-15, math.inf)] == [
        1, 2, 2, 4,
    ]  # fmt: skip
    assert regret_among(figures[:3], 1 + 1e-15) == 0
    assert regret_among(figures[:3], math.inf) == math.inf
    assert math.isnan(regret_among(figures, math.nan))


def test_the_rule_is_relative() -> None:
    for size, sign in itertools.product((1e-9, 1.0, 1e9), (1, -1)):
        cost = sign * size
        near, far = cost - size * TOLERANCE / 10, cost - size * TOLERANCE * 10
        assert rank_among(np.array([cost, near]), cost) == 1
        assert rank_among(np.array([cost, far]), cost) == 2
        assert level(np.array([cost, near]))[0] == near
        assert level(np.array([cost, far]))[0] == cost
