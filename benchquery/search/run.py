"""Running a strategy on a table."""

from __future__ import annotations

import random

from benchquery.errors import (
    ArchitectureError,
    BudgetExhaustedError,
    StrategyError,
    UnknownHashError,
)
from benchquery.kinds.architectures.reading import lightread
from benchquery.kinds.architectures.table import ArchTable
from benchquery.search.budget import Budget
from benchquery.search.oracle import Oracle, RewardProtocol
from benchquery.search.strategies import Strategy, get_strategy, match_strategy
from benchquery.search.trace import Trace


def run(
    strategy: str | Strategy,
    table: str | ArchTable,
    budget: str | int | Budget = "2%",
    *,
    seed: int = 0,
    protocol: RewardProtocol = "validation",
    workers: int = 1,
) -> Trace:
    """Let a strategy search a table until its budget is used up.

    Args:
        strategy: A name of `strategy_names`, in any letter case, or a function of your own.
        table: A table, or the name of one.
        budget: How much it may ask, as a `Budget` or as `Budget.parse` reads it.
        seed: The seed of all randomness.
        protocol: What the reward is; see `benchquery.search.PROTOCOLS`.
        workers: How many simulated workers there are.

    Raises:
        UnknownNameError: If there is no such strategy or protocol.
        TableNotFoundError: If there is no such table.
        QueryError: If it is no table of architectures, the budget can't be read, or the table
            can't serve it.
        StrategyError: If the strategy asks for an architecture that is not there.
        MissingPackageError: If the strategy's package is not installed.

    Example:
        >>> from benchquery.search import run
        >>> run("random", "cora", 524, seed=0).report().queries
        524
    """
    if callable(strategy):
        name, search = getattr(strategy, "__name__", repr(strategy)), strategy
    else:
        name = match_strategy(strategy)
        search = get_strategy(name)
    opened = lightread(table) if isinstance(table, str) else table
    oracle = Oracle(opened, budget, protocol=protocol, workers=workers, seed=seed)
    try:
        search(oracle, random.Random(seed))
    except BudgetExhaustedError:
        pass
    except (ArchitectureError, UnknownHashError) as error:
        raise StrategyError(f"strategy {name!r} asked for no architecture: {error}") from error
    return oracle.finish(strategy=name, seed=seed)
