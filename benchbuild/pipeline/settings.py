"""What a run says of its jobs, typed in memory and plain JSON in ``run.json``.

The settings and the choice of jobs of a kind are frozen dataclasses. Their type hints say what
values they may have (`benchbuild.typed`). That is checked whenever one is made, so that a wrong
value is found before anything runs, whether it comes from a file or a command line. What the JSON
looks like decides the identity of a run, so a field that came later is left out of it where it has
the value that all runs before had: declare it with `since`. Where something lies is no part of what
a run is: declare it with `location`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, Any, Self

from benchbuild.typed import Distinct, Typed, check_names, from_plain, hints_of
from benchquery.allowed import Line, Range

Json = Mapping[str, Any]

_UNSAID = "unsaid"
_WRITTEN = "written"

SEEDS = 2**31
"""How many seeds there are: part files keep them in 32 bits."""
Seed = Annotated[int, Range(least=0, most=SEEDS - 1)]
Seeds = Annotated[tuple[Seed, ...], Distinct("seed", most=10_000)]
Name = Annotated[str, Line()]
"""What something is called."""


def since(default: object, *, before: object) -> Any:
    """Declare a field that older runs do not have.

    Args:
        default: Its value where none is given.
        before: The value that all runs had before there was this field.
    """
    return dataclasses.field(default=default, kw_only=True, metadata={_UNSAID: before})


def location(*, written: bool = False) -> Any:
    """Declare a field that says where something lies on this machine; empty if that is not known.

    Runs that differ only in it are the same run, so it is never compared.

    Args:
        written: Whether ``run.json`` has it where it is known. Only so where older versions wrote
            it: their parts are named after all that it says.
    """
    return dataclasses.field(default="", kw_only=True, compare=False, metadata={_WRITTEN: written})


@dataclass(frozen=True)
class RunPart(Typed):
    """A part of ``run.json``: settings, or the choice of jobs."""

    def to_json(self) -> dict[str, Any]:
        """Return it as ``run.json`` has it; what was always so is not said."""
        fields = dataclasses.fields(self)
        unsaid = {
            field.name: field.metadata[_UNSAID] for field in fields if _UNSAID in field.metadata
        }
        body = {
            name: value
            for name, value in self.in_full().items()
            if name not in unsaid or value != unsaid[name]
        }
        places = {field.name: getattr(self, field.name) for field in fields if _is_written(field)}
        return body | {name: place for name, place in places.items() if place}

    def in_full(self) -> dict[str, Any]:
        """Return all that counts in plain JSON values, for comparing two runs."""
        return {
            field.name: plain(getattr(self, field.name))
            for field in dataclasses.fields(self)
            if _WRITTEN not in field.metadata
        }

    @classmethod
    def from_json(cls, body: Json) -> Self:
        """Read it from ``run.json``.

        Raises:
            ValueError: If something is missing, or there is something unknown.
            BenchBuildError: If a value is not allowed.
        """
        fields = [field for field in dataclasses.fields(cls) if field.metadata.get(_WRITTEN, True)]
        before = {
            field.name: field.metadata[_UNSAID] for field in fields if _UNSAID in field.metadata
        }
        needed = {field.name for field in fields if _WRITTEN not in field.metadata}
        check_names(body, {field.name for field in fields}, needed - before.keys())
        return cls(**before | {name: cls.read_value(name, value) for name, value in body.items()})

    @classmethod
    def read_value(cls, name: str, value: Any) -> Any:
        """Return a field's value for its JSON: what its type hint says, unless a kind says more."""
        return from_plain(hints_of(cls)[name], value)


@dataclass(frozen=True)
class JobSettings(RunPart):
    """What every job of a run shares and what decides its figures.

    Attributes:
        dataset: What the jobs are about; the name of the table that they make.
    """

    dataset: Name


def _is_written(field: dataclasses.Field[Any]) -> bool:
    """Tell whether a field is a location that ``run.json`` has."""
    return bool(field.metadata.get(_WRITTEN, False))


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return value


def whole_numbers(numbers: Iterable[Any]) -> tuple[int, ...]:
    """Return numbers as Python's own where they are whole, so that they can become JSON."""
    return tuple(int(one) if isinstance(one, Integral) else one for one in numbers)
