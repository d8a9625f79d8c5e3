from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchquery.errors import QueryError
from benchquery.search import Budget


@pytest.mark.parametrize(
    ("text", "rows", "amount", "unit"),
    [
        ("2%", 26_206, 524, "queries"),
        ("2%", 2_021, 40, "queries"),
        ("100%", 5, 5, "queries"),
        ("524", 26_206, 524, "queries"),
        (524, 26_206, 524, "queries"),
        ("3600s", 10, 3600, "seconds"),
        ("1.5 s", 10, 1.5, "seconds"),
    ],
)
def test_budgets_as_people_write_them(text: str | int, rows: int, amount: float, unit: str) -> None:
    budget = Budget.parse(text, rows)
    assert (budget.amount, budget.unit, budget.repeats) == (amount, unit, "charged")


@pytest.mark.parametrize(
    "text", ["0", "0%", "0s", "100.1%", "2000%", "101", "-5", "1.5", "0.5%", "lots", "", "2 %%"]
)
def test_bad_budgets_are_named(text: str) -> None:
    with pytest.raises(QueryError, match="budget") as caught:
        Budget.parse(text, 100)
    assert text.rstrip("s") in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"amount": 0}, "above 0"),
        ({"amount": float("nan")}, "nan"),
        ({"amount": 1, "unit": "days"}, "days"),
        ({"amount": 1, "repeats": "twice"}, "twice"),
    ],
)
def test_impossible_budgets_are_named(arguments: dict[str, object], named: str) -> None:
    with pytest.raises(QueryError, match=named):
        Budget(**arguments)  # type: ignore[arg-type]


@given(rows=st.integers(1, 10**6), percent=st.integers(1, 100))
def test_a_share_never_is_more_than_that(rows: int, percent: int) -> None:
    if rows * percent < 100:
        with pytest.raises(QueryError):
            Budget.parse(f"{percent}%", rows)
    else:
        queries = Budget.parse(f"{percent}%", rows).amount
        assert queries * 100 <= rows * percent < (queries + 1) * 100
