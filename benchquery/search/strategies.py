"""The strategies by name: the ones here, those of other packages, and yours.

A strategy is a function of an oracle and a source of randomness. It asks until the oracle
raises `BudgetExhaustedError`, or returns before. A new one here is one function and one
line in `STRATEGIES`. Other packages offer theirs through the entry point group
``graphtab.strategies``.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from types import MappingProxyType

from benchquery.errors import UnknownNameError
from benchquery.naming import match_name, unknown
from benchquery.search.evolution import evolution
from benchquery.search.halving import successive_halving
from benchquery.search.local_search import local_search
from benchquery.search.oracle import Oracle
from benchquery.search.random_search import random_search
from benchquery.search.reinforce import reinforce

Strategy = Callable[[Oracle, random.Random], None]

STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "random": random_search,
        "local": local_search,
        "evolution": evolution,
        "reinforce": reinforce,
        "halving": successive_halving,
    }
)

ADAPTERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "nni": ("random", "grid", "evolution", "evolution-repeats", "tpe", "rl"),
        "optuna": ("random", "tpe", "nsga2"),
        "autogl": ("random", "graphnas", "agnn"),
    }
)
"""Module of `benchquery.adapters` -> the names in its mapping `STRATEGIES`.

They stand here so that they can be listed where the other package is not installed.
"""

ENTRY_POINTS = "graphtab.strategies"


def strategy_names() -> list[str]:
    """Return the names of all strategies; those of packages that are not installed too."""
    adapted = [f"{adapter}:{name}" for adapter, names in ADAPTERS.items() for name in names]
    offered = [point.name for point in entry_points(group=ENTRY_POINTS)]
    return [*STRATEGIES, *adapted, *sorted(offered)]


def match_strategy(name: object) -> str:
    """Return the name of the strategy that is meant, in any letter case.

    Raises:
        UnknownNameError: If there is none; the message names the nearest.
    """
    if isinstance(name, str) and name in STRATEGIES:
        return name
    names = strategy_names()
    matched = match_name(name, names)
    if matched is None:
        raise UnknownNameError(unknown("strategy", name, names))
    return matched


def get_strategy(name: str) -> Strategy:
    """Return the strategy of a name, in any letter case.

    Raises:
        UnknownNameError: If there is no such strategy; the message names the nearest.
        MissingPackageError: If it is another package's, which is not installed.
    """
    name = match_strategy(name)
    if name in STRATEGIES:
        return STRATEGIES[name]
    adapter, _, adapted = name.partition(":")
    if adapted in ADAPTERS.get(adapter, ()):
        found: Strategy = importlib.import_module(f"benchquery.adapters.{adapter}").STRATEGIES[
            adapted
        ]
        return found
    (point, *_) = entry_points(group=ENTRY_POINTS, name=name)
    offered: Strategy = point.load()
    return offered
