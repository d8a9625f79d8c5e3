"""Dataclasses that are what their type hints say: checked when made, read from plain JSON.

A hint says of what type a field is; `Annotated` adds which values it may have, as a
`benchquery.allowed.Allowed`::

    hidden: Annotated[int, Range(least=1, most=65_536)]

Whole numbers are no truth values, and no number is infinite or NaN. All that comes from a file or
a command line goes through here, so that nothing behind it has to ask what it was given.
"""

from __future__ import annotations

import dataclasses
import math
import reprlib
import types
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cache
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from benchbuild.errors import BenchBuildError, PlanError

_SHOWN = 60
_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = _SHOWN
_SIMPLE = {
    int: "a whole number",
    float: "a finite number",
    str: "a text",
    bool: "true or false",
    types.NoneType: "none",
}


@dataclass(frozen=True)
class Typed:
    """A dataclass whose values are checked when it is made.

    Attributes:
        subject: What messages call a field, before its name.
        refusal: What is raised for a value that is not allowed.
    """

    subject: ClassVar[str] = ""
    refusal: ClassVar[type[BenchBuildError]] = PlanError

    def __post_init__(self) -> None:
        """Refuse values that a field's type hint does not allow.

        Raises:
            BenchBuildError: Of the type `refusal`, if there is one.
        """
        for name, hint in hints_of(type(self)).items():
            value = getattr(self, name)
            if said := misfit(hint, value):
                raise self.refusal(
                    f"{self.subject}{name}={short(value)} is not allowed: must be {said}"
                )


@dataclass(frozen=True)
class Distinct:
    """Lists of at least one thing, each only once.

    Attributes:
        noun: What one of them is called.
        most: How many there may be.
    """

    noun: str
    most: int

    def meant(self, value: Any) -> Any:
        """See `benchquery.allowed.Allowed`."""
        return value if 1 <= len(value) <= self.most and len(set(value)) == len(value) else None

    def __str__(self) -> str:
        return f"at least one {self.noun}, each only once, and at most {self.most:,}"


def hints_of(cls: type) -> Mapping[str, Any]:
    """Return the type hints of a dataclass's fields, or of a typed dictionary's keys, by name."""
    return _hints_of(cls)


