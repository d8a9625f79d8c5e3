r"""Sets of items that many transactions have in common, by Eclat.

.. math::
    \mathcal{F} = \{ S : |\{ t : S \subseteq t \}| \ge \theta \}

Pairs are counted transaction by transaction, as most items have few in common with others. From
there on, the transactions that hold a set are bits. Sets grow depth first, an item at a time: the
bits of a set are met with those of all items that may follow in one step, and what keeps fewer bits
than the support asks for is not followed, as no larger set can have more. How often a set is in
each of the other classes is counted on the way, of those sets alone that are frequent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.graphs.ragged import ranges, starts_of

MAX_SETS = 1_000_000
"""More sets than this are not mined."""
MAX_BYTES = 500_000_000
"""Bits of single items that take more than this are not laid out."""
_BITS = 64


@dataclass(frozen=True, eq=False)
class Transactions:
    """Which items each transaction holds, and of which class it is.

    Attributes:
        holders: (entries,) transactions that hold an item, by item.
        starts: (items + 1,) where the entries of each item begin.
        y: (transactions,) the class of each transaction.
        counts: (classes,) how many transactions each class has.
        supports: (items, classes) how many transactions of each class hold each item.
    """

    holders: np.ndarray
    starts: np.ndarray
    y: np.ndarray
    counts: np.ndarray
    supports: np.ndarray

    @classmethod
    def of(
        cls, items: np.ndarray, owners: np.ndarray, y: np.ndarray, num_classes: int
    ) -> Transactions:
        """Make transactions of entries; one that comes more than once counts once.

        Args:
            items: (entries,) an item.
            owners: (entries,) a transaction that holds it.
            y: (transactions,) the class of each transaction.
            num_classes: How many classes there are.
        """
        number = int(items.max(initial=-1)) + 1
        item, owner = np.divmod(np.unique(items * len(y) + owners), len(y))
        supports = np.bincount(item * num_classes + y[owner], minlength=number * num_classes)
        supports = supports.reshape(number, num_classes)
        starts = starts_of(supports.sum(axis=1))
        return cls(owner, starts, y, np.bincount(y, minlength=num_classes), supports)

    def bits(self, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return, as bits, which transactions hold each of some items.

        Returns:
            (items, words) uint64, where the transactions of every class begin with a word of their
            own; and (classes + 1,) where the words of each class begin.

        Raises:
            CondenseError: If they are too many.
        """
        words = starts_of(self.counts // _BITS + 1)
        if len(items) * int(words[-1]) * 8 > MAX_BYTES:
            raise CondenseError(
                f"{len(items):,} items of {len(self.y):,} transactions take more than "
                f"{MAX_BYTES:,} bytes; ask for a greater support"
            )
        place = np.empty(len(self.y), np.int64)
        for label, count in enumerate(self.counts):
            place[self.y == label] = words[label] * _BITS + np.arange(count)
        counts = np.diff(self.starts)[items]
        holders = place[self.holders[ranges(self.starts[items], counts)]]
        bits = np.zeros((len(items), words[-1]), np.uint64)
        entries = np.repeat(np.arange(len(items)), counts), holders // _BITS
        np.bitwise_or.at(bits, entries, np.uint64(1) << (holders % _BITS).astype(np.uint64))
        return bits, words

    def neighbours(self, items: np.ndarray, label: int, support: int) -> Iterator[np.ndarray]:
        """Give, for each of some items, those after it that enough transactions hold with it.

        Args:
            items: The items.
            label: The class whose transactions count.
            support: How many are enough.

        Yields:
            Places among `items`, ascending.
        """
        counts = np.diff(self.starts)[items]
        holders = self.holders[ranges(self.starts[items], counts)]
        places = np.repeat(np.arange(len(items)), counts)
        counted = self.y[holders] == label
        holders, places = holders[counted], places[counted]
        begins = starts_of(np.bincount(places, minlength=len(items)))
        by_holder = places[np.argsort(holders, kind="stable")]
        lengths = np.bincount(holders, minlength=len(self.y))
        firsts = starts_of(lengths)[:-1]
        for place in range(len(items)):
            mine = holders[begins[place] : begins[place + 1]]
            met = by_holder[ranges(firsts[mine], lengths[mine])]
            near, times = np.unique(met[met > place], return_counts=True)
            yield near[times >= support]


@dataclass(frozen=True, eq=False)
class ItemSets:
    """Sets of items, each a set before it and one item more.

    Attributes:
        before: (sets,) the number of the set without the last item, which is always less than its
            own; -1 if the set is that item alone.
        last: (sets,) the last item.
        supports: (sets, classes) how many transactions of each class hold each set.
    """

    before: np.ndarray
    last: np.ndarray
    supports: np.ndarray

    def __len__(self) -> int:
        """Return how many sets there are."""
        return len(self.last)

    def totals(self, values: np.ndarray) -> np.ndarray:
        """Return, of each set, the sum of its items' values.

        Args:
            values: (items,) a value of each item.
        """
        total: np.ndarray = values[self.last]
        rest = self.before
        while (growing := np.flatnonzero(rest >= 0)).size:
            total[growing] += values[self.last[rest[growing]]]
            rest = np.where(rest >= 0, self.before[rest], -1)
        return total

    def members(self, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the items of some sets, ascending, one set after another; and their numbers."""
        owners, items = [np.arange(len(sets))], [self.last[sets]]
        rest = self.before[sets]
        while (growing := np.flatnonzero(rest >= 0)).size:
            owners.append(growing)
            items.append(self.last[rest[growing]])
            rest = np.where(rest >= 0, self.before[rest], -1)
        owner, item = np.concatenate(owners), np.concatenate(items)
        return item[np.lexsort((item, owner))], np.bincount(owner, minlength=len(sets))


@dataclass(frozen=True)
class Enough:
    """How many transactions of a class are enough for a set to be frequent.

    Attributes:
        support: So many, at least 1.
        large: How many items a set may have for that; None for any number.
        large_support: How many transactions are enough for a set of more items.
    """

    support: int
    large: int | None = None
    large_support: int = 1

    def of(self, items: int) -> int:
        """Return how many are enough for a set of some items."""
        fits = self.large is None or items <= self.large
        return self.support if fits else max(self.support, self.large_support)


def frequent_sets(
    transactions: Transactions, label: int, enough: Enough, limit: int = MAX_SETS
) -> ItemSets:
    """Return the sets that enough transactions of a class hold; none is empty.

    Args:
        transactions: The transactions of all classes.
        label: The class.
        enough: How many of its transactions are enough.
        limit: How many sets there may be.

    Raises:
        CondenseError: If there are more.
    """
    own = transactions.supports[:, label]
    items = np.flatnonzero(own >= enough.of(1))
    items = items[np.argsort(own[items], kind="stable")]
    bits, words = transactions.bits(items)
    of_class = slice(words[label], words[label + 1])
    found = [(np.full(len(items), -1), items, transactions.supports[items])]
    known = len(items)
    for root, near in enumerate(transactions.neighbours(items, label, enough.of(2))):
        stack = [iter([(root, items[near], bits[near] & bits[root])] if near.size else [])]
        while stack and known <= limit:
            grown = next(stack[-1], None)
            if grown is None:
                stack.pop()
                continue
            before, last, met = grown
            counts = np.add.reduceat(np.bitwise_count(met), words[:-1], axis=1, dtype=np.int64)
            found.append((np.full(len(last), before), last, counts))
            more = enough.of(len(stack) + 2)
            growing = np.flatnonzero(counts[:, label] >= more)
            stack.append(_grown(known + growing, last[growing], met[growing], of_class, more))
            known += len(last)
    if known > limit:
        raise CondenseError(
            f"class {label}: more than {limit:,} sets of trees are in {enough.support:,} or more "
            f"of its {int(transactions.counts[label]):,} graphs; ask for a greater support"
        )
    return ItemSets(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _grown(
    numbers: np.ndarray, items: np.ndarray, bits: np.ndarray, of_class: slice, support: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Give the sets that are one of some sets and the last item of one after it.

    Args:
        numbers: (sets,) the numbers of these sets; they differ in their last items alone.
        items: (sets,) their last items.
        bits: (sets, words) the transactions that hold them.
        of_class: The words that are counted.
        support: How many transactions a set must have.

    Yields:
        Of each set that can grow: its number, the items to add, and the bits of what they make.
    """
    for place in range(len(items) - 1):
        later = bits[place + 1 :]
        held = np.bitwise_count(later[:, of_class] & bits[place, of_class])
        kept = held.sum(axis=1, dtype=np.int64) >= support
        if kept.any():
            yield int(numbers[place]), items[place + 1 :][kept], later[kept] & bits[place]
