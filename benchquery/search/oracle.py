"""The oracle: all that a search strategy sees of a table.

It answers with the validation metric, charges a budget and keeps a record. Test figures
are not reachable through it: they come with the report, after the search is over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.errors import AllSkipError, BudgetExhaustedError, QueryError, UnknownNameError
from benchquery.kinds.architectures.arch import Arch, hash_of
from benchquery.kinds.architectures.space import Space, get_space
from benchquery.kinds.architectures.table import ArchTable
from benchquery.naming import unknown
from benchquery.search.budget import Budget
from benchquery.search.clock import estimate_times
from benchquery.search.nearest import Nearest
from benchquery.search.resampling import resample
from benchquery.search.trace import Trace, table_id
from benchquery.table import schema
from benchquery.table.rows import RowTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Floats
else:
    np = LazyModule("numpy")

RewardProtocol = Literal["validation", "leaky-test", "one-seed"]

PROTOCOLS: tuple[RewardProtocol, ...] = get_args(RewardProtocol)
"""What a search is rewarded with.

``validation`` is the one to use. ``leaky-test`` rewards with the test metric, as the
search experiments of the NAS-Bench-Graph paper did: only to compare with them. ``one-seed``
rewards with the validation metric of one training of each architecture, drawn from its seeds
(`benchquery.search.resample`): a search that trains once does not know a mean.
"""

FAILED = 0.0
"""The reward of an architecture without a figure, as its training failed: the worst there is."""

PATIENCE = 10_000
"""How many queries in a row may cost nothing before a search counts as stuck."""

_REWARD = {"validation": "valid_perf", "leaky-test": "perf", "one-seed": "valid_perf"}
_DRAWN = ("one-seed",)
"""The protocols whose reward is that of one training of an architecture."""
_ROUNDING = 1e-9


def _check_searchable(table: object) -> None:
    """Refuse what is no table of architectures.

    Raises:
        QueryError: If it is none; the message says how to open one.
    """
    if isinstance(table, ArchTable):
        return
    what = repr(table)
    if isinstance(table, RowTable):
        what = f"the {table.manifest.kind} table {table.name!r}"
    raise QueryError(
        f"a search needs a table of architectures, not {what}; open one with "
        "benchquery.lightread, for example lightread('cora')"
    )


class Oracle:
    """Answers a strategy's queries on a table, within a budget.

    One oracle serves one search. It is not safe to share between threads.

    Args:
        table: A table of architectures.
        budget: How much may be asked, as a `Budget` or as `Budget.parse` reads it.
        protocol: What the reward is; see `PROTOCOLS`.
        workers: How many simulated workers train at the same time.
        seed: The seed of the search. Where the reward is that of one training, it decides which.

    Raises:
        QueryError: If it is no table of architectures, is empty, has no figure to reward with, or
            lacks the training times that the budget counts or the figures of single seeds that the
            protocol draws from; if the budget can't be read, or there is no worker.
        UnknownNameError: If there is no such protocol.

    Attributes:
        space: The space of the table's architectures.
        budget: How much may be asked.
        protocol: What the reward is.
        workers: How many simulated workers there are.
        schedule: Worker, start and end of each query in simulated time, kept by
            `benchquery.search.SimulatedWorkers`; empty if the queries ran one after another.
    """

    def __init__(
        self,
        table: ArchTable,
        budget: Budget | str | int,
        *,
        protocol: RewardProtocol = "validation",
        workers: int = 1,
        seed: int = 0,
    ) -> None:
        if protocol not in PROTOCOLS:
            raise UnknownNameError(unknown("protocol", protocol, PROTOCOLS))
        if not isinstance(workers, int | np.integer) or workers < 1:
            raise QueryError(f"a search needs at least 1 worker, not {workers!r}")
        _check_searchable(table)
        if not len(table):
            raise QueryError(f"the table {table.name!r} has no architectures to search")
        known_part(table, _REWARD[protocol])
        if not isinstance(budget, Budget):
            budget = Budget.parse(budget, len(table))
        times = _training_times(table)
        if budget.unit == "seconds" and times is None:
            raise QueryError(
                f"the table {table.name!r} ({table.manifest.origin}) has no figures in "
                "'train_time', so a budget can't be in seconds; give queries or a share (2%), or "
                f"estimated time (~{budget.amount:g}s)"
            )
        if budget.unit == "estimated seconds":
            if times is not None:
                raise QueryError(
                    f"the table {table.name!r} knows its training times, so there is nothing to "
                    f"estimate; give {budget.amount:g}s"
                )
            # No other search has made up numbers.
            seconds = estimate_times(table).seconds
            times = dict(zip(table.hashes.tolist(), seconds.tolist(), strict=True))
        self.space: Space = get_space(table.manifest.space)
        self.budget = budget
        self.protocol: RewardProtocol = protocol
        self.workers = workers
        self.schedule: list[tuple[int, float, float]] = []
        self._table = table
        drawn = resample(table, seed) if protocol in _DRAWN else None
        values = table.column(_REWARD[protocol]) if drawn is None else drawn.valid_perf
        values = np.nan_to_num(values, nan=FAILED)
        self._seeds: dict[int, int] = (
            {}
            if drawn is None
            else dict(zip(table.hashes.tolist(), drawn.seed.tolist(), strict=True))
        )
        self._rewards: dict[int, float] = dict(
            zip(table.hashes.tolist(), values.tolist(), strict=True)
        )
        self._times = times
        self._prices = None if budget.unit == "queries" else self._times
        self._free_repeats = budget.repeats == "free"
        self._limit = budget.amount * (1 + _ROUNDING)
        self._spent = 0.0
        self._for_nothing = 0
        self._trained: dict[int, float] = {}
        self._asked: list[int] = []
        self._answers: list[float] = []
        self._fidelities: list[float] = []
        self._shares: list[float] = []

    # ---------------------------------------------------------------- what there is to ask

    @cached_property
    def hashes(self) -> tuple[int, ...]:
        """The hashes of all architectures that can be asked for."""
        return tuple(self._rewards)

    def __contains__(self, arch: object) -> bool:
        return (arch.valid_hash() if isinstance(arch, Arch) else arch) in self._rewards

    def __len__(self) -> int:
        return len(self._rewards)

    @cached_property
    def epochs(self) -> int:
        """The epochs of a whole training, for strategies that stop some early.

        Raises:
            QueryError: If the table has no learning curves.
        """
        try:
            return self._table.curves.epochs
        except QueryError as error:
            raise QueryError(f"{error}, so no training can be stopped early") from error

    @property
    def spent(self) -> float:
        """How much of the budget is used."""
        return self._spent

    @property
    def exhausted(self) -> bool:
        """Whether the budget is used up, so that nothing more is answered."""
        return self._spent >= self._limit * (1 - 2 * _ROUNDING)

    @property
    def last_duration(self) -> float:
        """The simulated time of the last query.

        In seconds where the table knows training times; otherwise a whole training takes 1.
        """
        share = self._shares[-1]
        return share * self._times[self._asked[-1]] if self._times else share

    # ---------------------------------------------------------------- asking

    def evaluate(self, arch: Arch | int, epochs: int | None = None) -> float:
        """Return the reward of an architecture, and charge for it.

        Args:
            arch: An architecture, or its hash.
            epochs: Stop the training after so many epochs (needs curves); None for all.

        Raises:
            BudgetExhaustedError: If the budget does not cover it. The search is over.
            UnknownHashError: If the table does not hold the architecture.
            QueryError: If the table has no curves, or there are no such epochs.
        """
        number = hash_of(arch)
        try:
            reward = self._rewards[number]
        except (KeyError, TypeError):
            reward = self._refuse(number)
        fidelity = 1.0
        if epochs is not None:
            fidelity, reward = self._stopped(number, epochs, reward)
        before = self._trained.get(number, 0.0)
        share = fidelity - before
        if share <= 0:
            share = 0.0 if self._free_repeats else fidelity
        spent = self._spent + (share if self._prices is None else share * self._prices[number])
        if spent > self._limit:
            raise self._over(f"the budget of {self.budget.amount:g} {self.budget.unit} is used up")
        if share:
            self._for_nothing = 0
            self._trained[number] = max(before, fidelity)
        else:
            self._count_for_nothing()
        self._spent = spent
        self._asked.append(number)
        self._answers.append(reward)
        self._fidelities.append(fidelity)
        self._shares.append(share)
        return reward

    def resolve_form(self, link: Sequence[int], ops: Sequence[str]) -> int | None:
        """Return the hash of the architecture that answers for a raw form.

        That is the form's own architecture or, where the table holds a part of its space only
        and not this one, the nearest that it holds, as `Nearest` measures it.

        Returns:
            A hash of the table; None for a form without a figure: four skips, which compute
            nothing, or operations that are not in the space.

        Raises:
            ArchitectureError: If the form describes no architecture.
        """
        try:
            number = Arch(link, ops).valid_hash()
        except AllSkipError:
            return None
        if number in self._rewards:
            return number
        return self._nearest.find(number) if number in self.space else None

    @cached_property
    def _nearest(self) -> Nearest:
        """Finds what stands in for the architectures that the table lacks."""
        return Nearest(self.hashes, self.space)

    def evaluate_form(self, link: Sequence[int], ops: Sequence[str]) -> float:
        """Return the reward of a raw form, as strategies build them choice by choice.

        It is that of the architecture which `resolve_form` finds, and costs and is recorded as
        that one. Forms that have none give the worst reward and cost nothing, but a search that
        asks for nothing else is over.

        Raises:
            BudgetExhaustedError: If the budget does not cover it. The search is over.
            ArchitectureError: If the form describes no architecture.
        """
        number = self.resolve_form(link, ops)
        if number is None:
            self._count_for_nothing()
            return FAILED
        return self.evaluate(number)

    def cost(self, arch: Arch | int, name: str) -> float:
        """Return what an architecture that was asked for costs to run, for a second objective.

        Args:
            arch: An architecture, or its hash.
            name: A column of which less is better, such as ``latency`` or ``para``.

        Raises:
            QueryError: If the column is no cost, or the architecture was not asked for.
            UnknownNameError: If the table has no such column.
        """
        described = self._table.manifest.columns
        costs = [c.name for c in described if c.direction == "lower" and c.split is None]
        if name in self._table.columns and name not in costs:
            raise QueryError(f"column {name!r} is no cost; allowed: {', '.join(costs)}")
        self._table.column(name)
        if hash_of(arch) not in self._trained:
            raise QueryError(f"{arch!r} was not asked for yet, so nothing is known of its costs")
        return float(self._table.lookup([arch], name)[0])

    def _refuse(self, number: int) -> float:
        """Say, in the words of the table, why it does not hold an architecture."""
        return float(self._table[number][_REWARD[self.protocol]])

    def _stopped(self, number: int, epochs: int, whole: float) -> tuple[float, float]:
        """Return the share of the training and the reward of one that is stopped early."""
        if not 1 <= epochs <= self.epochs:
            raise QueryError(
                f"a training can stop after 1 to {self.epochs} epochs, not after {epochs!r}"
            )
        if epochs == self.epochs:
            return 1.0, whole
        curves = self._table.curves
        reached = _REACHED[self.protocol]
        seeds = [self._seeds[number]] if number in self._seeds else curves.seeds
        ends = [reached(curves.curve(number, seed)[:epochs]) for seed in seeds if seed >= 0]
        known = [end for end in ends if not math.isnan(end)]
        return epochs / self.epochs, sum(known) / len(known) if known else FAILED

    def _count_for_nothing(self) -> None:
        """Count a query that cost nothing, and end a search that makes no others."""
        self._for_nothing += 1
        if self._for_nothing > PATIENCE:
            raise self._over(
                f"the last {PATIENCE:,} queries cost nothing: the search is stuck, and over"
            )

    def _over(self, why: str) -> BudgetExhaustedError:
        """End the search: from now on nothing is answered."""
        self._limit = -1.0
        return BudgetExhaustedError(why)

    # ---------------------------------------------------------------- the end

    def finish(self, *, strategy: str, seed: int) -> Trace:
        """End the search and return its trace, which knows how to report the test figures.

        Args:
            strategy: The name of the strategy.
            seed: Its seed.
        """
        self._limit = -1.0
        hashes = np.array(self._asked, dtype=np.int32)
        shares: Floats = np.array(self._shares, dtype=np.float64)
        times = np.ones_like(shares)
        if self._times is not None:
            times = np.array([self._times[number] for number in self._asked], dtype=np.float64)
        if self.schedule:
            worker, started, ended = np.array(self.schedule, dtype=np.float64).T
        else:
            ended = np.cumsum(shares * times)
            started, worker = ended - shares * times, np.zeros_like(ended)
        return Trace(
            strategy=strategy,
            dataset=self._table.name,
            origin=self._table.manifest.origin,
            seed=seed,
            protocol=self.protocol,
            budget=self.budget,
            workers=self.workers,
            table_sha256=table_id(self._table),
            hashes=hashes,
            rewards=np.array(self._answers, dtype=np.float64),
            fidelities=np.array(self._fidelities, dtype=np.float64),
            costs=shares * times if self._prices is not None else shares,
            worker=worker.astype(np.int32),
            started=started,
            ended=ended,
            table=self._table,
        )


def _training_times(table: ArchTable) -> dict[int, float] | None:
    """Return the training time by hash; where it is unknown, the mean of the others.

    A training that took no time would let a search go on for ever, so that is unknown too. None if
    all are.
    """
    if "train_time" not in table.columns:
        return None
    times = table.column("train_time")
    known = (times > 0) & (times < np.inf)
    if not known.any():
        return None
    filled = np.where(known, times, times[known].mean())
    return dict(zip(table.hashes.tolist(), filled.tolist(), strict=True))


_VALID, _BEST = (
    [column.name for column in schema.CURVE_COLUMNS].index(name)
    for name in ("valid_perf", "best_perf")
)


def _best_validation(curve: Array) -> float:
    """Return the best validation metric of the epochs; NaN if none has one."""
    return float(np.fmax.reduce(curve[:, _VALID]))


def _chosen_test(curve: Array) -> float:
    """Return the test metric at the epoch of least validation loss; NaN if there is none."""
    known = curve[~np.isnan(curve[:, _BEST]), _BEST]
    return float(known[-1]) if len(known) else math.nan


_REACHED: Mapping[RewardProtocol, Callable[[Array], float]] = MappingProxyType(
    {
        "validation": _best_validation,
        "leaky-test": _chosen_test,
        "one-seed": _best_validation,
    }
)
"""By protocol: the reward of a training that ended with the last epoch of a curve."""
