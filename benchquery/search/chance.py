r"""Random search without searching: what the best of n draws is, exactly.

Of N architectures n are drawn without repeats, and the one with the best reward is kept. With a
group of equal rewards that a others beat, and b others or members of it are at least as good as,

.. math::
    P(\text{the find is in the group}) = \frac{\binom{N-a}{n} - \binom{N-b}{n}}{\binom{N}{n}}

and all members of it are as likely. So the mean and the deviation of any figure of the find follow
without a seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.errors import QueryError
from benchquery.kinds.architectures.table import ArchTable
from benchquery.search.oracle import PROTOCOLS

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")


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
    if protocol not in PROTOCOLS:
        raise QueryError(f"unknown protocol {protocol!r}; allowed: {', '.join(PROTOCOLS)}")
    known = known_part(table, "valid_perf", "perf")
    reward = known.column("valid_perf" if protocol == "validation" else "perf")
    perf, total = known.column("perf"), len(known)
    budgets = np.atleast_1d(np.asarray(queries))
    if budgets.min() < 1 or budgets.max() > total:
        raise QueryError(f"random search draws 1 to {total:,} of the table {table.name!r}")
    rewards, group, size = np.unique(-reward, return_inverse=True, return_counts=True)
    means, squares = (np.bincount(group, weights=perf**power) / size for power in (1, 2))
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, total + 1)))))
    better = np.concatenate(([0], np.cumsum(size)))
    found = np.array(
        [[chance @ figure for figure in (-rewards, means, squares)]
         for chance in (_chances(better, int(n), logs) for n in budgets)]
    )  # fmt: skip
    spread = np.sqrt(np.maximum(found[:, 2] - found[:, 1] ** 2, 0.0))
    return RandomSearch(budgets, found[:, 0], found[:, 1], spread, len(table) - total)


def _chances(better: Ints, count: int, logs: Floats) -> Floats:
    """Return the chance that the find is in each group, given how many are better than it."""
    total = len(logs) - 1
    left = total - better
    none = np.zeros(len(better))
    possible = left >= count
    rest = left[possible]
    none[possible] = np.exp(logs[rest] - logs[rest - count] - logs[total] + logs[total - count])
    return -np.diff(none)
