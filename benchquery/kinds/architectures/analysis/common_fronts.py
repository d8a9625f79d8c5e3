"""Pareto fronts of several datasets: what is on more than one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import left_out
from benchquery.errors import QueryError
from benchquery.kinds.architectures.arch import Arch
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Mask
else:
    np = LazyModule("numpy")


@dataclass(frozen=True, eq=False)
class CommonFronts:
    """The Pareto fronts of several tables.

    Attributes:
        names: The tables.
        by: The figure to maximise.
        cheaper: The cost to minimise.
        hashes: The architectures that are on a front, those on most fronts first, then by hash.
        on: (architectures, tables): whether each is on the front of each.
        left_out: How many rows of all tables lack one of the two figures.
    """

    names: tuple[str, ...]
    by: str
    cheaper: str
    hashes: tuple[int, ...]
    on: Mask
    left_out: int

    @property
    def note(self) -> str:
        """What the rows are about."""
        several = int((self.on.sum(axis=1) > 1).sum())
        return (
            f"{several} of the {len(self.hashes)} architectures on the fronts of {len(self.names)} "
            f"tables ({self.by} against {self.cheaper}) are on two or more"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each architecture that is on two fronts or more."""
        counts = self.on.sum(axis=1)
        return [
            {
                "hash": number,
                "link": list(Arch.from_hash(number).link),
                "ops": list(Arch.from_hash(number).ops),
                "fronts": int(count),
                "of": ",".join(np.array(self.names)[on]),
            }
            for number, on, count in zip(self.hashes, self.on, counts, strict=True)
            if count > 1
        ]


def common_fronts(
    tables: Mapping[str, ArchTable], by: str = "perf", cheaper: str = "latency"
) -> CommonFronts:
    """Return which architectures are on the Pareto fronts of several tables.

    Args:
        tables: Tables by name, at least two.
        by: The figure to maximise.
        cheaper: The cost to minimise.

    Raises:
        QueryError: If there are fewer than two tables, or a column has no better direction.
        UnknownNameError: If a table has no such column.
    """
    if len(tables) < 2:
        raise QueryError(f"common fronts need at least 2 tables, not {len(tables)}")
    fronts = [set(table.pareto(by, cheaper).hashes.tolist()) for table in tables.values()]
    found = {
        number: [number in front for front in fronts] for number in sorted(set().union(*fronts))
    }
    order = sorted(found, key=lambda number: (-sum(found[number]), number))
    on = np.array([found[number] for number in order], dtype=bool).reshape(-1, len(tables))
    missing = sum(left_out(table, by, cheaper) for table in tables.values())
    return CommonFronts(tuple(tables), by, cheaper, tuple(order), on, missing)
