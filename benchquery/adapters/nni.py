"""NNI 3.0: its strategies on our tables, without torch.

A strategy of NNI, built in or your own, runs unchanged::

    from benchquery.adapters.nni import run  # before anything of nni.nas
    from nni.nas.strategy import RegularizedEvolution

    trace = run(RegularizedEvolution(population_size=20, sample_size=5, seed=0), "cora", "2%")

Importing this module sets ``NNI_FRAMEWORK=none`` in the environment, unless it is set, for this
process and for those of an experiment's trials: otherwise ``nni.nas`` wants pytorch-lightning.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import os
import random
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any

from benchquery._imports import LazyModule
from benchquery.kinds.architectures.reading import lightread
from benchquery.kinds.architectures.space import get_space
from benchquery.kinds.architectures.table import ArchTable
from benchquery.search.budget import Budget
from benchquery.search.choices import choices, form
from benchquery.search.oracle import Oracle, RewardProtocol
from benchquery.search.run import run as run_search
from benchquery.search.strategies import Strategy
from benchquery.search.trace import Trace

if os.environ.setdefault("NNI_FRAMEWORK", "none") == "none" and "nni" in sys.modules:
    sys.modules["nni"].set_default_framework("none")

nni = LazyModule("nni", extra="nni")
nni_mutable = LazyModule("nni.mutable", extra="nni")
nni_space = LazyModule("nni.nas.space", extra="nni")
nni_execution = LazyModule("nni.nas.execution", extra="nni")
nni_evaluator = LazyModule("nni.nas.evaluator", extra="nni")
nni_experiment = LazyModule("nni.nas.experiment", extra="nni")
nni_strategy = LazyModule("nni.nas.strategy", extra="nni")


@functools.cache
def _graph_space() -> Any:
    """Make the class `GraphSpace`, which can't be had without NNI."""

    class GraphSpace(nni_space.BaseModelSpace):  # type: ignore[misc, name-defined]
        """A space of ours as NNI wants it: labelled choices, frozen to links and operations.

        Args:
            space: The name of the space.

        Attributes:
            link: The links of a frozen model.
            ops: The operations of a frozen model.
        """

        def __init__(self, space: str = "full") -> None:
            super().__init__()
            self._name = space
            self._choices: dict[str, Any] = {}
            chosen = nni_space.current_model()
            if chosen is not None:
                self.link, self.ops = form(chosen)
            else:
                self._choices = {
                    label: nni_mutable.Categorical(list(values), label=label)
                    for label, values in choices(get_space(space)).items()
                }

        def leaf_mutables(self, is_leaf: Callable[[Any], bool]) -> Iterable[Any]:
            """Yield the choices."""
            for choice in self._choices.values():
                yield from choice.leaf_mutables(is_leaf)

        def check_contains(self, sample: Mapping[str, Any]) -> Any:
            """Return what is wrong with a sample; None if nothing is."""
            return nni_mutable.MutableDict(self._choices).check_contains(sample)

        def freeze(self, sample: Mapping[str, Any]) -> Any:
            """Return the model of a sample."""
            with nni_space.model_context(sample):
                return _graph_space()(self._name)

    GraphSpace.__qualname__ = "GraphSpace"
    return nni.trace(GraphSpace)


def __getattr__(name: str) -> Any:
    """Give out `GraphSpace`, by which name the processes of trials import it."""
    if name == "GraphSpace":
        return _graph_space()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def search(oracle: Oracle, strategy: Any) -> None:
    """Let a strategy of NNI ask an oracle, on NNI's sequential engine.

    Args:
        oracle: The oracle; its budget ends the search.
        strategy: A strategy of `nni.nas.strategy`, or one derived from its base class.

    Raises:
        BudgetExhaustedError: If the budget ended the search in the middle of a trial.
    """

    def evaluate(model: Any) -> None:
        nni.report_final_result(oracle.evaluate_form(model.link, model.ops))

    class Engine(nni_execution.SequentialExecutionEngine):  # type: ignore[misc, name-defined]
        """Runs a trial at once, as long as there is budget."""

        def budget_available(self) -> bool:
            return not oracle.exhausted

    with _quiet(), _without_naps():
        space = nni_space.SimplifiedModelSpace.from_model(
            _graph_space()(oracle.space.name), nni_evaluator.FunctionalEvaluator(evaluate)
        )
        strategy(space, Engine())


