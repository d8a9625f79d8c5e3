"""Values are what type hints say, and JSON becomes what they say."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbuild.errors import PlanError
from benchbuild.pipeline.settings import plain
from benchbuild.typed import Distinct, Typed, from_plain, misfit, short
from benchquery.allowed import Choice, Line, Pattern, Range

Few = Annotated[int, Range(least=1, most=9)]
Once = Annotated[tuple[Few, ...], Distinct("number", most=3)]


@dataclass(frozen=True)
class Inner(Typed):
    """Something inside."""

    rate: Annotated[float, Range(above=0, most=1)]
    way: Annotated[str, Choice(("up", "down"))] = "up"


@dataclass(frozen=True)
class Outer(Typed):
    """Something with all sorts of fields."""

    name: Annotated[str, Line(8)]
    numbers: Once | Inner | Literal["all"]
    by_name: Mapping[str, tuple[float, ...]]
    decimals: Few | None = None


class Facts(TypedDict, total=False):
    """What may be known."""

    size: Few


@pytest.mark.parametrize(
    ("hint", "right", "wrong"),
    [
        (int, [0, -(2**70)], [True, 1.0, "1", None, [1]]),
        (float, [0, 1.5, 10**400], [math.nan, math.inf, -math.inf, True, "1"]),
        (bool, [True], [1, "true"]),
        (str, ["", "x\n"], [1, b"x"]),
        (None | int, [None, 3], [0.5]),
        (Few, [1, 9], [0, 10, True, 10**400, 2.0]),
        (Once, [(1,), (3, 2, 1)], [(), (1, 1), (1, 2, 3, 4), (0,), [1], (1, "2"), ([],)]),
        (Literal["a", 1], ["a", 1], ["b", True, 1.0, []]),
        (Mapping[str, Few], [{}, {"a": 1}], [{"a": 0}, {1: 1}, [], {"a": {}}]),
        (Facts, [{}, {"size": 3}, {"other": []}], [{"size": 0}, {1: 2}, 7]),
        (Annotated[str, Choice(("up",))], ["up"], ["UP", "", 1]),
        (Annotated[str, Line(3)], ["abc"], ["", "abcd", "a\nb", "\x1b[2"]),
        (Annotated[str, Pattern("[0-9]*", "digits")], ["", "12"], ["1x", 12]),
        (Inner, [Inner(0.5)], [{"rate": 0.5}, Inner]),
        (Any, [None, object()], []),
    ],
)  # fmt: skip
def test_what_fits_and_what_does_not(hint: Any, right: list[Any], wrong: list[Any]) -> None:
    for value in right:
        assert misfit(hint, value) == "", value
    for value in wrong:
        said = misfit(hint, value)
        assert said, value
        assert len(said) < 200


def test_what_is_wrong_is_said_of_the_field() -> None:
    fine = Outer("a", (1, 2), {"x": (0.5, 1)})
    assert fine.decimals is None
    for changes, words in (
        ({"name": "a\nb"}, r"name='a\\nb' is not allowed: must be a text, one line"),
        ({"numbers": (1, 77)}, "each is a whole number, at least 1 and at most 9.*77 is not"),
        ({"numbers": "some"}, "or 'all'"),
        ({"by_name": {"x": (0.5, "y")}}, "by_name=.* and x=.*'y' is not"),
        ({"decimals": 0}, "decimals=0 is not allowed: must be a whole number, at least 1"),
        ({"decimals": 10**5_000}, "decimals=a number of too many digits is not allowed"),
    ):
        with pytest.raises(PlanError, match=words):
            Outer(**{**vars(fine), **changes})  # type: ignore[arg-type]


inners = st.builds(Inner, st.floats(0.1, 1), st.sampled_from(["up", "down"]))
numbers = st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True).map(tuple)
outers = st.builds(
    Outer,
    st.text("abc", min_size=1, max_size=8),
    numbers | inners | st.just("all"),
    st.dictionaries(st.text(), st.lists(st.floats(0, 1) | st.integers()).map(tuple)),
    st.none() | st.integers(1, 9),
)


@given(outers)
def test_what_becomes_json_comes_back(value: Outer) -> None:
    assert from_plain(Outer, json.loads(json.dumps(plain(value)))) == value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("rate"), inner),
)


@given(st.sampled_from(["name", "numbers", "by_name", "decimals"]), json_values)
def test_any_json_is_taken_as_it_is_or_refused(name: str, value: Any) -> None:
    body = {"name": "a", "numbers": [1], "by_name": {}, name: value}
    try:
        read = from_plain(Outer, body)
    except (PlanError, ValueError):
        return
    found = plain(read)
    assert all(repr(found[one]) == repr(body[one]) for one in body if body[one] != found[one])


def test_values_are_shown_in_short() -> None:
    for value in (
        "x" * 10**6,
        tuple(range(10**6)),
        {n: n for n in range(1000)},
        10**4000,
        10**9999,
    ):
        assert len(short(value)) <= 60
