r"""How frequent a pattern has to be in each class, for what is kept to have a size.

A set of items is a pattern of class c if enough transactions of c hold it and not enough of any
other class do,

.. math::
    \mathcal{P}_c = \{ S : s_c(S) \ge \theta_c \text{ and } s_d(S) < \theta_d
    \text{ for all } d \ne c \}

A less :math:`\theta_c` adds patterns to c and takes patterns from the other classes. So thresholds
that fill every class's share of a size are found from above: each class in turn goes down until it
has its share, and again when others have gone down after it. They only ever go down, so the search
ends. One step down can add far more than there is room for; of the patterns that are just frequent
enough, the smallest are then taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.graphs.mining import (
    MAX_SETS,
    Enough,
    ItemSets,
    Transactions,
    frequent_sets,
)

STEP = 0.8
"""Sets are mined down to this share of the support before, until they are enough."""
SEARCH_LIMIT = 200_000
"""A search for a size mines no more sets than this at a time."""


class ClassPatterns:
    """The patterns of one class, mined as deep as was asked for so far.

    Args:
        transactions: The transactions of all classes.
        label: The class.
        sizes_of: Gives the size of each of some sets.
        shared: Whether a set that is frequent in another class too is a pattern.
    """

    def __init__(
        self,
        transactions: Transactions,
        label: int,
        sizes_of: Callable[[ItemSets], np.ndarray],
        *,
        shared: bool = False,
    ) -> None:
        self._transactions = transactions
        self._label = label
        self._sizes_of = sizes_of
        self._others = [] if shared else [c for c in range(len(transactions.counts)) if c != label]
        self._too_low = self._large = 0
        self._exhausted = False
        self._mine(Enough(max(int(transactions.supports[:, label].max(initial=0)), 1)))

    def kept(self, supports: Sequence[float], size: float = np.inf) -> tuple[ItemSets, np.ndarray]:
        """Return sets, and the numbers of the patterns among them, the most frequent first.

        Args:
            supports: The least support of each class.
            size: What the sizes of all patterns may add up to; there is always one.

        Raises:
            CondenseError: If there are too many sets.
        """
        if supports[self._label] < self._floor:
            self._mine(Enough(int(supports[self._label])))
        own = self._sets.supports[:, self._label]
        chosen = np.flatnonzero((own >= supports[self._label]) & self._are_own(supports))
        chosen = chosen[np.lexsort((chosen, self._sizes[chosen], -own[chosen]))]
        room = np.cumsum(self._sizes[chosen]) <= size
        room[:1] = True
        return self._sets, chosen[room]

    def support_for(self, supports: Sequence[float], size: float) -> int | None:
        """Return the greatest support that has patterns of a size, or of more.

        Where a support has too many sets to mine, those of few items are looked at alone; where
        even they are not enough, it is the support of the largest size that was found.

        Args:
            supports: The least support of each other class.
            size: What the sizes of all patterns are to add up to.

        Returns:
            None if no support within the limits leaves a pattern.
        """
        while True:
            own = self._sets.supports[:, self._label]
            order = np.argsort(-own, kind="stable")
            totals = np.cumsum(np.where(self._are_own(supports), self._sizes, 0)[order])
            most = totals[-1] if len(totals) else 0
            if most >= size or not self._lower():
                break
        if most <= 0:
            return None
        return int(own[order[np.searchsorted(totals, min(size, most))]])

    def _are_own(self, supports: Sequence[float]) -> np.ndarray:
        """Return which sets are frequent in no other class."""
        own = np.ones(len(self._sets), bool)
        for other in self._others:
            own &= self._sets.supports[:, other] < supports[other]
        return own

    def _lower(self) -> bool:
        """Mine sets of less support; False if there are none, or too many.

        Of the support that has too many, sets of one item are mined first, then those of two.
        """
        while self._floor > self._too_low + 1:
            support = max(int(self._floor * STEP), (self._floor + self._too_low) // 2)
            if self._mined(Enough(support)):
                return True
            self._too_low, self._complete = support, self._floor
        if not self._too_low or self._exhausted:
            return False
        self._large += 1
        self._exhausted = not self._mined(Enough(self._too_low, self._large, self._complete))
        return not self._exhausted

    def _mined(self, enough: Enough) -> bool:
        """Mine sets, if they are not too many for a search."""
        try:
            self._mine(enough, SEARCH_LIMIT)
        except CondenseError:
            return False
        return True

    def _mine(self, enough: Enough, limit: int = MAX_SETS) -> None:
        self._sets = frequent_sets(self._transactions, self._label, enough, limit)
        self._sizes = self._sizes_of(self._sets)
        self._floor = enough.support


def supports_for(patterns: Sequence[ClassPatterns], size: float) -> list[int]:
    """Return the greatest supports with which every class has patterns of a size, or of more.

    Args:
        patterns: Those of each class.
        size: The size of the patterns of one class.

    Raises:
        CondenseError: If no supports leave every class a pattern.
    """
    supports = [np.inf] * len(patterns)
    before: list[float] = []
    while supports != before:
        before = list(supports)
        for label, of_class in enumerate(patterns):
            found = of_class.support_for(supports, size)
            if found is None:
                raise CondenseError(
                    f"class {label}: every set of trees within the limits is as frequent in "
                    "another class; no supports leave each class a pattern of its own"
                )
            supports[label] = min(supports[label], found)
    return [int(support) for support in supports]