def run(
    strategy: Any,
    dataset: str | ArchTable,
    budget: str | int | Budget = "2%",
    *,
    protocol: RewardProtocol = "validation",
) -> Trace:
    """Let a strategy of NNI search a table.

    Args:
        strategy: A strategy of NNI, with its own seed; a TPE must be told
            ``optimize_mode="maximize"``.
        dataset: A table, or the name of one.
        budget: How much it may ask, as `benchquery.search.run` reads it.
        protocol: What the reward is.

    Raises:
        BenchQueryError: As `benchquery.search.run` does.
    """

    def adapted(oracle: Oracle, rng: random.Random) -> None:
        search(oracle, strategy)

    adapted.__name__ = f"nni:{type(strategy).__name__}"
    return run_search(adapted, dataset, budget, protocol=protocol)


def report_reward(model: Any, dataset: str, source: str | None = None) -> None:
    """Report the validation metric of a model: the trial of an `experiment`.

    It is a function of this module, so that other processes can import it.

    Args:
        model: A frozen `GraphSpace`.
        dataset: The name of a table.
        source: The folder that it is in; None for all sources.
    """
    table = lightread(dataset, source)
    oracle = Oracle(table, Budget(1))
    nni.report_final_result(oracle.evaluate_form(model.link, model.ops))


def experiment(
    strategy: Any, dataset: str, trials: int, *, source: str | None = None, concurrency: int = 1
) -> Any:
    """Make an NNI experiment on NNI's local training service: a process for each trial.

    This is for seeing a strategy run as it would on a cluster; it takes seconds a trial.
    Its web page listens on all addresses of the machine until ``stop()``.

    Args:
        strategy: A strategy of NNI.
        dataset: The name of a table.
        trials: How many trials there may be.
        source: The folder that the table is in; None for all sources.
        concurrency: How many run at the same time.

    Returns:
        A `nni.nas.experiment.NasExperiment` to ``run(port)`` and ``stop()``.
    """

    class Experiment(nni_experiment.NasExperiment):  # type: ignore[misc, name-defined]
        """Takes a space that is no PyTorch model, which NNI's own refuses."""

        def executable_model_factory(self, config: Any) -> Any:
            return nni_space.SimplifiedModelSpace.from_model(self.model_space, self.evaluator)

    space = _graph_space()(lightread(dataset, source).manifest.space)
    evaluator = nni_evaluator.FunctionalEvaluator(report_reward, dataset=dataset, source=source)
    config = nni_experiment.NasExperimentConfig(
        execution_engine="ts",
        model_format="simplified",
        training_service_platform="local",
        trial_concurrency=concurrency,
        max_trial_number=trials,
        _trial_command_params={"python": shlex.quote(sys.executable)},
    )
    return Experiment(space, evaluator, strategy, config)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep NNI from logging to standard output, where results go.

    When NNI is imported, it takes hold of standard output and sets the level of its logger. So
    that comes first here, with standard error in the place of standard output.

    Raises:
        MissingPackageError: If NNI is not installed.
    """
    with contextlib.redirect_stdout(sys.stderr):
        _ = nni.__version__
    logger = logging.getLogger("nni")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextlib.contextmanager
def _without_naps() -> Iterator[None]:
    """Take out the second that NNI's tuner strategies sleep after each trial.

    They wait for workers that way. On the sequential engine the trial is over by then.
    """
    hpo: Any = importlib.import_module("nni.nas.strategy.hpo")
    clock = hpo.time
    hpo.time = SimpleNamespace(sleep=lambda seconds: None)
    try:
        yield
    finally:
        hpo.time = clock


def _adapt(make: Callable[[int], Any]) -> Strategy:
    """Turn a maker of seeded NNI strategies into a strategy of ours."""

    def adapted(oracle: Oracle, rng: random.Random) -> None:
        with _quiet():
            search(oracle, make(rng.getrandbits(32)))

    return adapted


def _policy_based_rl(seed: int) -> Any:
    """Return NNI's reinforcement learning, which draws from torch's and numpy's globals."""
    import numpy as np

    torch = LazyModule("torch", extra="build")
    strategy = nni_strategy.PolicyBasedRL()
    torch.manual_seed(seed)
    np.random.seed(seed)
    return strategy


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "random": _adapt(lambda seed: nni_strategy.Random(seed=seed)),
        "grid": _adapt(lambda seed: nni_strategy.GridSearch(seed=seed)),
        "evolution": _adapt(lambda seed: nni_strategy.RegularizedEvolution(seed=seed)),
        "evolution-repeats": _adapt(
            lambda seed: nni_strategy.RegularizedEvolution(seed=seed, dedup=False)
        ),
        "tpe": _adapt(lambda seed: nni_strategy.TPE(optimize_mode="maximize", seed=seed)),
        "rl": _adapt(_policy_based_rl),
    }
)
"""NNI's strategies with its own settings.

``evolution-repeats`` may ask again for what it asked before, as evolution did up to NNI 2.8, so in
the paper. ``rl`` needs tianshou, in an environment of its own.
"""
