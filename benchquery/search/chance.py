r"""Random search without searching: what the best of n draws is, exactly.

Of N architectures n are drawn without repeats, and the one with the best reward is kept. With a
group of equal rewards that a others beat, and b others or members of it are at least as good as,

.. math::
    P(\text{the find is in the group}) = \frac{\binom{N-a}{n} - \binom{N-b}{n}}{\binom{N}{n}}

and all members of it are as likely. So the mean and the deviation of any figure of the find follow
without a seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.errors import QueryError
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")


EXACT: Mapping[str, str] = MappingProxyType({"validation": "valid_perf", "leaky-test": "perf"})
"""By protocol of which random search is known exactly, the column that rewards."""


@dataclass(frozen=True, eq=False)
class RandomSearch:
    """What random search finds with every budget, on average.

    Attributes:
        queries: The budgets.
        reward: The expected reward of the find, by budget.
        perf: Its expected test metric.
        deviation: The standard deviation of the test metric over searches; over the square root of
            the number of seeds it is the standard error that a comparison has.
        left_out: How many architectures lack one of the two figures.
    """

    queries: Ints
    reward: Floats
    perf: Floats
    deviation: Floats
    left_out: int


def random_search_exactly(
    table: ArchTable, queries: Ints | int, protocol: str = "validation"
) -> RandomSearch:
    """Return what random search without repeats finds on average, without a single search.

    Args:
        table: The table.
        queries: One budget, or several.
        protocol: What the reward is.

    Raises:
        QueryError: If a budget is below 1 or above the number of architectures with figures, or
            there is no such protocol.
    """
    draws = _Draws(table, protocol)
    budgets = np.atleast_1d(np.asarray(queries))
    perf = draws.known.column("perf")
    figures = np.stack([draws.reward, perf, perf**2], axis=1)
    found = np.array([draws.chances(int(count)) @ figures for count in budgets])
    spread = np.sqrt(np.maximum(found[:, 2] - found[:, 1] ** 2, 0.0))
    return RandomSearch(budgets, found[:, 0], found[:, 1], spread, len(table) - len(draws.known))


def find_chances(
    table: ArchTable, queries: float, protocol: str = "validation"
) -> tuple[ArchTable, Floats]:
    """Return what random search may find, and how likely it finds each.

    Args:
        table: The table.
        queries: The budget. One that is larger than what there is to draw draws all of it.
        protocol: What the reward is.

    Returns:
        The architectures with figures, and the chance of each to be the find.

    Raises:
        QueryError: If the budget is below 1, or there is no such protocol.
    """
    draws = _Draws(table, protocol)
    return draws.known, draws.chances(min(int(queries), len(draws.known)))


class _Draws:
    """The architectures of a table that can be drawn, in groups of equal rewards.

    Args:
        table: The table.
        protocol: What the reward is.

    Attributes:
        known: The architectures with figures.
        reward: The reward of each.

    Raises:
        QueryError: If there is no such protocol, or no architecture has figures.
    """

    def __init__(self, table: ArchTable, protocol: str) -> None:
        if protocol not in EXACT:
            raise QueryError(
                f"random search is known exactly for the protocols {', '.join(EXACT)}, not for "
                f"{protocol!r}"
            )
        self.known = known_part(table, "valid_perf", "perf")
        self.reward = self.known.column(EXACT[protocol])
        _, self._group, self._size = np.unique(
            -self.reward, return_inverse=True, return_counts=True
        )
        total = len(self.known)
        self._logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, total + 1)))))

    def chances(self, count: int) -> Floats:
        """Return the chance of each to be the best of so many draws."""
        total, logs = len(self.known), self._logs
        if not 1 <= count <= total:
            raise QueryError(f"random search draws 1 to {total:,} of the table {self.known.name!r}")
        left = total - np.concatenate(([0], np.cumsum(self._size)))
        none = np.zeros(len(left))
        rest = left[left >= count]
        none[left >= count] = np.exp(
            logs[rest] - logs[rest - count] - logs[total] + logs[total - count]
        )
        return (-np.diff(none) / self._size)[self._group]
