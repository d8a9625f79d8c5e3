"""How much a search may ask."""

from __future__ import annotations

import dataclasses
import math
import re
from fractions import Fraction
from typing import Literal, get_args

from benchquery.errors import QueryError

Unit = Literal["queries", "seconds", "estimated seconds"]
Repeats = Literal["charged", "free"]

UNITS: tuple[Unit, ...] = get_args(Unit)
REPEATS: tuple[Repeats, ...] = get_args(Repeats)

_FORMS = (
    "a number of queries (524), a share of the table (2%), training time (3600s) or, where that is "
    "not known, estimated training time (~3600s)"
)
_TEXT = re.compile(r"(?P<about>~?)(?P<number>\d{1,18}(\.\d{0,18})?|\.\d{1,18})\s*(?P<unit>%|s|)")


@dataclasses.dataclass(frozen=True)
class Budget:
    """How much a search may ask, and what asking twice costs.

    A training that is stopped early costs its share of the epochs, and one that goes on
    where an earlier one stopped costs the new epochs only. A query that asks for nothing
    new is a repeat. With free repeats a budget of queries counts distinct architectures.

    Attributes:
        amount: How much there is.
        unit: ``queries`` (whole trainings) or ``seconds`` of simulated training time,
            summed over all workers; ``estimated seconds`` for tables that know no times.
        repeats: Whether a repeat is ``charged`` like the first time or ``free``.

    Raises:
        QueryError: If the amount is not above 0, or a unit or policy is unknown.
    """

    amount: float
    unit: Unit = "queries"
    repeats: Repeats = "charged"

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise QueryError(f"unknown unit {self.unit!r} of a budget; allowed: {', '.join(UNITS)}")
        if self.repeats not in REPEATS:
            raise QueryError(
                f"unknown policy {self.repeats!r} for repeats; allowed: {', '.join(REPEATS)}"
            )
        if not (self.amount > 0 and math.isfinite(self.amount)):
            raise QueryError(f"a budget must be above 0, not {self.amount:g} {self.unit}")

    @classmethod
    def parse(cls, text: str | int, rows: int, repeats: Repeats = "charged") -> Budget:
        """Read a budget as people write it.

        Args:
            text: A number of queries (``524``), a share of the table's rows, rounded
                down (``2%``), seconds of training (``3600s``), or estimated ones (``~3600s``).
            rows: The number of rows of the table.
            repeats: What a repeat costs.

        Raises:
            QueryError: If it can't be read, is 0, or asks for more than the whole table.
        """
        match = _TEXT.fullmatch(str(text).strip())
        if match is None or (match["about"] and match["unit"] != "s"):
            raise QueryError(f"can't read the budget {text!r}; give {_FORMS}")
        number = Fraction(match["number"])
        if match["unit"] == "s":
            unit: Unit = "estimated seconds" if match["about"] else "seconds"
            return cls(float(number), unit, repeats)
        share = number / 100 if match["unit"] else number / max(rows, 1)
        queries = math.floor(share * rows) if match["unit"] else number
        if share > 1:
            raise QueryError(
                f"the budget {text!r} is over 100% of the table's {rows:,} architectures"
            )
        if queries < 1 or queries != int(queries):
            raise QueryError(
                f"the budget {text!r} is {float(queries):g} queries of {rows:,}; "
                f"it must be a whole number from 1: give {_FORMS}"
            )
        return cls(int(queries), "queries", repeats)
