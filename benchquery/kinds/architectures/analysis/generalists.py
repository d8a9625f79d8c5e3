r"""Generalists: architectures that are good on every dataset.

An architecture is worth what it is where it is worst. With N architectures and k tables whose
rankings had nothing to do with each other, the best of them would beat

.. math::
    1 - \Gamma(1 + 1/k)\, N^{-1/k}

of the others on the table where it is worst, on average. That is the base rate to hold generalists
against.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import has_figures
from benchquery.analysis.statistics import ranks
from benchquery.errors import QueryError
from benchquery.kinds.architectures.analysis.agreement import goodness
from benchquery.kinds.architectures.arch import Arch
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")

_SHOWN = 10
_GOOD = 0.9


@dataclass(frozen=True, eq=False)
class Generalists:
    """How good architectures are on several tables at once, the best generalist first.

    Attributes:
        names: The tables.
        by: The figure that ranks.
        hashes: The architectures that all tables have a figure of, by where they are worst; equal
            ones by their mean, then by hash.
        beaten: (architectures, tables): which share of the others each beats; half of a tie.
        left_out: How many architectures all tables hold of which one has no figure.
    """

    names: tuple[str, ...]
    by: str
    hashes: Ints
    beaten: Floats
    left_out: int

    @property
    def by_chance(self) -> float:
        """Where the best would be worst if the tables had nothing to do with each other."""
        share = 1 / len(self.names)
        return float(1 - math.gamma(1 + share) * len(self.hashes) ** -share)

    @property
    def note(self) -> str:
        """What the rows are about."""
        good = int((self.beaten.min(axis=1) > _GOOD).sum())
        return (
            f"{len(self.hashes):,} architectures on {len(self.names)} tables by {self.by}: {good} "
            f"beat {_GOOD:.0%} of the others on all; by chance the best would have "
            f"{self.by_chance:.4f} where it is worst"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each of the ten best generalists."""
        archs = [Arch.from_hash(int(number)) for number in self.hashes[:_SHOWN]]
        return [
            {
                "hash": arch.valid_hash(),
                "link": list(arch.link),
                "ops": list(arch.ops),
                "worst": float(shares.min()),
                "on": self.names[int(shares.argmin())],
                "mean": float(shares.mean()),
            }
            for arch, shares in zip(archs, self.beaten, strict=False)
        ]


def generalists(tables: Mapping[str, ArchTable], by: str = "perf") -> Generalists:
    """Return how good architectures are on all of some tables, the best generalist first.

    Args:
        tables: Tables by name, at least two.
        by: The figure that ranks.

    Raises:
        QueryError: If there are fewer than two tables, or fewer than two architectures of which
            all have a figure.
    """
    if len(tables) < 2:
        raise QueryError(f"generalists need at least 2 tables, not {len(tables)}")
    held = reduce(np.intersect1d, [table.hashes for table in tables.values()])
    known = [table.hashes[has_figures(table, by)] for table in tables.values()]
    shared = reduce(np.intersect1d, known)
    if len(shared) < 2:
        raise QueryError(
            f"the tables {', '.join(tables)} have figures of {len(shared)} architectures in "
            "common; at least 2 are needed"
        )
    values = [goodness(table.lookup(shared, by), by) for table in tables.values()]
    beaten = np.stack([(ranks(one) - 1) / (len(shared) - 1) for one in values], axis=1)
    order = np.lexsort((shared, -beaten.mean(axis=1), -beaten.min(axis=1)))
    missing = len(held) - len(shared)
    return Generalists(tuple(tables), by, shared[order], beaten[order], missing)
