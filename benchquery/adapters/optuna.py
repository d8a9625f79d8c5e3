"""Optuna: its samplers on our tables.

A study of your own takes `objective`::

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.GPSampler(seed=0))
    trace = run(study, "cora", "2%")
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import StrategyError
from benchquery.kinds.architectures.space import Space
from benchquery.kinds.architectures.table import ArchTable
from benchquery.search.budget import Budget
from benchquery.search.choices import choices, form
from benchquery.search.oracle import Oracle, RewardProtocol
from benchquery.search.run import run as run_search
from benchquery.search.strategies import Strategy
from benchquery.search.trace import Trace

if TYPE_CHECKING:
    import optuna
else:
    optuna = LazyModule("optuna", extra="optuna")


def suggest(trial: optuna.Trial, space: Space) -> tuple[list[int], list[str]]:
    """Let a trial choose the links and operations of a raw form.

    Args:
        trial: The trial.
        space: The space to choose from.
    """
    return form(
        {name: trial.suggest_categorical(name, values) for name, values in choices(space).items()}
    )


def objective(
    oracle: Oracle, cost: str | None = None
) -> Callable[[optuna.Trial], float | tuple[float, float]]:
    """Return what a study optimises: the reward, to be maximised.

    Args:
        oracle: The oracle. When its budget is used up, the objective raises
            `BudgetExhaustedError`.
        cost: A second objective, to be minimised, such as ``latency``.
    """

    def reward(trial: optuna.Trial) -> float | tuple[float, float]:
        link, ops = suggest(trial, oracle.space)
        value = oracle.evaluate_form(link, ops)
        return value if cost is None else (value, _cost(oracle, link, ops, cost))

    return reward


def _cost(oracle: Oracle, link: list[int], ops: list[str], name: str) -> float:
    """Return the cost of a raw form; infinite for one without a figure, as Optuna takes no NaN."""
    number = oracle.resolve_form(link, ops)
    cost = math.nan if number is None else oracle.cost(number, name)
    return math.inf if math.isnan(cost) else cost


def check_directions(study: optuna.Study, cost: str | None = None) -> None:
    """Refuse a study that would not search for what `objective` returns.

    Args:
        study: The study.
        cost: The second objective, if there is one.

    Raises:
        StrategyError: If its directions are not those of the objectives.
    """
    directions = [direction.name.lower() for direction in study.directions]
    if directions != _directions(cost):
        raise StrategyError(
            f"with cost={cost!r} the directions of a study must be {_directions(cost)}, not "
            f"{directions}: it maximises the reward and, with cost='latency' or another column, "
            "minimises that as its second objective"
        )


def _directions(cost: str | None) -> list[str]:
    """Return the directions of the objectives, as Optuna names them."""
    return ["maximize"] if cost is None else ["maximize", "minimize"]


def search(oracle: Oracle, study: optuna.Study, cost: str | None = None) -> None:
    """Let a study ask an oracle until its budget is used up.

    Args:
        oracle: The oracle.
        study: The study; it maximises the reward and, if there is one, minimises the cost.
        cost: A second objective.

    Raises:
        StrategyError: If the directions of the study are others.
        BudgetExhaustedError: If the budget ended the search in the middle of a trial.
    """
    check_directions(study, cost)

    def stop(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        if oracle.exhausted:
            study.stop()

    study.optimize(objective(oracle, cost), callbacks=[stop])


def run(
    study: optuna.Study,
    dataset: str | ArchTable,
    budget: str | int | Budget = "2%",
    *,
    cost: str | None = None,
    protocol: RewardProtocol = "validation",
) -> Trace:
    """Let a study search a table.

    Args:
        study: The study, with its own sampler and seed. It must maximise, and with a cost
            have the directions ``["maximize", "minimize"]``.
        dataset: A table, or the name of one.
        budget: How much it may ask, as `benchquery.search.run` reads it.
        cost: A second objective, to be minimised.
        protocol: What the reward is.

    Raises:
        BenchQueryError: As `benchquery.search.run` does.
    """

    def adapted(oracle: Oracle, rng: random.Random) -> None:
        search(oracle, study, cost)

    adapted.__name__ = f"optuna:{type(study.sampler).__name__}"
    return run_search(adapted, dataset, budget, protocol=protocol)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Optuna from logging every trial."""
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(level)


def _adapt(make: Callable[[int], optuna.samplers.BaseSampler], cost: str | None = None) -> Strategy:
    """Turn a maker of seeded samplers into a strategy of ours."""

    def adapted(oracle: Oracle, rng: random.Random) -> None:
        with _quiet():
            study = optuna.create_study(
                directions=_directions(cost), sampler=make(rng.getrandbits(32))
            )
            search(oracle, study, cost)

    return adapted


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "random": _adapt(lambda seed: optuna.samplers.RandomSampler(seed=seed)),
        "tpe": _adapt(lambda seed: optuna.samplers.TPESampler(seed=seed)),
        "nsga2": _adapt(lambda seed: optuna.samplers.NSGAIISampler(seed=seed), cost="latency"),
    }
)
"""Optuna's samplers with its own settings; ``nsga2`` also minimises the latency."""
