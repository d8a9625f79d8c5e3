"""What a job leaves behind: a record, whose fields say themselves how part files keep them.

The record of a kind is a frozen dataclass. Each of its fields is declared with `column`, which
says the field's Arrow type and role. The schema of the part files, the names of the key, the
record of a failed job and the way to the file and back all follow from that.
"""

from __future__ import annotations

import dataclasses
import math
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeVar

import numpy as np

Role = Literal["key", "figure", "measurement"]
JobKey = tuple[Any, ...]
"""A job's identity: a NamedTuple of plain values, so it is frozen, ordered and hashable."""

OK, DIVERGED, OOM, FAILED = "ok", "diverged", "oom", "failed"
STATUSES = (OK, DIVERGED, OOM, FAILED)
"""How a job can end, the best first."""

DETERMINED = (OK, DIVERGED)
"""The ends that the job alone decides. The others depend on the machine: a job may run out of
memory here and end well elsewhere, so a determined record replaces one of those."""

_BLANK: Mapping[str, int | float | str] = {
    "int32": -1,
    "int64": -1,
    "float64": math.nan,
    "string": "",
}
_COLUMN = "column"

RecordT = TypeVar("RecordT", bound="JobRecord")


@dataclass(frozen=True)
class Field:
    """One column of the part files.

    Attributes:
        name: Its name.
        dtype: An Arrow type name, or ``float32[]`` for an array of any length.
        role: ``key`` if it identifies the job; ``figure`` if the job decides it, so that two
            records of one job must agree; ``measurement`` if it differs from run to run.
        separator: What stands between the texts of a field that is a tuple of texts in memory
            and one text in the file; None for all other fields.
        late: Whether parts of older runs may lack it; it is blank there.
    """

    name: str
    dtype: str
    role: Role
    separator: str | None = None
    late: bool = False

    @property
    def is_array(self) -> bool:
        """Whether its values are arrays."""
        return self.dtype.endswith("[]")

    @property
    def item(self) -> str:
        """The type of an entry of its arrays."""
        return self.dtype.removesuffix("[]")

    @property
    def blank(self) -> Any:
        """What it holds, in memory, of a job that gave no result."""
        if self.is_array:
            return np.empty(0, self.item)
        return () if self.separator is not None else _BLANK[self.dtype]

    def to_file(self, value: Any) -> Any:
        """Return a value as part files keep it."""
        return value if self.separator is None else self.separator.join(value)

    def from_file(self, value: Any) -> Any:
        """Return a value of a part file as records hold it; no text at all means no texts."""
        if self.separator is None:
            return value
        return tuple(value.split(self.separator)) if value else ()


def column(dtype: str, role: Role, *, separator: str | None = None, late: bool = False) -> Any:
    """Declare a field of a record; see `Field` for the arguments."""
    return dataclasses.field(metadata={_COLUMN: (dtype, role, separator, late)})


def _common(dtype: str, role: Role, default: object) -> Any:
    return dataclasses.field(default=default, kw_only=True, metadata={_COLUMN: (dtype, role)})


@dataclass(frozen=True, eq=False)
class JobRecord:
    """What every record has: how its job ended, when and where.

    Attributes:
        status: One of `STATUSES`.
        reason: Why it is not "ok", in one line; empty if it is.
        finished: Unix time of the end.
        host: Name of the machine.
    """

    status: str = _common("string", "figure", OK)
    reason: str = _common("string", "measurement", "")
    finished: float = _common("float64", "measurement", math.nan)
    host: str = _common("string", "measurement", "")

    @classmethod
    def columns(cls) -> tuple[Field, ...]:
        """Return the columns of its part files: its own in their order, then the common ones."""
        if cls not in _COLUMNS:
            _COLUMNS[cls] = _columns_of(cls)
        return _COLUMNS[cls]

    @classmethod
    def key_names(cls) -> tuple[str, ...]:
        """Return the names of the fields that identify a job."""
        return tuple(field.name for field in cls.columns() if field.role == "key")

    @classmethod
    def without_result(cls, key: JobKey, reason: str, status: str = FAILED) -> Self:
        """Return the record of a job that gave no result."""
        blank = {field.name: field.blank for field in cls.columns()}
        known = dict(zip(cls.key_names(), key, strict=True))
        return cls(**{**blank, **known, "status": status, "reason": reason})

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Read a row of a part file, with its arrays as numpy's."""
        return cls(**{field.name: field.from_file(row[field.name]) for field in cls.columns()})

    def to_row(self) -> dict[str, Any]:
        """Return the row of a part file."""
        return {f.name: f.to_file(getattr(self, f.name)) for f in self.columns()}

    @property
    def key(self) -> JobKey:
        """The job that it is of."""
        return tuple(getattr(self, name) for name in self.key_names())


def finished_now(record: RecordT) -> RecordT:
    """Return a record that says that it was finished here and now."""
    return dataclasses.replace(record, finished=time.time(), host=platform.node())


_COLUMNS: dict[type[JobRecord], tuple[Field, ...]] = {}
"""What was worked out before, by record."""


def _columns_of(record: type[JobRecord]) -> tuple[Field, ...]:
    every = [Field(field.name, *field.metadata[_COLUMN]) for field in dataclasses.fields(record)]
    common = {field.name for field in dataclasses.fields(JobRecord)}
    own = [field for field in every if field.name not in common]
    return (*own, *(field for field in every if field.name in common))
