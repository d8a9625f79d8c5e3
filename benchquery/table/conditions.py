"""The query language: conditions on columns, written as people say them.

A condition is a text such as ``latency < 0.004``, ``depth == 2``, ``gat >= 1`` or
``link == 0112``: a column, a comparison, a value. Several conditions must all hold. The
same texts work in Python, on the command line and for every kind of table. A condition
is taken apart by a pattern; nothing is ever evaluated as code.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from benchquery.errors import QueryError

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Mask

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|==|!=|<|>|=)\s*(\S.*?)\s*")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def matches(columns: Mapping[str, Array], condition: str) -> Mask:
    """Return which rows fulfil a condition.

    Args:
        columns: The columns that the condition may name.
        condition: A text such as ``perf >= 0.8``.

    Raises:
        QueryError: If the text is no condition, names no column, or compares a column
            with a value of another kind.
    """
    match = _CONDITION.fullmatch(condition)
    if match is None:
        raise QueryError(
            f"{condition!r} is no condition; write a column, a comparison "
            f"({' '.join(_COMPARISONS)}) and a value, for example 'latency < 0.004'"
        )
    name, comparison, text = match.groups()
    return compare(columns, name, comparison, text.strip("'\""))


def compare(columns: Mapping[str, Array], name: str, comparison: str, value: object) -> Mask:
    """Return which rows of a column compare with a value as asked.

    Raises:
        QueryError: If there is no such column, or the value is of another kind.
    """
    if name not in columns:
        raise QueryError(f"unknown column {name!r}; there are {', '.join(columns)}")
    values = columns[name]
    mask: Mask = _COMPARISONS[comparison](values, _convert(name, values.dtype, value))
    return mask


def _convert(name: str, dtype: np.dtype[Any], value: object) -> object:
    """Turn a value, often a text, into the kind that a column holds."""
    if dtype.kind in "OUT":
        return str(value)
    text = str(value).lower()
    try:
        return _BOOLEANS[text] if dtype.kind == "b" else float(text)
    except (KeyError, ValueError):
        kind = "true or false" if dtype.kind == "b" else "numbers"
        raise QueryError(f"column {name!r} holds {kind}, not {value!r}") from None