@cache
def _hints_of(cls: Any) -> Mapping[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    if is_typeddict(cls):
        return hints
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def misfit(hint: Any, value: Any) -> str:
    """Say what a value would have to be; nothing if it is what a type hint says.

    Args:
        hint: A simple type, a dataclass or typed dictionary, a tuple of any length, a mapping by
            name, a literal, a union of such ones, or one of them with bounds. Of other hints only
            the class is checked, of ``Any`` nothing.
        value: The value.
    """
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        base, *bounds = args
        said = misfit(base, value)
        fits = not said and all(_is_meant(bound, value) for bound in bounds)
        return "" if fits else _in_words(hint) if said in ("", _in_words(base)) else said
    if origin in (Union, types.UnionType):
        of = {option: misfit(option, value) for option in args}
        near = [text for option, text in of.items() if _is_class_of(option, value)]
        return "" if "" in of.values() else (near or [_in_words(hint)])[0]
    if origin is tuple and isinstance(value, tuple):
        wrong = next((item for item in value if misfit(args[0], item)), _NOTHING)
        return "" if wrong is _NOTHING else f"{_in_words(hint)}, which {short(wrong)} is not"
    if _is_mapping(hint) and isinstance(value, Mapping):
        return _misfit_of_items(hint, value)
    return "" if _is_class_of(hint, value) and not _is_infinite(value) else _in_words(hint)


_NOTHING = object()


def _misfit_of_items(hint: Any, value: Mapping[Any, Any]) -> str:
    """Say what the values of a mapping would have to be; see `misfit`."""
    if is_typeddict(hint):
        hints = hints_of(hint)
        for name in hint.__required_keys__:
            if name not in value:
                return f"{_in_words(hint)}, and there is no {name}"
    else:
        hints = dict.fromkeys(value, get_args(hint)[1])
    for name, item in value.items():
        if not isinstance(name, str):
            return _in_words(hint)
        if said := misfit(hints.get(name, Any), item):
            return f"{_in_words(hint)}, and {name}={short(item)} must be {said}"
    return ""


def _is_mapping(hint: Any) -> bool:
    return is_typeddict(hint) or get_origin(hint) is Mapping


def _is_meant(bound: Any, value: Any) -> bool:
    """Tell whether a value is allowed, and in its canonical form."""
    return bool(bound.meant(value) == value)


def _is_class_of(hint: Any, value: Any) -> bool:
    """Tell whether a value is of the class of a hint, whatever is in it."""
    return any(_is_of(_bare(option), value) for option in _options(_bare(hint)))


def _is_of(kind: Any, value: Any) -> bool:
    if kind is Any:
        return True
    if get_origin(kind) is Literal:
        return any(type(value) is type(word) and value == word for word in get_args(kind))
    if _is_mapping(kind):
        return isinstance(value, Mapping)
    if kind in _SIMPLE:
        return type(value) is kind or (kind is float and type(value) is int)
    return isinstance(value, get_origin(kind) or kind)


def _options(hint: Any) -> tuple[Any, ...]:
    """Return what a union is made of; any other hint is made of itself."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _bare(hint: Any) -> Any:
    """Return a hint without its bounds."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _is_infinite(value: Any) -> bool:
    return type(value) is float and not math.isfinite(value)


def _in_words(hint: Any) -> str:
    """Return what a type hint says, to end a sentence: "it must be ..."."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return ", ".join([_in_words(args[0]), *map(str, args[1:])])
    if origin in (Union, types.UnionType):
        return " or ".join(map(_in_words, args))
    if origin is Literal:
        return " or ".join(map(repr, args))
    if origin is tuple:
        return f"a list of which each is {_in_words(args[0])}"
    if _is_mapping(hint):
        return "an object"
    return _SIMPLE.get(hint) or f"a {hint.__name__}"


def from_plain(hint: Any, value: Any) -> Any:
    """Return a value of plain JSON as what a type hint says, as far as it is like it.

    Lists become tuples, and objects the dataclasses that are hinted at; the rest stays as it is,
    for `misfit` to judge.

    Raises:
        ValueError: If an object has other names than a dataclass has fields.
        BenchBuildError: If a value is not allowed in a dataclass.
    """
    options = [_bare(option) for option in _options(_bare(hint))]
    if isinstance(value, list):
        of = next((get_args(option)[0] for option in options if get_origin(option) is tuple), Any)
        return tuple(from_plain(of, item) for item in value)
    if not isinstance(value, dict):
        return value
    for option in options:
        if dataclasses.is_dataclass(option) and isinstance(option, type):
            hints = hints_of(option)
            check_names(value, hints.keys(), _required(option))
            return option(**{name: from_plain(hints[name], value[name]) for name in value})
    of = next((get_args(option)[1] for option in options if get_origin(option) is Mapping), Any)
    return {name: from_plain(of, item) for name, item in value.items()}


def _required(cls: Any) -> set[str]:
    """Return the fields of a dataclass that have no default."""
    none = dataclasses.MISSING
    return {f.name for f in dataclasses.fields(cls) if f.default is f.default_factory is none}


def check_names(body: Iterable[str], known: Set[str], required: Set[str]) -> None:
    """Refuse an object of other names than it has to have.

    Args:
        body: Its names.
        known: The names that there may be.
        required: The names that there must be.

    Raises:
        ValueError: If something is missing, or there is something unknown.
    """
    if strange := sorted(set(body) - known):
        raise ValueError(f"unknown names {', '.join(strange)}: upgrade graphtab to read them")
    if missing := sorted(required - set(body)):
        raise ValueError(f"there is no {', '.join(missing)}")


def short(value: Any) -> str:
    """Return a value as text that fits into a message."""
    try:
        text = _REPR.repr(value)
    except ValueError:
        return "a number of too many digits"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
