"""The query language: conditions on columns, written as people say them.

A condition is a text such as ``latency < 0.004``, ``depth == 2``, ``gat >= 1`` or
``link == 0112``: a column, a comparison, a value. Several conditions must all hold. The
same texts work in Python, on the command line and for every kind of table. A condition
is taken apart by a pattern; nothing is ever evaluated as code.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.naming import match_name, suggestion, unknown

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Mask
else:
    np = LazyModule("numpy")

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|==|!=|<|>|=)\s*(\S.*?)\s*", re.DOTALL)
_JOINT = re.compile(r"\s(?:and|or|&&?|\|\|?)\s|[&|;]|<|>|=")
"""What stands between two conditions that were written as one."""
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_MANY = 20
"""Values that a message lists at most."""


ValuesOf = Callable[[str], Collection[str]]
"""The texts that a column may hold, by its name."""


def matches(columns: Mapping[str, Array], condition: str, values_of: ValuesOf) -> Mask:
    """Return which rows fulfil a condition.

    Args:
        columns: The columns that the condition may name.
        condition: A text such as ``perf >= 0.8``.
        values_of: The texts that a column may hold.

    Raises:
        QueryError: If the text is no condition, names no column, or compares a column
            with a value of another kind, or with a text that it can't hold.
    """
    match = _CONDITION.fullmatch(condition)
    if match is None:
        raise QueryError(
            f"{condition!r} is no condition; write a column, a comparison "
            f"({' '.join(_COMPARISONS)}) and a value, for example 'latency < 0.004'"
        )
    name, comparison, text = match.groups()
    value = text.strip("'\"")
    if value == text and _JOINT.search(text):
        raise QueryError(
            f"{condition!r} is more than one condition; all that are given must hold, so give "
            "each by itself, as in where('perf > 0.8', 'latency < 0.01')",
            shell=f"{condition!r} is more than one condition; all that are given must hold, so "
            "give each by itself: --where 'perf > 0.8' --where 'latency < 0.01'",
        )
    return compare(columns, name, comparison, value, values_of)


def compare(
    columns: Mapping[str, Array], name: str, comparison: str, value: object, values_of: ValuesOf
) -> Mask:
    """Return which rows of a column compare with a value as asked.

    Raises:
        QueryError: If there is no such column, the value is of another kind, or it is a text that
            the column can't hold.
    """
    meant = match_name(name, columns)
    if meant is None:
        raise QueryError(unknown("column", name, columns))
    values = columns[meant]
    converted = _convert(meant, values.dtype, value)
    if isinstance(converted, str) and comparison in ("==", "=", "!="):
        converted = _known(meant, converted, values_of(meant))
    mask: Mask = _COMPARISONS[comparison](values, converted)
    return mask


def _known(name: str, value: str, allowed: Collection[str]) -> str:
    """Return a text that a column may hold, in its letter case.

    Raises:
        QueryError: If it can't hold it: a misspelt name would silently give no rows.
    """
    meant = match_name(value, allowed)
    if meant is None:
        guess = suggestion(value, allowed) or ";"
        listed = ", ".join(sorted(allowed)) if len(allowed) <= _MANY else f"{len(allowed):,} others"
        raise QueryError(f"no row has the {name} {value!r}{guess} there are {listed or 'none'}")
    return meant


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
